import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { begin } from './collector';
import { Fan } from './fan';
import { press, tabTo } from './keyboard';
import { isMarked, mark } from './marked';
import { Profile, governed, loseAnswers, signIn } from './profile';
import { spins, spun, wheelOf, type Entry, type WheelOfFan } from './spinner';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const NARROW = { width: 390, height: 844 };
const CHECKED = 'The draw is true';

const { service, browser } = await staged(Stage.open());

/** What the page says that a spin gave. */
function gotText({ spin: { grant } }: Entry): string {
  if (grant.kind === 'nothing') return 'Nothing this time';
  if (grant.kind === 'pack') return 'You got 1 sealed pack';
  return `You got ${String(grant.amount)} ${grant.kind}`;
}

/** The segment at which the pointer of the drawn wheel stands. */
async function pointed(page: Page, { segments }: WheelOfFan): Promise<string | undefined> {
  const turned = await page.getByRole('img', { name: /: a wheel with/ }).evaluate((wheel) => {
    const disc = wheel.querySelector('.disc');
    const { a, b } = new DOMMatrix(disc ? getComputedStyle(disc).transform : '');
    return Math.atan2(b, a) / (2 * Math.PI);
  });
  let rest = ((-turned % 1) + 1) % 1;
  return segments.find(({ probability }) => (rest -= probability) < 0)?.key;
}

/** Counts the turns of the wheel that take any time. */
async function countTurns(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const counted = { turns: 0 };
    Object.assign(globalThis, { counted });
    document.addEventListener('transitionstart', ({ target, propertyName }) => {
      if (target instanceof Element && target.matches('.disc') && propertyName === 'transform')
        counted.turns += 1;
    });
  });
}

const turns = (page: Page): Promise<number> =>
  page.evaluate(() => (globalThis as unknown as { counted: { turns: number } }).counted.turns);

/** The only spin of the page's fan, as the service keeps it. */
async function onlySpin(page: Page): Promise<Entry> {
  const [entry, ...others] = await spins(page);
  if (!entry) throw new Error('no spin');
  expect(others).toEqual([]);
  return entry;
}

test('a spin by keyboard whose answer is lost is one spin: the wheel shows it, and the page computes it again', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW });
  const { page } = visitor;
  await countTurns(page);
  await begin(page, service, 'spinner');
  await page.goto('/quests');
  await press(page, 'Wheels');
  await page.waitForURL('**/wheels');
  await page.getByRole('link', { name: /^Daily wheel/ }).waitFor();
  await press(page, /^Daily wheel/);
  await page.getByRole('table', { name: 'The odds' }).waitFor();
  await visitor.expectAccessible();
  const wheel = await wheelOf(page, 'daily');
  expect(new URL(page.url()).pathname).toBe(`/wheels/${wheel.id}`);

  // The service spins, and its answer never arrives.
  const keepAnswers = await loseAnswers(page, '**/spin');
  await tabTo(page, 'Spin, it’s free today');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.getByText('Whether it was spun is not known.').waitFor();
  const entry = await onlySpin(page);
  await keepAnswers();
  await page.reload();
  await page.getByText('Whether it was spun is not known.').waitFor();
  await tabTo(page, 'Spin, it’s free today');
  await page.keyboard.press('Enter');

  // The wheel turns before it says anything.
  await page.getByRole('button', { name: 'Show the result' }).waitFor();
  const result = page.getByRole('heading', { name: gotText(entry) });
  expect(await result.count()).toBe(0);
  await result.waitFor();
  expect(await turns(page)).toBeGreaterThan(0);
  expect(await pointed(page, wheel)).toBe(entry.spin.segment);
  await expect.poll(() => page.getByRole('status').first().textContent()).toContain(gotText(entry));
  expect(await onlySpin(page)).toEqual(entry);
  expect(await page.getByRole('button', { name: 'Spin', exact: true }).isDisabled()).toBe(true);

  expect(service.verify(entry)).toMatch(new RegExp(`^segment ${entry.spin.segment}$`, 'm'));
  await page.getByText(CHECKED).click();
  for (const text of [
    'The promise is the one this browser saw before the spin',
    entry.proof.serverSeed,
    entry.proof.tableHash,
  ])
    await page.getByText(text, { exact: true }).first().waitFor();
  expect(wheel.me?.serverSeedHash).toBe(entry.proof.serverSeedHash);
  await page.getByText(entry.proof.serverSeedHash, { exact: true }).first().waitFor();
  await visitor.expectAccessible();
  await visitor.leave();
});

