import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { COINS, begin, coins } from './collector';
import { Fan, PASSWORD } from './fan';
import { expectKept, isMarked, mark, onceMoreIfDropped } from './marked';
import { readAs } from './member';
import { governed, loseAnswers, signIn } from './profile';
import { add, cartLines, orderButton, ordered, orders, put, sendHome } from './shopper';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const NARROW = { width: 390, height: 844 };

const { service, browser } = await staged(
  Stage.open([], { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
);
const { url } = service;

/** What the coins of the purse come to. */
const PURSE = 200;

/** Shows the checkout of a cart that holds a purse of coins, for which a card pays. */
async function atTheTill(page: Page): Promise<void> {
  await put(page, 'coin-purse');
  await page.goto('/checkout');
  await orderButton(page).waitFor();
}

test('a double-tapped checkout is one order, and the return shows it', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'hasty');
  await atTheTill(page);

  // The first answer is lost, after two taps.
  const keepAnswers = await loseAnswers(page, '**/api/checkout');
  await orderButton(page).dblclick();
  await page.getByRole('heading', { name: 'An order waits for your payment' }).waitFor();
  await keepAnswers();
  const [lost, ...none] = await orders(page);
  expect(none).toEqual([]);
  expect(lost?.status).toBe('pending');
  // Its lines are in the order, so that there is nothing to order again.
  await page.reload();
  await page.getByRole('heading', { name: 'The cart is empty' }).waitFor();
  await page.getByRole('link', { name: 'To that order' }).click();
  await page.getByRole('button', { name: 'Cancel this order' }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel this order?' });
  await visitor.expectAccessible();
  await dialog.getByRole('button', { name: 'Cancel this order' }).click();
  await page.getByRole('heading', { name: 'The order is cancelled' }).waitFor();

  // Both taps come before the answer, and only the first one does anything: it asks again what became of the lost
  // request, whose order is cancelled, and then sends a new one.
  await page.goto('/checkout');
  await orderButton(page).waitFor();
  let sent = 0;
  await page.route('**/api/checkout', async (route) => {
    sent += 1;
    const answer = await route.fetch();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await route.fulfill({ response: answer });
  });
  await orderButton(page).evaluate((button: HTMLButtonElement) => {
    button.click();
    button.click();
  });
  await page.waitForURL('**/sandbox/checkout/**');
  expect(sent).toBe(2);
  const pending = (await orders(page)).filter(({ status }) => status === 'pending');
  expect(pending).toHaveLength(1);
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.waitForURL(`**/orders/${pending[0]?.id ?? ''}`);
  await page.getByRole('heading', { name: 'Everything is yours' }).waitFor();
  await page.getByText(`You got ${String(PURSE)} coins.`).waitFor();
  expect((await orders(page)).map(({ status }) => status).sort()).toEqual(['cancelled', 'completed']);
  await page.getByRole('link', { name: 'All orders' }).click();
  await coins(page, COINS + PURSE).waitFor();
  await visitor.leave();
});

test(
  'pages from before the checkout show the wallet and the order as they are now, without a reload',
  onceMoreIfDropped,
  async ({ task }) => {
    const fan = `settler${String(task.result?.retryCount ?? 0)}`;
    const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
    const { page } = visitor;
    await begin(page, service, fan);
    const shop = await visitor.another();
    await shop.goto('/shop');
    await coins(shop, COINS).waitFor();
    await mark(shop);
    await atTheTill(page);
    await governed(page);
    await mark(page);
    await orderButton(page).click();
    await page.waitForURL('**/sandbox/checkout/**');
    const [order] = await orders(page);
    const waiting = await visitor.another();
    await waiting.goto(`/orders/${order?.id ?? ''}`);
    await waiting.getByRole('heading', { name: 'Waiting for your payment' }).waitFor();
    await mark(waiting);

    const paid = await page.request.post(page.url(), { form: { decision: 'approve' }, maxRedirects: 0 });
    expect(paid.status()).toBe(303);
    await waiting.getByRole('heading', { name: 'Everything is yours' }).waitFor();
    await shop.bringToFront();
    await coins(shop, COINS + PURSE).waitFor();
    expect([await isMarked(waiting), await isMarked(shop)]).toEqual([true, true]);

    // The page of the checkout was kept, and is not loaded again.
    await page.bringToFront();
    await page.goBack({ waitUntil: 'commit' });
    await page.getByRole('heading', { name: 'The cart is empty' }).waitFor();
    await expectKept(page);
    await visitor.leave();
  },
);

test('the cart of a guest is there after the sign-in, also on a second device, and no line is lost', async () => {
  await Fan.signUp(url, 'wanderer');
  const second = await Visitor.arrive(browser, url, { viewport: NARROW });
  await signIn(second.page, 'wanderer', PASSWORD);
  const mug = await put(second.page, 'mug', 3);
  await second.page.goto('/cart');
  await second.page.getByRole('link', { name: 'Terrace mug' }).waitFor();

  const first = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = first;
  await add(page, 'Knitted scarf');
  await add(page, 'Terrace mug');
  await page.goto('/cart');
  await page.getByRole('button', { name: 'One Knitted scarf more' }).click();
  await page.getByText('€39.90').waitFor();
  // The browser forgets nothing meanwhile.
  await page.reload();
  await page.getByText('€39.90').waitFor();
  await first.expectAccessible();
  await signIn(page, 'wanderer', PASSWORD);
  // The browser forgets its cart once all of it is the fan's.
  await expect.poll(() => page.evaluate(() => localStorage.getItem('terrace:cart'))).toBeNull();
  const lines = await cartLines(page);
  expect(lines).toHaveLength(2);
  // Of each variant the greater quantity counts.
  expect(lines.find(({ variant }) => variant.id === mug)?.quantity).toBe(3);
  expect(lines.find(({ variant }) => variant.id !== mug)?.quantity).toBe(2);

  await second.page.reload();
  await second.page.getByRole('link', { name: 'Cart (5)' }).waitFor();
  await second.page.getByRole('link', { name: 'Knitted scarf' }).waitFor();
  first.expectNoComplaints();
  second.expectNoComplaints();
  await first.leave();
  await second.leave();
});

test('a guest is led through the sign-in to the checkout of the same cart', async () => {
  await Fan.signUp(url, 'passer.by');
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await add(page, 'Knitted scarf');
  await page.getByRole('link', { name: 'To the cart', exact: true }).last().click();
  await page.getByRole('link', { name: 'Sign in to check out' }).click();
  await page.getByLabel('Name', { exact: true }).fill('passer.by');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).last().click();
  await page.waitForURL('**/checkout');
  await page.getByText('1 × Knitted scarf').waitFor();
  expect(await orderButton(page).isDisabled()).toBe(true);
  await visitor.expectAccessible();
  await sendHome(page);
  await page.getByText('Standard, €4.90').waitFor();
  await orderButton(page).filter({ hasText: '€24.85' }).click();
  await page.waitForURL('**/sandbox/checkout/**');
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('heading', { name: 'Paid, on its way' }).waitFor();
  await page.getByText('Not sent yet').waitFor();
  expect(await orders(page)).toMatchObject([{ status: 'paid', paidBy: { card: 2485 } }]);
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('a cart that changed elsewhere moves nothing until it was seen', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'two.tabs');
  await atTheTill(page);
  await put(page, 'coin-purse', 2);
  await orderButton(page).click();
  await page.getByRole('alert').filter({ hasText: 'Your cart has changed.' }).waitFor();
  expect(await orders(page)).toEqual([]);
  await page.getByText('2 × Purse of coins').waitFor();
  await orderButton(page).filter({ hasText: '€9.98' }).click();
  await page.waitForURL('**/sandbox/checkout/**');
  expect(await orders(page)).toMatchObject([{ status: 'pending', lines: [{ quantity: 2 }] }]);
  await visitor.leave();
});

