import { Persisted } from '$lib/persisted.svelte';
import type { Cart, CartLine, CartProblemCode, PricePart, Product } from '$lib/api/types';

/** What a cart takes at most, as in the service. */
export const MOST_LINES = 50;
export const MOST_UNITS = 20;

export interface GuestLine {
  variantId: string;
  priceId: string;
  quantity: number;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Other tabs change it too: it is read anew each time. */
const kept = (): Persisted => new Persisted('cart');

/** The cart that this browser keeps for a guest. */
export function guestLines(): GuestLine[] {
  try {
    const lines: unknown = JSON.parse(kept().value ?? '[]');
    return Array.isArray(lines) ? lines.filter(isLine).slice(0, MOST_LINES) : [];
  } catch {
    // Another version of the client kept it in its own form.
    return [];
  }
}

function isLine(line: unknown): line is GuestLine {
  if (typeof line !== 'object' || line === null) return false;
  if (!('variantId' in line && 'priceId' in line && 'quantity' in line)) return false;
  const { variantId, priceId, quantity } = line;
  const isNumber = typeof quantity === 'number' && Number.isInteger(quantity);
  const isNamed = [variantId, priceId].every((id) => typeof id === 'string' && UUID.test(id));
  return isNamed && isNumber && quantity >= 1 && quantity <= MOST_UNITS;
}

/** Sets the quantity of a variant; 0 removes it. Whether there was room for it. */
export function putGuestLine(line: GuestLine): boolean {
  const lines = guestLines();
  const place = lines.findIndex(({ variantId }) => variantId === line.variantId);
  if (line.quantity === 0) write(lines.filter((_, other) => other !== place));
  else if (place >= 0) write(lines.with(place, line));
  else if (lines.length < MOST_LINES) write([...lines, line]);
  else return false;
  return true;
}

/** Forgets lines that the service has now; those that were put since then stay. */
export function forgetGuestLines(merged: readonly GuestLine[]): void {
  const isMerged = (line: GuestLine): boolean =>
    merged.some((other) => other.variantId === line.variantId && other.quantity === line.quantity);
  write(guestLines().filter((line) => !isMerged(line)));
}

function write(lines: readonly GuestLine[]): void {
  kept().set(lines.length === 0 ? null : JSON.stringify(lines));
}

/** A guest's cart as the service would show it, and its lines that are sold no more. */
export function guestCart(
  lines: readonly GuestLine[],
  products: readonly Product[],
): { cart: Cart; gone: readonly GuestLine[] } {
  const shown = lines.flatMap((line) => shownLine(line, products));
  const isShown = ({ variantId }: GuestLine): boolean =>
    shown.some(({ variant }) => variant.id === variantId);
  return {
    cart: {
      lines: shown,
      shipping: null,
      totals: { parts: sum(shown.flatMap(({ total }) => total.parts)) },
      tax: { amount: 0, currency: null, rates: [] },
      problems: [],
      quote: null,
    },
    gone: lines.filter((line) => !isShown(line)),
  };
}

function shownLine({ variantId, priceId, quantity }: GuestLine, products: readonly Product[]): CartLine[] {
  for (const { id, key, name, kind, imageUrls, variants } of products) {
    const variant = variants.find((one) => one.id === variantId);
    const price = variant?.prices.find((one) => one.id === priceId) ?? variant?.prices[0];
    if (!variant || !price) continue;
    const left = variant.remaining;
    const codes: CartProblemCode[] = [];
    if (left != null && left < quantity) codes.push('sold_out');
    else if (!variant.available) codes.push('unavailable');
    if (price.id !== priceId) codes.push('price_changed');
    const total = price.parts.map((part) => ({ ...part, amount: part.amount * quantity }));
    const line = {
      variant,
      product: { id, key, name, kind, imageUrls },
      quantity,
      priceId: price.id,
      unit: { parts: price.parts },
      total: { parts: total },
      problems: codes.map((code) => ({ code })),
    };
    return [line];
  }
  return [];
}

/** Amounts of the same kind and currency, added. */
function sum(parts: readonly PricePart[]): PricePart[] {
  const sums: PricePart[] = [];
  for (const part of parts) {
    const place = sums.findIndex(({ kind, currency }) => kind === part.kind && currency === part.currency);
    const before = sums[place];
    if (before) sums[place] = { ...before, amount: before.amount + part.amount };
    else sums.push(part);
  }
  return sums;
}
