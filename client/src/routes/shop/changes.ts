import type { Cart, PricePart } from '$lib/api/types';

/** What one unit of each variant cost before, where that differs from now. */
export function formerPrices(before: Cart | null, now: Cart): ReadonlyMap<string, readonly PricePart[]> {
  const former = new Map<string, readonly PricePart[]>();
  for (const { variant, unit } of now.lines) {
    const parts = before?.lines.find((line) => line.variant.id === variant.id)?.unit.parts;
    if (parts && JSON.stringify(parts) !== JSON.stringify(unit.parts)) former.set(variant.id, parts);
  }
  return former;
}
