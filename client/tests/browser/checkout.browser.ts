import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { COINS, begin, coins, copies } from './collector';
import { expectKept, isMarked, mark, onceMoreIfDropped } from './marked';
import { readAs } from './member';
import { governed, loseAnswers } from './profile';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const NARROW = { width: 390, height: 844 };

const { service, browser } = await staged(
  Stage.open([], { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
);
const { url } = service;

interface Purchase {
  id: string;
  status: string;
}

async function purchases(page: Page): Promise<Purchase[]> {
  return (await readAs<{ purchases: Purchase[] }>(page, '/api/user/purchases')).purchases;
}

/** Opens the pack that is sold for money, and returns the button that buys it. */
async function atTheTill(page: Page): Promise<Locator> {
  await page.goto('/packs');
  await page.getByRole('link', { name: /Trophy room/ }).click();
  return page.getByRole('button', { name: /€4\.99/ });
}

test('a double-tapped checkout is one purchase, and the return shows it', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'impatient');
  const buy = await atTheTill(page);

  // The first answer is lost, after two taps.
  const keepAnswers = await loseAnswers(page, '**/purchase');
  await buy.dblclick();
  await page.getByText('Whether it was bought is not known.').waitFor();
  await keepAnswers();
  expect(await purchases(page)).toHaveLength(1);
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
  const [purchase, ...others] = await purchases(page);
  expect(others).toEqual([]);
  expect(purchase?.status).toBe('pending');

  await page.getByRole('button', { name: 'Approve' }).click();
  await page.waitForURL(`**/purchases/${purchase?.id ?? ''}`);
  await page.getByRole('heading', { name: 'It is yours' }).waitFor();
  expect((await purchases(page)).map(({ status }) => status)).toEqual(['completed']);
  await page.getByRole('link', { name: 'Open the pack' }).click();
  const row = page.getByRole('listitem').filter({ hasText: 'Trophy room' });
  await row.getByRole('link', { name: 'Open', exact: true }).waitFor();
  expect((await copies(page)).map(({ status }) => status)).toEqual(['sealed']);
  await visitor.leave();
});

test(
  'pages from before the checkout show the wallet and the purchase as they are now, without a reload',
  onceMoreIfDropped,
  async ({ task }) => {
    const fan = `payer${String(task.result?.retryCount ?? 0)}`;
    const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
    const { page } = visitor;
    await begin(page, service, fan);
    const buy = await atTheTill(page);
    await coins(page, COINS).waitFor();
    await governed(page);
    await mark(page);
    await expect.poll(() => service.streams()).toBe(1);
    await buy.click();
    await page.waitForURL('**/sandbox/checkout/**');
    await expect.poll(() => service.streams()).toBe(0);
    const [purchase] = await purchases(page);
    const waiting = await visitor.another();
    await waiting.goto(`/purchases/${purchase?.id ?? ''}`);
    await waiting.getByRole('heading', { name: 'Waiting for your payment' }).waitFor();
    await mark(waiting);

    service.giveCoins(fan, 5);
    const paid = await page.request.post(page.url(), { form: { decision: 'approve' }, maxRedirects: 0 });
    expect(paid.status()).toBe(303);
    await waiting.getByRole('heading', { name: 'It is yours' }).waitFor();
    expect(await isMarked(waiting)).toBe(true);

    // A page that was kept is not loaded again.
    await page.goBack({ waitUntil: 'commit' });
    await coins(page, COINS + 5).waitFor();
    await page.getByText('You have bought 1 of at most 2.').waitFor();
    await expectKept(page);
    await visitor.leave();
  },
);

test('a purchase is given up', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'doubtful');
  await (await atTheTill(page)).click();
  await page.waitForURL('**/sandbox/checkout/**');
  await page.goBack({ waitUntil: 'commit' });
  await page.getByRole('heading', { name: 'Trophy room' }).waitFor();
  await page.goto('/my-packs');
  await page.getByRole('link', { name: 'Go on to payment' }).click();
  await page.getByRole('button', { name: 'Give up this purchase' }).click();
  const dialog = page.getByRole('dialog', { name: 'Give up this purchase?' });
  await visitor.expectAccessible();
  await dialog.getByRole('button', { name: 'Give up this purchase' }).click();
  await page.getByRole('heading', { name: 'Nothing was bought' }).waitFor();
  expect((await purchases(page)).map(({ status }) => status)).toEqual(['cancelled']);
  await visitor.leave();
});

test('a pending purchase is settled by what happens elsewhere, and its page writes nothing', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'patient');
  await (await atTheTill(page)).click();
  await page.waitForURL('**/sandbox/checkout/**');
  const { id = '' } = (await purchases(page)).find(({ status }) => status === 'pending') ?? {};

  const other = await visitor.another();
  const sent: string[] = [];
  other.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/')) sent.push(`${request.method()} ${pathname}`);
  });
  const own = await visitor.another();
  await own.goto('/my-packs');
  await own.getByRole('link', { name: 'Go on to payment' }).waitFor();
  await other.goto(`/purchases/${id}`);
  await other.getByRole('heading', { name: 'Waiting for your payment' }).waitFor();
  const looks = (): number => sent.filter((request) => request === `GET /api/user/purchases/${id}`).length;
  await expect.poll(looks).toBeGreaterThan(1);
  expect(sent.filter((request) => !request.startsWith('GET '))).toEqual([]);

  await page.getByRole('button', { name: 'Approve' }).click();
  await other.getByRole('heading', { name: 'It is yours' }).waitFor();
  await own.getByRole('link', { name: 'Go on to payment' }).waitFor({ state: 'detached' });
  expect((await purchases(page)).find((purchase) => purchase.id === id)?.status).toBe('completed');
  expect(sent.filter((request) => !request.startsWith('GET '))).toEqual([]);
  visitor.expectNoComplaints();
  await visitor.leave();
});
