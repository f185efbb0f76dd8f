import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { readAs } from './member';

export interface OwnOrder {
  id: string;
  status: string;
  lines: { variantId: string; quantity: number }[];
  paidBy: { coins: number; card: number };
}

interface Product {
  id: string;
  key: string;
  variants: { id: string; key: string; prices: { id: string; parts: { kind: string }[] }[] }[];
}

interface Line {
  variant: { id: string };
  quantity: number;
}

export const HOME = {
  name: 'Mia Kurz',
  line1: 'Hafenstr. 7',
  postalCode: '20459',
  city: 'Hamburg',
  country: 'DE',
};

export async function orders(page: Page): Promise<OwnOrder[]> {
  return (await readAs<{ orders: OwnOrder[] }>(page, '/api/user/orders')).orders;
}

/** What is in the cart of the page's fan, as the service says. */
export async function cartLines(page: Page): Promise<Line[]> {
  return (await readAs<{ cart: { lines: Line[] } }>(page, '/api/cart')).cart.lines;
}

/** A product of the demo. */
export async function productOf(page: Page, key: string): Promise<Product> {
  const { products } = await readAs<{ products: Product[] }>(page, '/api/products?limit=100');
  const product = products.find((one) => one.key === key);
  if (!product) throw new Error(`no product ${key}`);
  return product;
}

/** Puts a variant into the fan's cart through the API, under the price with this place in the content. */
export async function put(page: Page, key: string, quantity = 1, price = 0): Promise<string> {
  const [variant] = (await productOf(page, key)).variants;
  const answer = await page.request.put(`/api/cart/lines/${variant?.id ?? ''}`, {
    data: { quantity, priceId: variant?.prices[price]?.id },
  });
  expect(answer.status()).toBe(200);
  return variant?.id ?? '';
}

/** Orders what is in the fan's cart through the API. */
export async function ordered(page: Page): Promise<OwnOrder> {
  const { cart } = await readAs<{ cart: { quote: string } }>(page, '/api/cart');
  const answer = await page.request.post('/api/checkout', {
    data: { quote: cart.quote },
    headers: { 'idempotency-key': crypto.randomUUID() },
  });
  expect(answer.status()).toBe(201);
  return ((await answer.json()) as { order: OwnOrder }).order;
}

/** The button that orders the cart. */
export const orderButton = (page: Page): Locator => page.getByRole('button', { name: /^Order and pay/ });

/** Adds a product of the demo to the cart on its page. */
export async function add(page: Page, name: string): Promise<void> {
  await page.goto('/shop');
  await page.getByRole('link', { name }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Add to cart' }).click();
  await page.getByText('in your cart.').waitFor();
}

/** Fills the form for the address. */
export async function sendHome(page: Page): Promise<void> {
  await page.getByLabel('Name of the recipient').fill(HOME.name);
  await page.getByLabel('Street and number').fill(HOME.line1);
  await page.getByLabel('Postal code').fill(HOME.postalCode);
  await page.getByLabel('City').fill(HOME.city);
  await page.getByLabel('Country').selectOption('DE');
  await page.getByRole('button', { name: 'Send it there' }).click();
  await page.getByRole('button', { name: 'Change' }).waitFor();
}