test('other tabs follow a spin, and a wheel that was spun elsewhere is spun again', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW });
  const { page } = visitor;
  // A wheel with limited grants needs an account of some age.
  service.giveCoins('hugo.lens', 100);
  await signIn(page, 'hugo.lens', 'terrace-demo');
  const daily = await wheelOf(page, 'daily');
  const other = await visitor.another();
  await other.goto('/my-spins');
  await other.getByRole('heading', { name: 'No spins yet' }).waitFor();
  const third = await visitor.another();
  await third.goto(`/wheels/${daily.id}`);
  await third.getByRole('button', { name: 'Spin, it’s free today' }).waitFor();
  await mark(other);
  await mark(third);
  await page.bringToFront();
  await page.goto(`/wheels/${daily.id}`);
  await page.getByRole('button', { name: 'Spin, it’s free today' }).click();
  await page.getByRole('button', { name: 'Show the result' }).click();
  const first = await onlySpin(page);
  await page.getByRole('heading', { name: gotText(first) }).waitFor();
  await other.getByText(gotText(first), { exact: true }).waitFor();
  await other.getByText(CHECKED).waitFor();
  await third.getByText(/^\s*Next free spin: /).waitFor();
  expect(await third.getByRole('button', { name: 'Spin', exact: true }).isDisabled()).toBe(true);
  expect([await isMarked(other), await isMarked(third)]).toEqual([true, true]);

  const derby = await wheelOf(page, 'derby');
  await page.goto(`/wheels/${derby.id}`);
  const button = page.getByRole('button', { name: 'Spin for 20 coins' });
  await button.waitFor();
  // Another client of the fan is quicker.
  await page.route('**/spin', async (route) => {
    const answer = await page.request.post(`/api/wheel/${derby.id}/spin`, {
      data: { pay: 'price', serverSeedHash: derby.me?.serverSeedHash, clientSeed: 'quicker' },
      headers: { 'idempotency-key': crypto.randomUUID() },
    });
    expect(answer.status()).toBe(201);
    await route.continue();
  });
  await button.click();
  await page.getByRole('alert').filter({ hasText: 'Another spin of yours came first.' }).waitFor();
  await page.unroute('**/spin');
  expect(await spins(page)).toHaveLength(2);
  await page.getByText('SHA-256 of the seed of spin 2').waitFor();
  await button.click();
  await page.getByRole('button', { name: 'Show the result' }).click();
  await page.getByText(CHECKED).waitFor();
  const [last, ...before] = await spins(page);
  expect(before).toHaveLength(2);
  expect(last?.proof.nonce).toBe(2);
  expect(await pointed(page, derby)).toBe(last?.spin.segment);
  await visitor.leave();
});

test('an answer with another segment than the drawn one is found out', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW, reducedMotion: 'reduce' });
  const { page } = visitor;
  await begin(page, service, 'cheated');
  const { id, segments } = await wheelOf(page, 'daily');
  await page.route('**/spin', async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as Entry;
    const wrong = segments.find(({ key }) => key !== answer.spin.segment)?.key ?? '';
    answer.spin.segment = wrong;
    expect(service.verify(answer)).toMatch(/^wrong: the draw gives /);
    await route.fulfill({ response, json: answer });
  });
  await page.goto(`/wheels/${id}`);
  await page.getByRole('button', { name: 'Spin, it’s free today' }).click();
  await page.getByText('The draw does not come to this').waitFor();
  expect(await page.getByText(CHECKED).count()).toBe(0);
  await visitor.leave();
});

test('with reduced motion the wheel stands at the result at once', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW, reducedMotion: 'reduce' });
  const { page } = visitor;
  await countTurns(page);
  await begin(page, service, 'still');
  const wheel = await wheelOf(page, 'daily');
  await page.goto(`/wheels/${wheel.id}`);
  await page.getByRole('button', { name: 'Spin, it’s free today' }).click();
  await page.getByText(CHECKED).waitFor();
  const entry = await onlySpin(page);
  await page.getByRole('heading', { name: gotText(entry) }).waitFor();
  expect(await pointed(page, wheel)).toBe(entry.spin.segment);
  expect(await turns(page)).toBe(0);
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('a guest sees the odds, and comes back to the wheel from the sign-in', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW });
  const { page } = visitor;
  await Fan.signUp(service.url, 'returner');
  await page.goto('/wheels');
  await page.getByRole('link', { name: /^Daily wheel/ }).click();
  const odds = page.getByRole('table', { name: 'The odds' });
  const { segments } = await wheelOf(page, 'daily');
  await expect.poll(() => odds.getByRole('row').count()).toBe(segments.length + 1);
  await visitor.expectAccessible();
  await page.getByRole('link', { name: 'Sign in to spin' }).click();
  await page.getByLabel('Name', { exact: true }).fill('returner');
  await page.getByLabel('Password', { exact: true }).fill('a scarf on row 14');
  await page.getByRole('button', { name: 'Sign in', exact: true }).last().click();
  await page.getByRole('button', { name: 'Spin, it’s free today' }).waitFor();
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('without the service the wheel and the spins are there with their age', async () => {
  const profile = new Profile(service.url);
  try {
    const page = await profile.open();
    await signIn(page);
    await governed(page);
    const id = await spun(page);
    const isKept = (path: string): Promise<boolean> =>
      page.evaluate(async (name) => (await caches.match(name)) !== undefined, path);
    await page.goto('/my-spins');
    await page.getByText(CHECKED).first().waitFor();
    await expect.poll(() => isKept('/api/user/spins?limit=25')).toBe(true);
    await page.goto(`/wheels/${id}`);
    await page.getByRole('table', { name: 'The odds' }).waitFor();
    await expect.poll(() => isKept(`/api/wheel/${id}`)).toBe(true);
    await service.kill();

    await page.reload();
    const alert = page.getByRole('alert').filter({ hasText: 'There is no connection to the service.' });
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/This is from \d\d:\d\d/);
    await page.getByRole('table', { name: 'The odds' }).waitFor();
    await page.goto('/my-spins');
    await alert.waitFor();
    await page.getByText(CHECKED).first().waitFor();
  } finally {
    await profile.remove();
    await service.restart();
  }
});
