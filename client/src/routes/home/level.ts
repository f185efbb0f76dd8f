import type { FanLevel } from '$lib/api/types';

/** How many of the ring's parts are full; all of them on the highest level. */
export function filledParts(
  { from, next }: Pick<FanLevel, 'from' | 'next'>,
  points: number,
  parts: number,
): number {
  if (next === null || next <= from) return parts;
  const share = (points - from) / (next - from);
  // The ring is full only once the level is reached.
  return Math.max(0, Math.min(parts - 1, Math.floor(share * parts)));
}
