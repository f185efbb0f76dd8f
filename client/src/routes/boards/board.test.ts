import { expect, test } from 'vitest';
import { FakeApi, problem } from '$lib/api/testing';
import type { LeaderboardEntry } from '$lib/api/types';
import { Board, isListed } from './board.svelte';

function entry(rank: number, id: string | null): LeaderboardEntry {
  const user = id === null ? null : { id, username: id, displayName: id, pictureUrl: null };
  return { rank, points: 100 - rank, user, reachedAt: '2026-11-23T12:00:00.000Z' };
}

function page(entries: LeaderboardEntry[], nextCursor: string | null, isMember = false): { body: unknown } {
  return {
    body: {
      leaderboard: { id: 'board-1', kind: 'team', teamId: 'team-1', name: 'Ajax' },
      season: { id: 'season-1', name: 'Season', startsAt: '2026-01-01T00:00:00.000Z', endsAt: null },
      entries,
      me: isMember ? { rank: 9, points: 0, percentile: 1, toNext: 4 } : null,
      total: 9,
      version: 1,
      nextCursor,
      streamPosition: 1,
    },
  };
}

test('the next places are added once', async () => {
  const fake = new FakeApi().on('GET /api/leaderboard', (request) =>
    new URL(request.url).searchParams.has('cursor')
      ? page([entry(2, 'b')], null)
      : page([entry(1, 'a')], 'next'),
  );
  const board = new Board(fake.api, 'board-1');
  await board.page.load();
  await Promise.all([board.more(), board.more()]);
  await board.more();
  expect(board.page.value?.entries.map(({ rank }) => rank)).toEqual([1, 2]);
  expect(fake.requests).toHaveLength(2);
});

test('a failure leaves the places that are known', async () => {
  const fake = new FakeApi().on('GET /api/leaderboard', (request) =>
    new URL(request.url).searchParams.has('cursor')
      ? problem(429, 'rate_limited')
      : page([entry(1, 'a')], 'n'),
  );
  const board = new Board(fake.api, null);
  await board.page.load();
  await board.more();
  expect(board.page.value?.entries).toHaveLength(1);
  expect(board.further.failure?.message).toBe('429 rate_limited');
});

test('joining reads the table again', async () => {
  let isMember = false;
  const fake = new FakeApi()
    .on('GET /api/leaderboard', () => page([], null, isMember))
    .on('POST /api/leaderboard/join', () => {
      isMember = true;
      return { body: {} };
    });
  const board = new Board(fake.api, 'board-1');
  await board.page.load();
  expect(board.page.value?.me).toBeNull();
  await board.join('board-1');
  expect(board.page.value?.me?.rank).toBe(9);
  expect(board.isJoining).toBe(false);
});

test('a fan without a name is not the reader', () => {
  expect(isListed([entry(1, null), entry(2, 'a')], 'a')).toBe(true);
  expect(isListed([entry(1, null)], 'a')).toBe(false);
});
