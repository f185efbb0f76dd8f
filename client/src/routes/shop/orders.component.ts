import { cleanup, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { problem } from '$lib/api/testing';
import type { Order } from '$lib/api/types';
import { enOrders } from '$lib/i18n/en-orders';
import { enPages } from '$lib/i18n/en-pages';
import { enShop } from '$lib/i18n/en-shop';
import type { LiveEvent } from '$lib/live/events';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World, ada } from '../../../tests/world';
import OrderPage from './OrderPage.svelte';
import OrdersPage from './OrdersPage.svelte';
import { aCart, anItem, anOrder, coins, euros, theCart } from './testing';

const { list: l, order: t } = enOrders;
const props = { params: { id: 'order-1' } };

afterEach(() => history.replaceState(null, '', '/'));

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  world.session.replace({ ...ada, balances: { coins: 25, points: 0 } });
  return world;
}

/* --- all orders ----------------------------------------------------------------- */

test('the orders load, fail, and are read again', async () => {
  const world = await signedIn();
  const body = { orders: [anOrder()], nextCursor: null };
  await readsAgain(world, 'GET /api/user/orders', body, l.failedTitle, () => world.show(OrdersPage, {}));
  const link = screen.getByRole('link', { name: /Knitted scarf, One size/ });
  expect(link.getAttribute('href')).toBe('/orders/order-1');
  expect(link.textContent).toContain(t.short.pending);
  expect(link.textContent).toContain('€24.85');
});

test('a fan without orders is led to the shop', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/user/orders', () => ({ body: { orders: [], nextCursor: null } }));
  world.show(OrdersPage, {});
  await screen.findByRole('heading', { name: l.emptyTitle });
  expect(screen.getByRole('link', { name: enShop.cart.emptyAction }).getAttribute('href')).toBe('/shop');
});

test('an order that changes elsewhere changes in the list', async () => {
  const world = await signedIn();
  let order = anOrder();
  world.fake.on('GET /api/user/orders', () => ({ body: { orders: [order], nextCursor: null } }));
  world.show(OrdersPage, {});
  await screen.findByText(t.short.pending);
  order = anOrder({ status: 'completed' });
  world.own.publish(changed('completed'));
  expect(await screen.findByText(t.short.completed)).toBeTruthy();
});

const changed = (status: Order['status']): LiveEvent => ({
  name: 'order.changed',
  data: { channels: ['me'], orderId: 'order-1', status, changedAt: '2026-11-23T12:01:00.000Z' },
});

test('the orders ask guests to sign in', async () => {
  await asksGuests(OrdersPage, {});
});

test('an order asks guests to sign in', async () => {
  await asksGuests(OrderPage, props);
});

/* --- one order ------------------------------------------------------------------ */

async function openOrder(order: Order): Promise<World> {
  const world = await signedIn();
  world.fake.on('GET /api/user/orders/order-1', () => ({ body: { order } }));
  world.show(OrderPage, props);
  await screen.findByRole('heading', { name: t.status[order.status] });
  return world;
}

test('an order loads, fails, and is read again', async () => {
  const world = await signedIn();
  await readsAgain(world, 'GET /api/user/orders/order-1', { order: anOrder() }, t.failedTitle, () =>
    world.show(OrderPage, props),
  );
  expect(screen.getByRole('link', { name: t.pay }).getAttribute('href')).toBe('https://pay.test/order-1');
  expect(screen.getByText('Hafenstr. 7', { exact: false })).toBeTruthy();
  expect(screen.getByRole('heading', { name: t.toPay })).toBeTruthy();
});

test('an event shows what became of it, and the balances are read again', async () => {
  const world = await openOrder(anOrder());
  world.fake
    .on('GET /api/user/orders/order-1', () => ({ body: { order: anOrder({ status: 'completed' }) } }))
    .on('GET /api/user', () => ({ body: { ...ada, balances: { coins: 225, points: 0 } } }));
  world.own.publish(changed('completed'));
  expect(await screen.findByRole('heading', { name: t.status.completed })).toBeTruthy();
  await waitFor(() => expect(world.session.fan?.balances.coins).toBe(225));
  expect(world.announcer.polite).toBe(t.status.completed);
});

