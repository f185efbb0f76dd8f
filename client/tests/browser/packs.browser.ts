import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAs } from './member';
import { Stage } from './stage';
import { Visitor } from './visitor';

const NARROW = { width: 390, height: 844 };

interface Copy {
  id: string;
  packId: string;
  status: string;
  pack: { name: string };
}
interface Card {
  id: string;
  name: string;
  rarity: string;
}
interface Opened {
  collectibles: { collectible: Card }[];
  proof: { serverSeed: string; serverSeedHash: string; tableHash: string; clientSeed: string };
}

/** The tests follow each other on one service. */
let stage: Stage | undefined;
let url: string;
let browser: Browser;

beforeAll(async () => {
  stage = await Stage.open();
  url = stage.service.url;
  browser = stage.browser;
});

afterAll(() => stage?.close());

async function copies(page: Page): Promise<Copy[]> {
  return (await readAs<{ packs: Copy[] }>(page, '/api/user/packs')).packs;
}

/** Buys a pack for points. */
async function buyMatchDay(page: Page): Promise<Copy> {
  const before = (await copies(page)).map(({ id }) => id);
  await page.goto('/packs');
  await page.getByRole('link', { name: /Match day/ }).click();
  await page.getByRole('button', { name: 'Buy for 100 points' }).click();
  await page.waitForURL('**/my-packs');
  const copy = (await copies(page)).find(({ id }) => !before.includes(id));
  if (!copy) throw new Error('no new copy');
  return copy;
}

/** What the API says was in a copy. */
async function rowsOf(page: Page, copy: Copy): Promise<Opened> {
  const answer = await page.request.post(`/api/packs/${copy.packId}/open`, { data: { userPackId: copy.id } });
  expect(answer.status()).toBe(200);
  return (await answer.json()) as Opened;
}

/** The names and rarities on the page, in the order of the rows. */
async function shownRows(page: Page): Promise<string[]> {
  const items = page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ has: page.getByRole('presentation') });
  await items.first().waitFor();
  return items.evaluateAll((nodes) =>
    nodes.map((node) =>
      [...node.querySelectorAll('b, b + span')].map(({ textContent }) => textContent).join(' '),
    ),
  );
}

function expectedRows({ collectibles }: Opened): string[] {
  return collectibles.map(
    ({ collectible: { name, rarity } }) => `${name} ${rarity.charAt(0).toUpperCase()}${rarity.slice(1)}`,
  );
}

/** Counts the animations in the page's content that take any time. */
async function countAnimations(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const counted = { animations: 0 };
    Object.assign(globalThis, { counted });
    document.addEventListener('animationstart', ({ target, animationName }) => {
      if (!(target instanceof Element) || !target.closest('main')) return;
      const isShown = target.getAnimations().some((animation) => {
        const named = animation instanceof CSSAnimation && animation.animationName === animationName;
        return named && Number(animation.effect?.getComputedTiming().duration) > 1;
      });
      if (isShown) counted.animations += 1;
    });
  });
}

function animations(page: Page): Promise<number> {
  return page.evaluate(
    () => (globalThis as unknown as { counted: { animations: number } }).counted.animations,
  );
}

test('a reveal shows the rows of the service, also when its answer is lost and the browser is killed', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await countAnimations(page);
  await visitor.signIn();
  const { balances } = await readAs<{ balances: { points: number } }>(page, '/api/user');
  const copy = await buyMatchDay(page);
  // The balance follows without a reload.
  const left = `${String(balances.points - 100)} points. Open your balances.`;
  await page.getByRole('link', { name: left }).waitFor();
  await page.locator(`a[href="/packs/${copy.packId}/copies/${copy.id}"]`).click();

  // The service opens the copy, and its answer never arrives.
  await page.route('**/open', async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.getByRole('button', { name: 'Open the pack' }).click();
  await page.getByText('Opening again shows the same cards.').waitFor();
  expect((await copies(page)).find(({ id }) => id === copy.id)?.status).toBe('opened');
  await page.unroute('**/open');
  const opened = await rowsOf(page, copy);

  await page.getByRole('button', { name: 'Open the pack' }).click();
  await page.getByRole('button', { name: 'Show all at once' }).waitFor();
  expect(await shownRows(page)).toEqual(expectedRows(opened));
  // The page is closed in the middle of the reveal.
  const address = page.url();
  await page.close();
  const second = await visitor.another();
  await countAnimations(second);
  await second.goto(address);
  expect(await shownRows(second)).toEqual(expectedRows(opened));
  await second.getByRole('button', { name: 'Show all at once' }).waitFor();
  expect(await animations(second)).toBeGreaterThan(0);
  await second.getByRole('button', { name: 'Show all at once' }).click();
  await second.getByRole('button', { name: 'Show all at once' }).waitFor({ state: 'detached' });
  const { collectibles } = await readAs<{ collectibles: { userPackId: string; collectible: Card }[] }>(
    second,
    '/api/user/collectibles',
  );
  const owned = collectibles
    .filter(({ userPackId }) => userPackId === copy.id)
    .map(({ collectible }) => collectible.name);
  expect(owned.sort()).toEqual(opened.collectibles.map(({ collectible }) => collectible.name).sort());

  await second.getByRole('button', { name: 'Compute it again' }).click();
  await second.getByRole('main').getByText('The draw is true').waitFor();
  for (const value of [opened.proof.serverSeedHash, opened.proof.tableHash, opened.proof.serverSeed]) {
    await second.getByText(value, { exact: true }).first().waitFor();
  }
  await second.getByText('The promise is the one this browser saw before opening').waitFor();
  await visitor.leave();
});

