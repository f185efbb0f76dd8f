import type { OwnProfile, PackPrice } from '$lib/api/types';
import type { Texts } from '$lib/i18n/texts.svelte';

/** A price or what is left of a balance, in words. */
export function amountText(amount: number, { kind, currency }: PackPrice, texts: Texts): string {
  if (kind === 'money') return texts.money(amount, currency ?? 'EUR');
  return texts.more.play[kind](amount, texts.number(amount));
}

/** What the fan has of the kind of a price after paying it; null for money, which no balance holds. */
export function leftAfter(price: PackPrice, fan: OwnProfile | null): number | null {
  if (price.kind === 'money' || fan === null) return null;
  return fan.balances[price.kind] - price.amount;
}
