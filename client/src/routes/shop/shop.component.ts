import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { Product } from '$lib/api/types';
import { enPages } from '$lib/i18n/en-pages';
import { enProducts } from '$lib/i18n/en-products';
import { enShop } from '$lib/i18n/en-shop';
import { readsAgain } from '../../../tests/states';
import { World } from '../../../tests/world';
import { guestLines } from './guest-cart';
import ProductPage from './ProductPage.svelte';
import ShopPage from './ShopPage.svelte';
import { aCart, aLine, aProduct, aVariant, coins, euros, idOf, theCart } from './testing';

const { list: s, product: p } = enProducts;
const wear = { id: 'c-1', key: 'wear', name: 'Wear', parentId: null, productCount: 1 };

afterEach(() => history.replaceState(null, '', '/'));

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  world.fake
    .on('GET /api/cart', () => ({ body: theCart(aCart([])) }))
    .on('GET /api/categories', () => ({ body: { categories: [wear] } }));
  return world;
}

const onSale = (...products: Product[]): object => ({ products, nextCursor: null });

/* --- the catalogue -------------------------------------------------------------- */

test('the shop loads, fails, and is read again', async () => {
  const world = await signedIn();
  await readsAgain(world, 'GET /api/products', onSale(aProduct()), s.failedTitle, () =>
    world.show(ShopPage, {}),
  );
  const product = screen.getByRole('link', { name: /Knitted scarf/ });
  expect(product.getAttribute('href')).toBe('/shop/products/product-1');
  expect(product.textContent).toContain('€19.95');
});

test('a product says that few are left, and that none is', async () => {
  const world = await signedIn();
  const few = aProduct({ id: 'few', name: 'Few', variants: [aVariant({ remaining: 3 })] });
  const none = aProduct({
    id: 'none',
    name: 'None',
    available: false,
    variants: [aVariant({ available: false, remaining: 0 })],
  });
  const cheap = aVariant({ id: idOf(2), prices: [{ id: idOf(21), parts: [coins(40)] }] });
  const varied = aProduct({ id: 'varied', name: 'Varied', variants: [cheap, aVariant()] });
  world.fake.on('GET /api/products', () => ({ body: onSale(few, none, varied) }));
  world.show(ShopPage, {});
  expect((await screen.findByRole('link', { name: /Few/ })).textContent).toContain(enShop.left('3'));
  expect(screen.getByRole('link', { name: /None/ }).textContent).toContain(enShop.soldOut);
  expect(screen.getByRole('link', { name: /Varied/ }).textContent).toContain(s.from('40 coins'));
});

test('a category and a kind are asked of the service and kept in the address', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/products', () => ({ body: onSale() }));
  world.show(ShopPage, {});
  expect(await screen.findByRole('heading', { name: s.emptyTitle })).toBeTruthy();
  await userEvent.click(await screen.findByRole('link', { name: 'Wear' }));
  await userEvent.click(screen.getByRole('radio', { name: s.kinds.digital }));
  expect(await screen.findByRole('heading', { name: s.noneTitle })).toBeTruthy();
  const asked = world.fake.requests.filter(({ name }) => name === 'GET /api/products').at(-1);
  expect([asked?.query.get('category'), asked?.query.get('kind')]).toEqual(['wear', 'digital']);
  expect(location.search).toBe('?category=wear&kind=digital');
});

test('further products come when they are asked for', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/products', (request) =>
    new URL(request.url).searchParams.has('cursor')
      ? { body: onSale(aProduct({ id: 'b', name: 'Second' })) }
      : { body: { products: [aProduct({ name: 'First' })], nextCursor: 'more' } },
  );
  world.show(ShopPage, {});
  await userEvent.click(await screen.findByRole('button', { name: enShop.more }));
  expect(await screen.findByRole('link', { name: /Second/ })).toBeTruthy();
  expect(screen.getByRole('link', { name: /First/ })).toBeTruthy();
});

/* --- a product ------------------------------------------------------------------ */

const props = { params: { id: 'product-1' } };

async function openProduct(product: Product, ...lines: ReturnType<typeof aLine>[]): Promise<World> {
  const world = await signedIn();
  world.fake
    .on('GET /api/products/product-1', () => ({ body: { product } }))
    .on('GET /api/cart', () => ({ body: theCart(aCart(lines)) }));
  world.show(ProductPage, props);
  await screen.findByRole('heading', { name: product.name, level: 1 });
  return world;
}

const addButton = (): Promise<HTMLElement> => screen.findByRole('button', { name: p.add });

test('a product loads, fails, and is read again', async () => {
  const world = await signedIn();
  const product = aProduct({
    kind: 'digital',
    perUserLimit: 2,
    grants: [
      { kind: 'coins', amount: 200, id: null },
      { kind: 'pack', amount: 2, id: 'pack-1' },
      { kind: 'pack', amount: 1, id: 'pack-2' },
      { kind: 'collectible', amount: 1, id: 'card-1' },
    ],
  });
  await readsAgain(world, 'GET /api/products/product-1', { product }, p.failedTitle, () =>
    world.show(ProductPage, props),
  );
  expect(screen.getByText('Wool, two metres.')).toBeTruthy();
  for (const text of [
    p.digital,
    p.gives('200 coins'),
    p.gives('2 sealed packs'),
    p.gives('1 sealed pack'),
    p.gives('1 card'),
    p.limit('2'),
  ])
    expect(screen.getByText(text)).toBeTruthy();
  expect(await addButton()).toBeTruthy();
});