test('a payment that is not confirmed yet is said so', async () => {
  const world = await openOrder(anOrder());
  world.fake.on('PUT /api/checkout', () => problem(409, 'payment_pending'));
  await userEvent.click(screen.getByRole('button', { name: t.checkAgain }));
  expect((await screen.findByRole('alert')).textContent).toContain(enPages.failure.payment_pending);
});

test('lines say where they are, and what they gave', async () => {
  const at = '2026-11-24T08:00:00.000Z';
  const order = anOrder({
    status: 'paid',
    checkoutUrl: null,
    lines: [
      anItem({ fulfilment: 'shipped', shipment: { carrier: 'DHL', tracking: '00340', at } }),
      anItem({
        id: 'line-2',
        name: 'Purse',
        fulfilment: 'delivered',
        goods: [
          { kind: 'coins', amount: 200, id: null },
          { kind: 'pack', amount: 2, id: 'pack-1' },
        ],
      }),
    ],
    paidBy: { points: 0, coins: 120, balance: 500, card: 1985 },
  });
  await openOrder(order);
  expect(screen.getByText(t.line.shipped)).toBeTruthy();
  expect(screen.getByText(/^Sent .* by DHL$/)).toBeTruthy();
  expect(screen.getByText(t.tracking('00340'))).toBeTruthy();
  for (const text of ['200 coins', '2 sealed packs']) expect(screen.getByText(t.got(text))).toBeTruthy();
  const paid = screen.getByRole('heading', { name: t.paidBy }).closest('section');
  for (const text of ['120 coins', '€5.00', '€19.85']) expect(paid?.textContent).toContain(text);
  // What was sent is no longer cancelled by the fan.
  expect(screen.queryByRole('button', { name: t.cancel })).toBeNull();
});

test('a refund names its lines, its state and the tax in it', async () => {
  const lines = [anItem(), anItem({ id: 'line-2', name: 'Mug', fulfilment: 'revoked' })];
  const refund = (id: string, status: 'owed' | 'given' | 'failed', amount: number) => ({
    id,
    status,
    parts: { parts: [euros(amount)] },
    tax: { amount: 120, currency: 'EUR', rates: [{ basisPoints: 1900, amount: 120 }] },
    lines: ['line-2'],
  });
  const refunds = [refund('r1', 'given', 750), refund('r2', 'failed', 100)];
  await openOrder(anOrder({ status: 'paid', checkoutUrl: null, lines, refunds }));
  const given = screen.getByText(t.refund.given('€7.50')).closest('li');
  expect(given?.textContent).toContain('Mug');
  expect(given?.textContent).not.toContain('Knitted scarf');
  expect(given?.textContent).toContain(t.refundTax('€1.20'));
  expect(screen.getByText(t.refund.failed('€1.00'))).toBeTruthy();
});

test('a receipt has its number, and the tax by rate', async () => {
  const rates = [
    { basisPoints: 1900, amount: 397 },
    { basisPoints: 550, amount: 46 },
  ];
  await openOrder(anOrder({ tax: { amount: 443, currency: 'EUR', rates } }));
  expect(screen.getByText(t.number('order-1'))).toBeTruthy();
  expect(screen.getByText(enShop.checkout.tax('€4.43'))).toBeTruthy();
  expect(screen.getByText(enShop.checkout.taxOf('19%', '€3.97'))).toBeTruthy();
  expect(screen.getByText(enShop.checkout.taxOf('5.5%', '€0.46'))).toBeTruthy();
});

test('tax of one rate is one sentence', async () => {
  const rates = [{ basisPoints: 1900, amount: 397 }];
  await openOrder(anOrder({ tax: { amount: 397, currency: 'EUR', rates } }));
  expect(screen.getByText(enShop.checkout.taxAt('€3.97', '19%'))).toBeTruthy();
});

