import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { Cart, CartProblemCode } from '$lib/api/types';
import { en } from '$lib/i18n/en';
import { enPages } from '$lib/i18n/en-pages';
import { enShop } from '$lib/i18n/en-shop';
import { readsAgain } from '../../../tests/states';
import { World, ada } from '../../../tests/world';
import CartPage from './CartPage.svelte';
import { guestLines, putGuestLine } from './guest-cart';
import { aCart, aLine, aProduct, aVariant, coins, euros, idOf, theCart } from './testing';

const { cart: t, checkout: c } = enShop;

afterEach(() => history.replaceState(null, '', '/'));

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  world.session.replace({ ...ada, balances: { coins: 25, points: 0 } });
  world.fake.on('GET /api/wallets', () => ({ body: { accounts: [], entries: [], nextCursor: null } }));
  return world;
}

async function openCart(cart: Cart, pendingOrder: object | null = null): Promise<World> {
  const world = await signedIn();
  world.fake.on('GET /api/cart', () => ({ body: theCart(cart, pendingOrder) }));
  world.show(CartPage, {});
  await screen.findByRole(cart.lines.length > 0 ? 'list' : 'heading', {
    name: cart.lines.length > 0 ? t.lines : t.emptyTitle,
  });
  return world;
}

/* --- the cart ------------------------------------------------------------------- */

test('the cart loads, fails, and is read again', async () => {
  const world = await signedIn();
  await readsAgain(world, 'GET /api/cart', theCart(aCart([aLine({ quantity: 2 })])), t.failedTitle, () =>
    world.show(CartPage, {}),
  );
  const [row] = within(screen.getByRole('list', { name: t.lines })).getAllByRole('listitem');
  expect(row?.textContent).toContain('Knitted scarf');
  expect(screen.getByText('€24.85')).toBeTruthy();
  expect(screen.getByText(c.taxAt('€3.97', '19%'))).toBeTruthy();
  expect(screen.getByRole('link', { name: t.toCheckout }).getAttribute('href')).toBe('/checkout');
});

test('an empty cart leads to the shop, and names the order that waits', async () => {
  const pending = { id: 'order-7', checkoutUrl: null, expiresAt: '2026-11-23T12:35:00.000Z' };
  await openCart(aCart([]), pending);
  expect(screen.getByRole('link', { name: t.emptyAction }).getAttribute('href')).toBe('/shop');
  expect(screen.getByRole('heading', { name: t.pending })).toBeTruthy();
  expect(screen.getByRole('link', { name: t.toPending }).getAttribute('href')).toBe('/orders/order-7');
});

test('a quantity shows at once, and only the newest wish is sent after it', async () => {
  const world = await openCart(aCart([aLine()]));
  const answer = new Deferred<{ body: unknown }>();
  const sent: unknown[] = [];
  world.fake.on(`PUT /api/cart/lines/${idOf(1)}`, () => {
    sent.push(world.fake.requests.at(-1)?.body);
    return sent.length === 1 ? answer.promise : { body: theCart(aCart([aLine({ quantity: 4 })])) };
  });
  const more = screen.getByRole('button', { name: enShop.quantity.more('Knitted scarf') });
  for (let taps = 0; taps < 3; taps += 1) await userEvent.click(more);
  const group = screen.getByRole('group', { name: enShop.quantity.label('Knitted scarf') });
  expect(within(group).getByRole('status').textContent).toBe('4');
  answer.resolve({ body: theCart(aCart([aLine({ quantity: 2 })])) });
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent).toEqual([2, 4].map((quantity) => ({ quantity, priceId: idOf(11) })));
  await waitFor(() => expect(group.closest('li')?.querySelector('[aria-busy="true"]')).toBeNull());
});

test('a refused quantity is taken back and said', async () => {
  const world = await openCart(aCart([aLine()]));
  world.fake.on(`PUT /api/cart/lines/${idOf(1)}`, () => problem(409, 'limit_reached'));
  await userEvent.click(screen.getByRole('button', { name: enShop.quantity.more('Knitted scarf') }));
  await waitFor(() => expect(world.announcer.assertive).toContain(en.state.notKept));
  expect(world.announcer.assertive).toContain(enPages.failure.limit_reached);
  const group = screen.getByRole('group', { name: enShop.quantity.label('Knitted scarf') });
  expect(within(group).getByRole('status').textContent).toBe('1');
});

test('a line is removed, and the focus goes on', async () => {
  const other = { ...aLine().product, id: 'product-2', name: 'Mug' };
  const mug = aLine({ variant: aVariant({ id: idOf(2) }), product: other });
  const world = await openCart(aCart([aLine(), mug]));
  const removed = (id: number, ...left: Cart['lines']) =>
    world.fake.on(`PUT /api/cart/lines/${idOf(id)}`, () => {
      expect(world.fake.requests.at(-1)?.body).toMatchObject({ quantity: 0 });
      return { body: theCart(aCart(left)) };
    });
  removed(1, mug);
  removed(2);
  await userEvent.click(screen.getByRole('button', { name: t.removeOne('Knitted scarf') }));
  await waitFor(() => expect(document.activeElement?.textContent).toContain('Mug'));
  expect(world.announcer.polite).toBe(t.removed('Knitted scarf'));
  await userEvent.click(screen.getByRole('button', { name: t.removeOne('Mug') }));
  expect(await screen.findByRole('heading', { name: t.emptyTitle })).toBeTruthy();
});

