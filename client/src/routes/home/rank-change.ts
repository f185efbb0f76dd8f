/** Where a fan stood, as this browser saw it. */
export interface Seen {
  /** The last day on which it was seen, and the place and the points then. */
  day: string;
  rank: number;
  points: number;
  /** The place on the last day before that one. */
  before: number | null;
}

/** What is kept after the place was seen again: on each day the place is compared with that of the visit before. */
export function afterSeeing(seen: Seen | null, now: Omit<Seen, 'before'>): Seen {
  // Points of a season only grow: with fewer of them, a new one has begun.
  if (seen === null || now.points < seen.points) return { ...now, before: null };
  return { ...now, before: seen.day === now.day ? seen.before : seen.rank };
}

/** By how many places the fan rose; negative after a fall, null where there is nothing to compare with. */
export function riseOf({ rank, before }: Pick<Seen, 'rank' | 'before'>): number | null {
  return before === null ? null : before - rank;
}

/** What was kept; null where nothing was. */
export function seenOf(text: string | null): Seen | null {
  const [day, rank, points, before] = text?.split(' ') ?? [];
  if (day === undefined || rank === undefined || points === undefined) return null;
  return {
    day,
    rank: Number(rank),
    points: Number(points),
    before: before === undefined ? null : Number(before),
  };
}

export function textOf({ day, rank, points, before }: Seen): string {
  return [day, rank, points, ...(before === null ? [] : [before])].join(' ');
}
