import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { Cart } from '$lib/api/types';
import { enShop } from '$lib/i18n/en-shop';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World, ada } from '../../../tests/world';
import CheckoutPage from './CheckoutPage.svelte';
import { aCart, aLine, anOrder, coins, euros, standard, theCart } from './testing';

const { cart: t, checkout: c } = enShop;

afterEach(() => history.replaceState(null, '', '/'));

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  world.session.replace({ ...ada, balances: { coins: 25, points: 0 } });
  world.fake.on('GET /api/wallets', () => ({ body: { accounts: [], entries: [], nextCursor: null } }));
  return world;
}

async function openCheckout(cart: Cart): Promise<World> {
  const world = await signedIn();
  world.fake
    .on('GET /api/cart', () => ({ body: theCart(cart) }))
    .on('GET /api/shipping-methods', () => ({ body: { methods } }));
  world.show(CheckoutPage, {});
  await screen.findByRole('heading', { name: c.summary });
  return world;
}

const methods = [
  { key: 'standard', name: 'Standard', price: euros(490), countries: ['AT', 'DE'], days: 5 },
  { key: 'pick-up', name: 'Pick up', price: null, countries: ['DE'], days: 1 },
];
const unsent = aCart([aLine()], { shipping: null, problems: [{ code: 'address_missing' }] });
const payButton = (): HTMLElement => screen.getByRole('button', { name: /^Order and pay|^Ordering/ });
const digital = aLine({ product: { ...aLine().product, kind: 'digital' } });
const onlyCoins = aCart([digital], {
  shipping: null,
  totals: { parts: [coins(20)] },
  tax: { amount: 0, currency: null, rates: [] },
});

test('checkout loads, fails, and is read again', async () => {
  const world = await signedIn();
  await readsAgain(world, 'GET /api/cart', theCart(aCart([aLine()])), t.failedTitle, () =>
    world.show(CheckoutPage, {}),
  );
  expect(screen.getByText('Hafenstr. 7', { exact: false })).toBeTruthy();
  expect(screen.getByText('Standard, €4.90')).toBeTruthy();
  expect(payButton().textContent).toContain(c.pay('€24.85'));
  expect(screen.getByText(c.nextPage)).toBeTruthy();
});

test('checkout of an empty cart leads to the shop', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/cart', () => ({ body: theCart(aCart([])) }));
  world.show(CheckoutPage, {});
  expect(await screen.findByRole('heading', { name: t.emptyTitle })).toBeTruthy();
});

test('checkout asks guests to sign in', async () => {
  await asksGuests(CheckoutPage, {});
});

test('an address is asked for first: what is missing gets the focus, and what is refused stands at its field', async () => {
  const world = await openCheckout(unsent);
  expect(payButton().hasAttribute('disabled')).toBe(true);
  expect(screen.getByText(c.notBefore)).toBeTruthy();
  const use = await screen.findByRole('button', { name: c.useAddress });
  await userEvent.click(use);
  expect(document.activeElement).toBe(screen.getByLabelText(c.address.name));
  await userEvent.type(screen.getByLabelText(c.address.name), 'Mia Kurz');
  await userEvent.type(screen.getByLabelText(c.address.line1), 'Hafenstr. 7');
  await userEvent.type(screen.getByLabelText(c.address.postalCode), '20459');
  await userEvent.type(screen.getByLabelText(c.address.city), 'Hamburg');
  await userEvent.selectOptions(screen.getByLabelText(c.address.country), 'Germany');
  await userEvent.click(screen.getByRole('radio', { name: /^Pick up/ }));
  world.fake.on('PUT /api/cart/shipping', () =>
    problem(422, 'validation_failed', [{ pointer: '/address/postalCode', detail: 'no' }]),
  );
  await userEvent.click(use);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText(c.address.postalCode)));
  world.fake.on('PUT /api/cart/shipping', () => ({ body: theCart(aCart([aLine()])) }));
  await userEvent.click(use);
  expect(await screen.findByRole('button', { name: c.change })).toBeTruthy();
  expect(world.fake.requests.filter(({ name }) => name.startsWith('PUT')).at(-1)?.body).toEqual({
    method: 'pick-up',
    address: { name: 'Mia Kurz', line1: 'Hafenstr. 7', postalCode: '20459', city: 'Hamburg', country: 'DE' },
  });
  expect(payButton().hasAttribute('disabled')).toBe(false);
});

test('the methods are those that reach the country, and what is chosen can be kept', async () => {
  await openCheckout(
    aCart([aLine()], { shipping: { ...standard, address: { ...standard.address, country: 'AT' } } }),
  );
  await userEvent.click(screen.getByRole('button', { name: c.change }));
  expect(await screen.findByRole('radio', { name: /^Standard/ })).toBeTruthy();
  expect(screen.queryByRole('radio', { name: /^Pick up/ })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: c.keep }));
  expect(screen.getByRole('button', { name: c.change })).toBeTruthy();
});

