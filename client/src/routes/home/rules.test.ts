import { expect, test } from 'vitest';
import { filledParts } from './level';
import { afterSeeing, riseOf, seenOf, textOf, type Seen } from './rank-change';
import { streakDays } from './streak';

test.each([
  [0, false, 1, 'today later later later later later later'],
  [3, false, 1, 'done done done today later later later'],
  [3, true, 1, 'done done done later later later later'],
  [7, true, 1, 'done done done done done done done'],
  [7, false, 8, 'today later later later later later later'],
  [12, true, 8, 'done done done done done later later'],
])('a streak of %i days, visited today: %s', (streak, visitedToday, first, states) => {
  const days = streakDays({ streak, visitedToday });
  expect(days.map(({ state }) => state).join(' ')).toBe(states);
  expect(days.map(({ day }) => day)).toEqual([0, 1, 2, 3, 4, 5, 6].map((place) => first + place));
});

test.each([
  [100, 300, 100, 0],
  [100, 300, 200, 12],
  [100, 300, 299, 23],
  [100, 300, 300, 23],
  [100, 300, 50, 0],
  [900, null, 5000, 24],
])('from %i to %s, %i points fill %i parts', (from, next, points, expected) => {
  expect(filledParts({ from, next }, points, 24)).toBe(expected);
});

const at = (day: string, rank: number, points: number) => ({ day, rank, points });

test('a place is compared with that of the visit before, all day long', () => {
  const first = afterSeeing(null, at('Mon', 42, 100));
  expect(riseOf(first)).toBeNull();
  const later = afterSeeing(first, at('Mon', 40, 110));
  expect(riseOf(later)).toBeNull();
  const next = afterSeeing(later, at('Wed', 37, 130));
  expect(riseOf(next)).toBe(3);
  const again = afterSeeing(next, at('Wed', 45, 130));
  expect(riseOf(again)).toBe(-5);
  expect(afterSeeing(again, at('Wed', 45, 130))).toEqual(again);
});

test('a new season compares with nothing', () => {
  const seen: Seen = { ...at('Mon', 3, 900), before: 5 };
  expect(riseOf(afterSeeing(seen, at('Tue', 60, 10)))).toBeNull();
});

test.each<Seen>([
  { ...at('Mon', 3, 900), before: 5 },
  { ...at('Mon', 3, 900), before: null },
])('what is kept is read as it was: %o', (seen) => {
  expect(seenOf(textOf(seen))).toEqual(seen);
});

test('nothing kept is nothing seen', () => {
  expect(seenOf(null)).toBeNull();
  expect(seenOf('Mon')).toBeNull();
});