const sized = (size: string, more: Partial<ReturnType<typeof aVariant>>) =>
  aVariant({ name: size, options: [{ name: 'size', value: size }], ...more });

test('a variant is chosen by its options, which say what is left of it', async () => {
  await openProduct(
    aProduct({
      variants: [
        sized('M', { id: idOf(1), remaining: 4 }),
        sized('L', { id: idOf(2), remaining: 0, available: false }),
        sized('XL', { id: idOf(3), prices: [{ id: idOf(31), parts: [euros(2495)] }] }),
      ],
    }),
  );
  const group = screen.getByRole('group', { name: 'Size' });
  expect(within(group).getByRole<HTMLInputElement>('radio', { name: /^M 4 left$/ }).checked).toBe(true);
  await userEvent.click(within(group).getByRole('radio', { name: /^XL$/ }));
  expect(await screen.findByText('€24.95')).toBeTruthy();
  expect(new URLSearchParams(location.search).get('variant')).toBe(idOf(3));
  await userEvent.click(within(group).getByRole('radio', { name: /^L/ }));
  await waitFor(() =>
    expect(screen.getByRole('button', { name: p.add }).hasAttribute('disabled')).toBe(true),
  );
});

test('one tap adds once, under the price that is chosen, to what is in the cart', async () => {
  const prices = [
    { id: idOf(11), parts: [euros(1995)] },
    { id: idOf(12), parts: [euros(995), coins(120)] },
  ];
  const variant = aVariant({ prices });
  const world = await openProduct(aProduct({ variants: [variant] }), aLine({ variant, quantity: 2 }));
  await userEvent.click(screen.getByRole('radio', { name: '€9.95 + 120 coins' }));
  await userEvent.click(screen.getByRole('button', { name: enShop.quantity.more('Knitted scarf') }));
  const answer = new Deferred<{ body: unknown }>();
  const sent: unknown[] = [];
  world.fake.on(`PUT /api/cart/lines/${idOf(1)}`, () => {
    sent.push(world.fake.requests.at(-1)?.body);
    return answer.promise;
  });
  await userEvent.click(await addButton());
  const running = await screen.findByRole('button', { name: p.adding });
  expect(running.getAttribute('aria-disabled')).toBe('true');
  await userEvent.click(running);
  answer.resolve({ body: theCart(aCart([aLine({ variant, quantity: 4 })])) });
  expect(await screen.findByText(p.inCart('4'), { exact: false })).toBeTruthy();
  expect(sent).toEqual([{ quantity: 4, priceId: idOf(12) }]);
  await waitFor(() => expect(world.announcer.polite).toBe(p.added('4', 'Knitted scarf')));
});

test('an addition that fails says why, and a further tap asks for the same quantity', async () => {
  const world = await openProduct(aProduct());
  const sent: unknown[] = [];
  let isDown = true;
  world.fake.on(`PUT /api/cart/lines/${idOf(1)}`, () => {
    sent.push(world.fake.requests.at(-1)?.body);
    return isDown ? problem(503, 'unavailable') : { body: theCart(aCart([aLine()])) };
  });
  await userEvent.click(await addButton());
  expect(await screen.findByRole('alert')).toBeTruthy();
  isDown = false;
  await userEvent.click(await addButton());
  await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
  expect(sent).toEqual([sent[0], sent[0]]);
});

test.each([
  ['all that is left', { variants: [aVariant({ remaining: 2 })] }],
  ['all that a fan may have', { perUserLimit: 2 }],
])('when %s is in the cart, no more is offered', async (_, more) => {
  await openProduct(aProduct(more), aLine({ quantity: 2 }));
  expect(await screen.findByText(p.enough, { exact: false })).toBeTruthy();
  expect((await addButton()).hasAttribute('disabled')).toBe(true);
});

test('the browser keeps what a guest adds', async () => {
  const world = await World.ofGuest();
  world.fake
    .on('GET /api/products/product-1', () => ({ body: { product: aProduct() } }))
    .on('GET /api/products', () => ({ body: onSale(aProduct()) }));
  world.show(ProductPage, props);
  await userEvent.click(await addButton());
  expect(await screen.findByText(p.inCart('1'), { exact: false })).toBeTruthy();
  expect(guestLines()).toEqual([{ variantId: idOf(1), priceId: idOf(11), quantity: 1 }]);
  expect(world.fake.requests.filter(({ name }) => !name.startsWith('GET '))).toEqual([]);
});

test('without products the packs are offered', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/products', () => ({ body: onSale() }));
  world.show(ShopPage, {});
  await screen.findByRole('heading', { name: s.emptyTitle });
  expect(screen.getByRole('link', { name: enPages.play.packs }).getAttribute('href')).toBe('/packs');
});