test('one tap is one order, however often it is tapped meanwhile', async () => {
  const world = await openCheckout(onlyCoins);
  expect(screen.getByText(c.atOnce)).toBeTruthy();
  const answer = new Deferred<{ status: number; body: unknown }>();
  const keys: (string | null)[] = [];
  world.fake.on('POST /api/checkout', ({ headers }) => {
    keys.push(headers.get('idempotency-key'));
    return answer.promise;
  });
  world.fake.on('GET /api/user', () => ({ body: { ...ada, balances: { coins: 5, points: 0 } } }));
  await userEvent.click(payButton());
  expect(payButton().getAttribute('aria-disabled')).toBe('true');
  await userEvent.click(payButton());
  answer.resolve({ status: 201, body: { order: anOrder({ status: 'completed', checkoutUrl: null }) } });
  await waitFor(() => expect(world.router.path).toBe('/orders/order-1'));
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  expect(world.session.fan?.balances.coins).toBe(5);
});

test('an order whose answer is lost says that it may be placed, and is repeated under its key', async () => {
  const world = await openCheckout(onlyCoins);
  const keys: (string | null)[] = [];
  const order = anOrder({ status: 'completed', checkoutUrl: null });
  world.fake
    .on('GET /api/user/orders/order-1', () => ({ body: { order } }))
    .on('POST /api/checkout', ({ headers }) => {
      keys.push(headers.get('idempotency-key'));
      return keys.length === 1 ? { status: 0 } : { status: 201, body: { order } };
    });
  await userEvent.click(payButton());
  expect(await screen.findByText(c.maybeOrdered)).toBeTruthy();
  await userEvent.click(payButton());
  await waitFor(() => expect(world.router.path).toBe('/orders/order-1'));
  expect(keys[1]).toBe(keys[0]);
});

test('a lost order that has ended meanwhile is placed anew', async () => {
  const world = await openCheckout(onlyCoins);
  const keys: (string | null)[] = [];
  world.fake
    .on('GET /api/user/orders/order-1', () => ({ body: { order: anOrder({ status: 'expired' }) } }))
    .on('POST /api/checkout', ({ headers }) => {
      keys.push(headers.get('idempotency-key'));
      const id = keys.length < 3 ? 'order-1' : 'order-2';
      return keys.length === 1
        ? { status: 0 }
        : { status: 201, body: { order: anOrder({ id, checkoutUrl: null }) } };
    });
  await userEvent.click(payButton());
  await screen.findByText(c.maybeOrdered);
  await userEvent.click(payButton());
  await waitFor(() => expect(world.router.path).toBe('/orders/order-2'));
  expect(new Set(keys).size).toBe(2);
});

test('a price that changed meanwhile stands at its line, and the new quote is ordered', async () => {
  const world = await openCheckout(onlyCoins);
  const now = aCart([{ ...digital, unit: { parts: [euros(2495)] } }], { shipping: null, quote: 'quote-2' });
  const quotes: unknown[] = [];
  world.fake
    .on('GET /api/cart', () => ({ body: theCart(now) }))
    .on('POST /api/checkout', () => {
      quotes.push(world.fake.requests.at(-1)?.body);
      return problem(409, 'quote_changed');
    });
  await userEvent.click(payButton());
  expect((await screen.findByRole('alert')).textContent).toContain(enShop.failure.quote_changed);
  expect(await screen.findByText(c.was('€19.95'))).toBeTruthy();
  await userEvent.click(payButton());
  await waitFor(() => expect(quotes).toHaveLength(2));
  expect(quotes).toEqual(['quote-1', 'quote-2'].map((quote) => ({ quote, useBalance: false })));
});

test.each(['payment_unavailable', 'too_many_abandoned', 'product_closed', 'cart_empty'] as const)(
  'a refusal with %s says why',
  async (code) => {
    const world = await openCheckout(onlyCoins);
    world.fake.on('POST /api/checkout', () => problem(code === 'too_many_abandoned' ? 429 : 409, code));
    await userEvent.click(payButton());
    expect((await screen.findByRole('alert')).textContent).toContain(enShop.failure[code]);
    expect(screen.queryByText(c.maybeOrdered)).toBeNull();
  },
);

test('a card is asked for where the service sends the fan', async () => {
  const world = await openCheckout(aCart([digital], { shipping: null }));
  const assign = vi.spyOn(location, 'assign').mockImplementation(() => undefined);
  world.fake.on('POST /api/checkout', () => ({ status: 201, body: { order: anOrder() } }));
  await userEvent.click(payButton());
  await waitFor(() => expect(assign).toHaveBeenCalledWith('https://pay.test/order-1'));
});

test('money on the account is used if the fan says so', async () => {
  const world = await signedIn();
  const account = { id: 'a', kind: 'money', currency: 'EUR', balance: 5000 };
  world.fake
    .on('GET /api/wallets', () => ({ body: { accounts: [account], entries: [], nextCursor: null } }))
    .on('GET /api/cart', () => ({ body: theCart(aCart([digital], { shipping: null })) }))
    .on('POST /api/checkout', () => problem(409, 'quote_changed'));
  world.show(CheckoutPage, {});
  await userEvent.click(await screen.findByRole('checkbox', { name: c.useBalance('€50.00') }));
  expect(screen.getByText(c.atOnce)).toBeTruthy();
  await userEvent.click(payButton());
  await screen.findByRole('alert');
  const sent = world.fake.requests.find(({ name }) => name === 'POST /api/checkout');
  expect(sent?.body).toEqual({ quote: 'quote-1', useBalance: true });
});
