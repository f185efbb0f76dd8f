import { expect, test } from 'vitest';
import { periodOf } from './period';

const at = (year: number, month: number, day: number): string => new Date(year, month - 1, day).toISOString();

test.each([
  ['', '', {}],
  ['2026-11-01', '', { from: at(2026, 11, 1) }],
  ['', '2026-11-30', { to: at(2026, 12, 1) }],
  ['2026-11-05', '2026-11-05', { from: at(2026, 11, 5), to: at(2026, 11, 6) }],
  ['2026-10-24', '2026-10-25', { from: at(2026, 10, 24), to: at(2026, 10, 26) }],
  ['2026-11-06', '2026-11-05', { field: 'to', reason: 'reversed' }],
  ['soon', '', { field: 'from', reason: 'noDay' }],
  ['', '2026-13-01', { field: 'to', reason: 'noDay' }],
])('from %j to %j', (from, to, expected) => {
  expect(periodOf(from, to)).toEqual(expected);
});
