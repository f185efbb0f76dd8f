import { beforeEach, expect, test, vi } from 'vitest';
import { FakeApi } from '$lib/api/testing';
import { enShop } from '$lib/i18n/en-shop';
import { Texts } from '$lib/i18n/texts.svelte';
import { Announcer } from '$lib/ui/announcer.svelte';
import { MOST_LINES, forgetGuestLines, guestCart, guestLines, putGuestLine } from './guest-cart';
import { mergeGuestCart } from './merging';
import { aProduct, aVariant, coins, euros, idOf } from './testing';

let kept: Map<string, string>;

beforeEach(() => {
  kept = new Map();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  });
});

const line = (number: number, quantity: number) => ({
  variantId: idOf(number),
  priceId: idOf(number + 10),
  quantity,
});

/* --- what is kept --------------------------------------------------------------- */

test('a line is added, changed in its place and removed', () => {
  expect(putGuestLine(line(1, 2))).toBe(true);
  putGuestLine(line(2, 1));
  putGuestLine(line(1, 5));
  expect(guestLines()).toEqual([line(1, 5), line(2, 1)]);
  putGuestLine(line(1, 0));
  putGuestLine(line(2, 0));
  expect(guestLines()).toEqual([]);
  expect(kept.size).toBe(0);
});

test('a cart that is full takes no further variant, but changes those it has', () => {
  for (let number = 1; number <= MOST_LINES; number += 1) putGuestLine(line(number, 1));
  expect(putGuestLine(line(99, 1))).toBe(false);
  expect(putGuestLine(line(7, 3))).toBe(true);
  expect(guestLines()).toHaveLength(MOST_LINES);
});

test.each([
  'no JSON',
  'null',
  '{}',
  '[null]',
  '[{"variantId":"v","priceId":"p","quantity":1}]',
  JSON.stringify([line(1, 21)]),
  JSON.stringify([line(1, -1)]),
  JSON.stringify([line(1, 1.5)]),
  JSON.stringify([{ ...line(1, 1), quantity: '1' }]),
])('%s is no line of a cart', (text) => {
  kept.set('terrace:cart', text);
  expect(guestLines()).toEqual([]);
});

test('lines that the service has are forgotten; what was put since then stays', () => {
  putGuestLine(line(1, 1));
  putGuestLine(line(2, 1));
  const merged = guestLines();
  putGuestLine(line(2, 4));
  putGuestLine(line(3, 1));
  forgetGuestLines(merged);
  expect(guestLines()).toEqual([line(2, 4), line(3, 1)]);
});

/* --- what is shown -------------------------------------------------------------- */

const scarf = aVariant({
  id: idOf(1),
  prices: [
    { id: idOf(11), parts: [euros(1995)] },
    { id: idOf(12), parts: [euros(995), coins(120)] },
  ],
});

test('totals are sums by kind, without any rate between kinds', () => {
  const other = aVariant({ id: idOf(2), prices: [{ id: idOf(21), parts: [coins(30)] }] });
  const products = [aProduct({ variants: [scarf] }), aProduct({ id: 'product-2', variants: [other] })];
  const lines = [
    { variantId: idOf(1), priceId: idOf(12), quantity: 2 },
    { variantId: idOf(2), priceId: idOf(21), quantity: 3 },
  ];
  const { cart, gone } = guestCart(lines, products);
  expect(cart.totals.parts).toEqual([euros(1990), coins(330)]);
  expect(cart.lines.map(({ total }) => total.parts)).toEqual([[euros(1990), coins(240)], [coins(90)]]);
  expect(gone).toEqual([]);
});

test.each([
  ['too few are left', { remaining: 1 }, idOf(11), ['sold_out']],
  ['none is left', { remaining: 0, available: false }, idOf(11), ['sold_out']],
  ['it is not on sale', { available: false }, idOf(11), ['unavailable']],
  ['its price is gone', {}, idOf(13), ['price_changed']],
  ['nothing stands against it', { remaining: 2 }, idOf(12), []],
])('a line says that %s', (_, state, priceId, expected) => {
  const products = [aProduct({ variants: [{ ...scarf, ...state }] })];
  const { cart } = guestCart([{ variantId: idOf(1), priceId, quantity: 2 }], products);
  expect(cart.lines[0]?.problems.map(({ code }) => code)).toEqual(expected);
});

test('what is sold no more is named, and nothing else is lost', () => {
  const { cart, gone } = guestCart([line(1, 1), line(2, 1)], [aProduct({ variants: [scarf] })]);
  expect(cart.lines).toHaveLength(1);
  expect(gone).toEqual([line(2, 1)]);
});

/* --- the merge ------------------------------------------------------------------ */

function parts(fake: FakeApi) {
  return { api: fake.api, announcer: new Announcer(), texts: new Texts({ shop: enShop }) };
}

test('a merge sends every line once, however many ask for it, and forgets them', async () => {
  putGuestLine(line(1, 2));
  const fake = new FakeApi().on('POST /api/cart/merge', () => ({ body: { cart: {}, skipped: [] } }));
  const all = parts(fake);
  await Promise.all([mergeGuestCart(all), mergeGuestCart(all)]);
  await mergeGuestCart(all);
  expect(fake.requests.map(({ body }) => body)).toEqual([{ lines: [line(1, 2)] }]);
  expect(guestLines()).toEqual([]);
  expect(all.announcer.toasts).toEqual([]);
});

test('a merge that fails keeps every line for the next one', async () => {
  putGuestLine(line(1, 2));
  let isDown = true;
  const fake = new FakeApi().on('POST /api/cart/merge', () =>
    isDown ? { status: 0 } : { body: { cart: {}, skipped: [] } },
  );
  const all = parts(fake);
  await expect(mergeGuestCart(all)).rejects.toThrow();
  expect(guestLines()).toEqual([line(1, 2)]);
  isDown = false;
  await mergeGuestCart(all);
  expect(guestLines()).toEqual([]);
});

test('lines that the service leaves out are said', async () => {
  putGuestLine(line(1, 2));
  const fake = new FakeApi().on('POST /api/cart/merge', () => ({ body: { cart: {}, skipped: [idOf(1)] } }));
  const all = parts(fake);
  await mergeGuestCart(all);
  expect(all.announcer.polite).toBe(enShop.cart.skipped(1, '1'));
});