test('an answer with other cards than the drawn ones is found out', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await visitor.signIn();
  const [copy] = await copies(page);
  if (!copy) throw new Error('no copy');
  await page.route('**/open', async (route) => {
    const answer = await route.fetch();
    const opened = (await answer.json()) as Opened;
    const [first] = opened.collectibles;
    if (first) first.collectible = { ...first.collectible, id: copy.id, rarity: 'legendary' };
    await route.fulfill({ response: answer, json: opened });
  });
  await page.goto(`/packs/${copy.packId}/copies/${copy.id}`);
  await page.getByRole('button', { name: 'Compute it again' }).click();
  await page.getByRole('main').getByText('The draw does not come to this').waitFor();
  expect(await page.getByRole('main').getByText('The draw is true').count()).toBe(0);
  await visitor.leave();
});

test('with reduced motion a reveal runs no animation', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW, reducedMotion: 'reduce' });
  const { page } = visitor;
  await countAnimations(page);
  await visitor.signIn();
  const [copy] = await copies(page);
  if (!copy) throw new Error('no copy');
  await page.goto(`/packs/${copy.packId}/copies/${copy.id}`);
  expect(await shownRows(page)).toEqual(expectedRows(await rowsOf(page, copy)));
  await page.getByRole('button', { name: 'Compute it again' }).click();
  await page.getByRole('main').getByText('The draw is true').waitFor();
  expect(await page.getByRole('button', { name: 'Show all at once' }).isVisible()).toBe(false);
  expect(await animations(page)).toBe(0);
  visitor.expectNoComplaints();
  await visitor.leave();
});

interface Purchase {
  id: string;
  status: string;
  pack: { name: string };
}

async function forMoney(page: Page): Promise<Purchase[]> {
  const { purchases } = await readAs<{ purchases: Purchase[] }>(page, '/api/user/purchases');
  return purchases.filter(({ pack }) => pack.name === 'Trophy room');
}

test('a double-tapped checkout is one purchase, and the return shows it', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await visitor.signIn();
  await page.goto('/packs');
  await page.getByRole('link', { name: /Trophy room/ }).click();
  const buy = page.getByRole('button', { name: /€4\.99/ });

  // The first answer is lost, after two taps.
  await page.route('**/purchase', async (route) => {
    await route.fetch();
    await route.abort();
  });
  await buy.dblclick();
  await page.getByText('Whether it was bought is not known.').waitFor();
  await page.unroute('**/purchase');
  expect(await forMoney(page)).toHaveLength(1);
  await page.reload();

  // Both taps come before the answer.
  await page.route('**/purchase', async (route) => {
    const answer = await route.fetch();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await route.fulfill({ response: answer });
  });
  await buy.evaluate((button: HTMLButtonElement) => {
    button.click();
    button.click();
  });
  await page.waitForURL('**/sandbox/checkout/**');
  const [purchase, ...others] = await forMoney(page);
  expect(others).toEqual([]);
  expect(purchase?.status).toBe('pending');

  await page.getByRole('button', { name: /approve|pay/i }).click();
  await page.waitForURL(`**/purchases/${purchase?.id ?? ''}`);
  await page.getByRole('heading', { name: 'It is yours' }).waitFor();
  expect((await forMoney(page)).map(({ status }) => status)).toEqual(['completed']);
  await page.getByRole('link', { name: 'Open the pack' }).click();
  const row = page.getByRole('listitem').filter({ hasText: 'Trophy room' });
  await row.getByRole('link', { name: 'Open', exact: true }).waitFor();
  expect(
    (await copies(page)).filter(({ pack, status }) => pack.name === 'Trophy room' && status === 'sealed'),
  ).toHaveLength(1);
  await visitor.leave();
});

test('a purchase is given up', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await visitor.signIn();
  await page.goto('/packs');
  await page.getByRole('link', { name: /Trophy room/ }).click();
  await page.getByRole('button', { name: /€4\.99/ }).click();
  await page.waitForURL('**/sandbox/checkout/**');
  await page.goBack();
  await page.getByRole('heading', { name: 'Trophy room' }).waitFor();
  await page.goto('/my-packs');
  await page.getByRole('link', { name: 'Go on to payment' }).click();
  await page.getByRole('button', { name: 'Give up this purchase' }).click();
  const dialog = page.getByRole('dialog', { name: 'Give up this purchase?' });
  await visitor.expectAccessible();
  await dialog.getByRole('button', { name: 'Give up this purchase' }).click();
  await page.getByRole('heading', { name: 'Nothing was bought' }).waitFor();
  expect((await forMoney(page)).map(({ status }) => status).sort()).toEqual(['cancelled', 'completed']);
  await visitor.leave();
});
