import { expect, test } from 'vitest';
import type { LeaderboardEntry, LeaderboardPage } from '$lib/api/types';
import { afterScores, renewedTable } from './scores';

const reachedAt = '2026-11-23T12:00:00.000Z';

function row(id: string, rank: number, points: number): LeaderboardEntry {
  return { rank, points, reachedAt, user: { id, username: id, displayName: id, pictureUrl: null } };
}

function table(rows: LeaderboardEntry[], more: Partial<LeaderboardPage> = {}): LeaderboardPage {
  return {
    leaderboard: { id: 'b1', kind: 'global', teamId: null, name: 'Global' },
    season: { id: 's', key: 's', name: 'S', status: 'active', startsAt: reachedAt, endsAt: null },
    entries: rows,
    me: null,
    total: rows.length,
    version: 1,
    nextCursor: null,
    previousCursor: null,
    streamPosition: 1,
    ...more,
  };
}

const three = [row('a', 1, 30), row('b', 2, 20), row('c', 3, 10)];
const places = ({ entries }: LeaderboardPage): string[] =>
  entries.map(({ user, rank, points }) => `${String(rank)} ${user?.id ?? '?'} ${String(points)}`);

test.each([
  ['a fan climbs', { userId: 'c', points: 40, rank: 1 }, ['1 c 40', '2 a 30', '3 b 20']],
  [
    'who reaches points later stands below',
    { userId: 'c', points: 20, rank: 2 },
    ['1 a 30', '2 b 20', '2 c 20'],
  ],
  ['the same again changes nothing', { userId: 'b', points: 20, rank: 2 }, ['1 a 30', '2 b 20', '3 c 10']],
  ['points are taken back', { userId: 'a', points: 5, rank: 3 }, ['1 b 20', '2 c 10', '3 a 5']],
])('%s', (_, score, expected) => {
  const { page, isKnown } = afterScores(table(three), [score], null);
  expect(places(page)).toEqual(expected);
  expect(isKnown).toBe(true);
});

test.each([
  ['a fan who is not shown comes in', { userId: 'd', points: 25, rank: 2 }, null],
  ['a hidden fan changes', { userId: null, points: 25, rank: 2 }, null],
  ['a shown fan leaves', { userId: 'a', points: null, rank: null }, null],
  ['a fan comes last on a whole table', { userId: 'd', points: 1, rank: 4 }, null],
])('the table is read again when %s', (_, score, nextCursor) => {
  expect(afterScores(table(three, { nextCursor }), [score], null).isKnown).toBe(false);
});

test('a fan far below changes nothing that is shown', () => {
  const { page, isKnown } = afterScores(
    table(three, { nextCursor: 'n' }),
    [{ userId: 'x', points: 1, rank: 9 }],
    null,
  );
  expect(page.entries).toEqual(three);
  expect(isKnown).toBe(true);
});

test('the reader’s own place follows, also when others move', () => {
  const me = { rank: 2, points: 20, percentile: 50, toNext: 10 };
  const climbed = afterScores(table(three, { me }), [{ userId: 'b', points: 28, rank: 2 }], 'b');
  expect(climbed.page.me).toMatchObject({ rank: 2, points: 28, toNext: 2 });
  const passed = afterScores(table(three, { me }), [{ userId: 'c', points: 25, rank: 2 }], 'b');
  expect(passed.page.me).toMatchObject({ rank: 3, points: 20, toNext: 5 });
  const leads = afterScores(table(three, { me }), [{ userId: 'b', points: 99, rank: 1 }], 'b');
  expect(leads.page.me).toMatchObject({ rank: 1, toNext: null });
});

test('the distance of a reader who is not shown is read again', () => {
  const me = { rank: 40, points: 2, percentile: 1, toNext: 3 };
  const { page, isKnown } = afterScores(
    table(three, { me, nextCursor: 'n' }),
    [{ userId: 'z', points: 4, rank: 38 }],
    'z',
  );
  expect(page.me).toMatchObject({ rank: 38, points: 4 });
  expect(isKnown).toBe(false);
});

test('rows below the first page stay when the table is read again', () => {
  const shown = table([...three, row('d', 4, 5)], { nextCursor: 'later' });
  const read = table([row('b', 1, 50), row('a', 2, 30), row('c', 3, 10)], { nextCursor: 'first' });
  expect(places(renewedTable(shown, read))).toEqual(['1 b 50', '2 a 30', '3 c 10', '4 d 5']);
  expect(renewedTable(shown, read).nextCursor).toBe('later');
  expect(renewedTable(table(three), read)).toBe(read);
});