const { problems } = t;

test.each<[CartProblemCode, object, string, number | null, string | null]>([
  ['sold_out', { remaining: 2 }, problems.sold_out(2, '2'), 2, problems.take('2')],
  ['sold_out', { remaining: 0 }, problems.sold_out(0, '0'), null, null],
  ['limit_reached', {}, problems.limit_reached, null, null],
  ['price_changed', {}, problems.price_changedText('€19.95'), 3, problems.accept],
  ['unavailable', { available: false }, problems.unavailable, null, null],
])('%s %j stands at its line, with what can be done', async (code, state, words, quantity, action) => {
  const line = aLine({ quantity: 3, variant: aVariant(state) }, [code]);
  const world = await openCart(aCart([line]));
  const row = within(screen.getByRole('list', { name: t.lines })).getByRole('listitem');
  expect(within(row).getByText(words)).toBeTruthy();
  expect(screen.getByRole('button', { name: t.solve }).hasAttribute('disabled')).toBe(true);
  if (action === null) return;
  world.fake.on(`PUT /api/cart/lines/${idOf(1)}`, () => ({ body: theCart(aCart([aLine()])) }));
  await userEvent.click(within(row).getByRole('button', { name: action }));
  expect(await screen.findByRole('link', { name: t.toCheckout })).toBeTruthy();
  expect(world.fake.requests.find(({ name }) => name.startsWith('PUT'))?.body).toEqual({
    quantity,
    priceId: idOf(11),
  });
});

test('too little for all of it is said with what the fan has', async () => {
  await openCart(aCart([aLine()], { problems: [{ code: 'insufficient_balance' }] }));
  expect(screen.getByText(problems.insufficient_balance)).toBeTruthy();
  expect(
    screen.getByText(problems.insufficient_balanceText('0 points', '25 coins'), { exact: false }),
  ).toBeTruthy();
  expect(screen.getByRole('link', { name: problems.earn }).getAttribute('href')).toBe('/quests');
});

test('an address that is missing stops no one before the checkout', async () => {
  await openCart(aCart([aLine()], { shipping: null, problems: [{ code: 'address_missing' }] }));
  expect(screen.getByRole('link', { name: t.toCheckout })).toBeTruthy();
  expect(screen.getByText(t.withoutShipping)).toBeTruthy();
});

test('another price of the same thing is chosen at its line', async () => {
  const prices = [
    { id: idOf(11), parts: [euros(1995)] },
    { id: idOf(12), parts: [euros(995), coins(120)] },
  ];
  const world = await openCart(aCart([aLine({ variant: aVariant({ prices }) })]));
  world.fake.on(`PUT /api/cart/lines/${idOf(1)}`, () => ({ body: theCart(aCart([aLine()])) }));
  await userEvent.selectOptions(screen.getByRole('combobox', { name: t.payWith }), '€9.95 + 120 coins');
  await waitFor(() =>
    expect(world.fake.requests.find(({ name }) => name.startsWith('PUT'))?.body).toEqual({
      quantity: 1,
      priceId: idOf(12),
    }),
  );
});

/* --- a guest's cart ------------------------------------------------------------- */

const guestLine = { variantId: idOf(1), priceId: idOf(11), quantity: 2 };

test('a guest changes what the browser keeps, and signs in to check out', async () => {
  putGuestLine(guestLine);
  const world = await World.ofGuest();
  world.fake.on('GET /api/products', () => ({ body: { products: [aProduct()], nextCursor: null } }));
  world.show(CartPage, {});
  expect((await screen.findAllByText('€39.90')).length).toBe(2);
  await userEvent.click(screen.getByRole('button', { name: enShop.quantity.fewer('Knitted scarf') }));
  expect((await screen.findAllByText('€19.95')).length).toBe(2);
  expect(guestLines()).toEqual([{ ...guestLine, quantity: 1 }]);
  const signIn = screen.getByRole('link', { name: t.signIn });
  expect(signIn.getAttribute('href')).toBe('/sign-in?next=%2Fcheckout');
});

test('what is sold no more leaves a guest’s cart and is said', async () => {
  putGuestLine(guestLine);
  const world = await World.ofGuest();
  world.fake.on('GET /api/products', () => ({ body: { products: [], nextCursor: null } }));
  world.show(CartPage, {});
  expect(await screen.findByRole('heading', { name: t.emptyTitle })).toBeTruthy();
  expect(world.announcer.polite).toBe(t.skipped(1, '1'));
  expect(guestLines()).toEqual([]);
});

test('the cart of a guest is merged before that of the fan is read', async () => {
  putGuestLine(guestLine);
  const world = await signedIn();
  let isMerged = false;
  world.fake
    .on('POST /api/cart/merge', () => {
      isMerged = true;
      return { body: { cart: aCart([]), skipped: [] } };
    })
    .on('GET /api/cart', () => ({ body: theCart(aCart(isMerged ? [aLine({ quantity: 2 })] : [])) }));
  world.show(CartPage, {});
  await screen.findByRole('list', { name: t.lines });
  expect(guestLines()).toEqual([]);
});