test('coins that are short are said where they stand, and what they pay needs no card', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'saver');
  await put(page, 'wallpaper');
  await page.goto('/cart');
  await page.getByText('You have too little for all of it').waitFor();
  await page.getByText(`You have 0 points and ${String(COINS)} coins.`).waitFor();
  expect(await page.getByRole('button', { name: 'Sort out what is marked first.' }).isDisabled()).toBe(true);
  await visitor.expectAccessible();
  service.giveCoins('saver', 10);
  await page.getByRole('link', { name: 'To checkout' }).click();
  await orderButton(page).filter({ hasText: '30 coins' }).click();
  await page.getByRole('heading', { name: 'Everything is yours' }).waitFor();
  expect(await orders(page)).toMatchObject([{ status: 'completed', paidBy: { coins: 30, card: 0 } }]);
  await page.getByRole('link', { name: 'All orders' }).click();
  await coins(page, COINS + 10 - 30).waitFor();

  // Given back, coin by coin.
  await page.getByRole('link', { name: /Phone wallpaper/ }).click();
  await page.getByRole('button', { name: 'Cancel this order' }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel this order?' });
  await dialog.getByRole('button', { name: 'Cancel this order' }).click();
  await page.getByText('30 coins, back with you').waitFor();
  const { balances } = await readAs<{ balances: { coins: number } }>(page, '/api/user');
  expect(balances.coins).toBe(COINS + 10);
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('the products can be narrowed to a category and a kind', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await page.goto('/shop');
  await page.getByRole('link', { name: 'Wear', exact: true }).click();
  await page.getByRole('link', { name: /Terrace mug/ }).waitFor({ state: 'detached' });
  // What is in a category below it is in it too.
  await page.getByRole('link', { name: /Home shirt/ }).waitFor();
  await page.getByRole('radio', { name: 'At once' }).check();
  await page.getByRole('heading', { name: 'Nothing of that kind' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Nothing of that kind' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Everything' }).last().click();
  await page.getByRole('link', { name: /Terrace mug/ }).waitFor();
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('orders of another tab appear by themselves', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'watcher');
  await page.goto('/orders');
  await page.getByRole('heading', { name: 'No orders yet' }).waitFor();
  service.giveCoins('watcher', 30);
  await put(page, 'wallpaper');
  await ordered(page);
  await page.getByRole('link', { name: /Phone wallpaper.*Completed/ }).waitFor();
  visitor.expectNoComplaints();
  await visitor.leave();
});
