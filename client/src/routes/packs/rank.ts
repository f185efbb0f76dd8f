import type { OpenResult } from '$lib/api/types';
import { RARITIES } from '$lib/draw/draw';

type Row = OpenResult['collectibles'][number];

function rankOf({ collectible }: Row): number {
  return collectible ? RARITIES.indexOf(collectible.rarity) : -1;
}

/** The place of the rarest row; of several, the one that was drawn first. */
export function placeOfBest(rows: readonly Row[]): number {
  return rows.reduce((best, row, place) => (rankOf(row) > rankOf(rows[best] ?? row) ? place : best), 0);
}