test('a disputed payment is said on the order and in the list', async () => {
  const order = anOrder({ status: 'completed', checkoutUrl: null, disputed: true });
  const world = await openOrder(order);
  expect(screen.getByText(t.disputed)).toBeTruthy();
  expect(screen.getByText(t.disputedText)).toBeTruthy();
  cleanup();
  world.fake.on('GET /api/user/orders', () => ({ body: { orders: [order], nextCursor: null } }));
  world.show(OrdersPage, {});
  expect((await screen.findByRole('link', { name: /Knitted scarf/ })).textContent).toContain(
    t.short.disputed,
  );
});

/** Cancels the order, and says so in the dialog. */
async function cancel(text: string): Promise<void> {
  await userEvent.click(screen.getByRole('button', { name: t.cancel }));
  const dialog = await screen.findByRole('dialog', { name: t.cancelTitle });
  expect(within(dialog).getByText(text)).toBeTruthy();
  await userEvent.click(within(dialog).getByRole('button', { name: t.cancel }));
}

const today = new Date().toISOString();

test('a pending order is cancelled after a question, and its lines are in the cart', async () => {
  const world = await openOrder(anOrder());
  world.fake.on('POST /api/user/orders/order-1/cancel', () => ({
    body: { order: anOrder({ status: 'cancelled', checkoutUrl: null }) },
  }));
  await cancel(t.cancelPending);
  expect(await screen.findByRole('heading', { name: t.status.cancelled })).toBeTruthy();
  expect(screen.getByText(t.backInCart)).toBeTruthy();
  expect(world.announcer.polite).toBe(t.cancelled);
});

test('a paid order is given back, part by part', async () => {
  const paid = anOrder({ status: 'paid', checkoutUrl: null, createdAt: today });
  const world = await openOrder(paid);
  const refund = {
    id: 'order-1',
    status: 'owed',
    parts: { parts: [euros(2365), coins(120)] },
    tax: { amount: 0, currency: 'EUR', rates: [] },
    lines: ['line-1'],
  } as const;
  world.fake.on('POST /api/user/orders/order-1/cancel', () => ({
    body: { order: { ...paid, status: 'refunded', refunds: [refund] } },
  }));
  await cancel(t.cancelPaid);
  expect(await screen.findByText(t.refund.owed('€23.65 + 120 coins'))).toBeTruthy();
  expect(screen.getByText(t.refundOfAll)).toBeTruthy();
  expect(world.announcer.polite).toBe(t.refunded);
});

test.each([
  [enShop.failure, 'goods_used'],
  [enShop.failure, 'order_not_cancellable'],
  [enPages.failure, 'already_paid'],
] as const)('a cancellation that is refused says why', async (texts, code) => {
  const world = await openOrder(anOrder());
  world.fake.on('POST /api/user/orders/order-1/cancel', () => problem(409, code));
  await cancel(t.cancelPending);
  const reason = (texts as Record<string, string>)[code] ?? code;
  expect((await screen.findByRole('alert')).textContent).toContain(reason);
});

test('an order of a month ago is no longer cancelled', async () => {
  const createdAt = new Date(Date.now() - 30 * 24 * 3_600_000).toISOString();
  await openOrder(anOrder({ status: 'completed', checkoutUrl: null, createdAt }));
  expect(screen.queryByRole('button', { name: t.cancel })).toBeNull();
});

test('what was ordered goes into the cart again', async () => {
  const world = await openOrder(anOrder({ status: 'completed', checkoutUrl: null }));
  world.fake
    .on('POST /api/user/orders/order-1/reorder', () => ({ body: { cart: aCart([]), skipped: [] } }))
    .on('GET /api/cart', () => ({ body: theCart(aCart([])) }));
  await userEvent.click(screen.getByRole('button', { name: t.again }));
  await waitFor(() => expect(world.router.path).toBe('/cart'));
  expect(world.announcer.polite).toBe(t.inCart);
});
