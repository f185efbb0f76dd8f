import type { Grant, PricePart } from './api/types';
import type { Texts } from './i18n/texts.svelte';

type Unit = Pick<PricePart, 'kind' | 'currency'>;

/** An amount of points, coins or money in words. */
export function amountText(amount: number, { kind, currency }: Unit, texts: Texts): string {
  if (kind === 'money') return texts.money(amount, currency ?? 'EUR');
  return texts.pages.play[kind](amount, texts.number(amount));
}

/** What a fan is given, in words. */
export function grantText({ kind, amount }: Grant, texts: Texts): string {
  return texts.pages.play[kind](amount, texts.number(amount));
}

/** Amounts that are due together, in words; `free` if there are none. */
export function partsText(parts: readonly PricePart[], texts: Texts, free: string): string {
  if (parts.length === 0) return free;
  return parts.map((part) => amountText(part.amount, part, texts)).join(' + ');
}
