import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { problem } from '$lib/api/testing';
import type { LeaderboardEntry, LeaderboardPage } from '$lib/api/types';
import { en } from '$lib/i18n/en';
import { World, ada } from '../../../tests/world';
import TablePage from './TablePage.svelte';

function entry(rank: number, id: string): LeaderboardEntry {
  const user = { id, username: id, displayName: `Fan ${id}`, pictureUrl: null };
  return { rank, points: 100 - rank, user, reachedAt: '2026-11-23T12:00:00.000Z' };
}

function page(more: Partial<LeaderboardPage>): { body: LeaderboardPage } {
  return {
    body: {
      leaderboard: { id: 'b1', kind: 'global', teamId: null, name: 'Global' },
      season: {
        id: 's1',
        key: '1',
        name: 'Season 1',
        status: 'active',
        startsAt: '2026-01-01T00:00:00.000Z',
        endsAt: null,
      },
      entries: [],
      me: null,
      total: 2318,
      version: 1,
      nextCursor: null,
      previousCursor: null,
      streamPosition: 1,
      ...more,
    },
  };
}

async function openTable(reply: () => { body?: unknown }): Promise<World> {
  const world = new World();
  await world.signIn();
  world.fake
    .on('GET /api/leaderboards', () => ({ body: { leaderboards: [] } }))
    .on('GET /api/leaderboard', reply);
  world.show(TablePage, {});
  return world;
}

test('places are rows of a table with the fan as their head', async () => {
  await openTable(() => page({ entries: [entry(1, 'a'), entry(1, 'b')] }));
  const row = await screen.findByRole('row', { name: /Fan b/ });
  expect(within(row).getByRole('rowheader').textContent).toContain('Fan b');
  expect(
    within(row)
      .getAllByRole('cell')
      .map((cell) => cell.textContent),
  ).toEqual(['1', '99']);
});

test('the own row is pinned until it is among those that are shown', async () => {
  let entries = [entry(1, 'a')];
  const me = { rank: 37, points: 63, percentile: 0.9, toNext: 38 };
  await openTable(() => page({ entries, me, nextCursor: entries.length === 1 ? 'next' : null }));
  expect(await screen.findAllByText('38 to the next place')).toHaveLength(2);
  entries = [entry(37, ada.id), entry(38, 'c')];
  await userEvent.click(screen.getByRole('button', { name: en.table.more }));
  expect(await screen.findByRole('row', { name: /Fan c/ })).toBeTruthy();
  expect(screen.getAllByText('38 to the next place')).toHaveLength(1);
});

test('who is not listed can join', async () => {
  let me: NonNullable<LeaderboardPage['me']> | null = null;
  const world = await openTable(() => page({ entries: [entry(1, 'a')], me }));
  world.fake.on('POST /api/leaderboard/join', () => {
    me = { rank: 2, points: 0, percentile: 0, toNext: null };
    return { body: {} };
  });
  await userEvent.click(await screen.findByRole('button', { name: en.table.join }));
  expect(await screen.findByRole('heading', { name: en.table.rank })).toBeTruthy();
  expect(world.announcer.polite).toBe(en.table.joined);
});

test('an empty table says what fills it', async () => {
  await openTable(() => page({ total: 0 }));
  expect(await screen.findByRole('heading', { name: en.table.emptyTitle })).toBeTruthy();
  expect(screen.getByRole('link', { name: en.table.emptyAction }).getAttribute('href')).toBe('/room');
});

test('a failed table says why', async () => {
  await openTable(() => problem(500, 'internal'));
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain('request-1');
  expect(alert.textContent).toContain(en.table.failedTitle);
});
