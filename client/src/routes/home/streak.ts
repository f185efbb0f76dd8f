import type { VisitStatus } from '$lib/api/types';

/** How many days are shown at once. */
const SHOWN = 7;

/** A day of the streak: those before it are kept, by a visit or by a day that may be missed. */
export interface StreakDay {
  day: number;
  state: 'done' | 'today' | 'later';
}

/** The part of the streak in which today is. */
export function streakDays({
  streak,
  visitedToday,
}: Pick<VisitStatus, 'streak' | 'visitedToday'>): StreakDay[] {
  const today = visitedToday ? Math.max(1, streak) : streak + 1;
  const first = Math.floor((today - 1) / SHOWN) * SHOWN + 1;
  return Array.from({ length: SHOWN }, (_, place) => {
    const day = first + place;
    if (day < today || (day === today && visitedToday)) return { day, state: 'done' };
    return { day, state: day === today ? 'today' : 'later' };
  });
}
