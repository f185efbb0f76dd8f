import type { OwnProfile, PackPrice } from '$lib/api/types';

/** What the fan has of the kind of a price after paying it; null for money, which no balance holds. */
export function leftAfter(price: PackPrice, fan: OwnProfile | null): number | null {
  if (price.kind === 'money' || fan === null) return null;
  return fan.balances[price.kind] - price.amount;
}
