import type { VisitResult } from '$lib/api/types';
import type { Texts } from '$lib/i18n/texts.svelte';

/** Points and coins in words. */
export function earnedWords(points: number, coins: number, texts: Texts): string {
  const { play } = texts.pages;
  const parts = [
    ...(points > 0 ? [play.points(points, texts.change(points))] : []),
    ...(coins > 0 ? [play.coins(coins, texts.change(coins))] : []),
  ];
  return texts.list(parts);
}

/** What a daily visit paid, in words. */
export function paidWords({ pointsAwarded, coinsAwarded }: VisitResult, texts: Texts): string {
  return earnedWords(pointsAwarded, coinsAwarded, texts);
}
