import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { problem } from '$lib/api/testing';
import type { LeaderboardEntry, LeaderboardPage } from '$lib/api/types';
import { enBoards } from '$lib/i18n/en-boards';
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
      season: season('1', 'active'),
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

const season = (key: string, status: 'active' | 'closed') => ({
  id: `s${key}`,
  key,
  name: `Season ${key}`,
  status,
  startsAt: '2026-01-01T00:00:00.000Z',
  endsAt: null,
});

async function openTable(
  reply: (request: Request) => { body?: unknown },
  seasons = [season('1', 'active')],
): Promise<World> {
  const world = new World();
  await world.signIn();
  world.fake
    .on('GET /api/leaderboards', () => ({ body: { leaderboards: [] } }))
    .on('GET /api/seasons', () => ({ body: { seasons, nextCursor: null } }))
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
  expect(await screen.findByText('38 to the next place')).toBeTruthy();
  entries = [entry(37, ada.id), entry(38, 'c')];
  await userEvent.click(screen.getByRole('button', { name: enBoards.table.more }));
  expect(await screen.findByRole('row', { name: /Fan c/ })).toBeTruthy();
  expect(screen.queryByText('38 to the next place')).toBeNull();
});

test('who is not listed can join', async () => {
  let me: NonNullable<LeaderboardPage['me']> | null = null;
  const world = await openTable(() => page({ entries: [entry(1, 'a')], me }));
  world.fake.on('POST /api/leaderboard/join', () => {
    me = { rank: 2, points: 0, percentile: 0, toNext: null };
    return { body: {} };
  });
  await userEvent.click(await screen.findByRole('button', { name: enBoards.table.join }));
  expect(await screen.findByRole('link', { name: enBoards.table.showOwn('2') })).toBeTruthy();
  expect(world.announcer.polite).toBe(enBoards.table.joined);
});

test('an empty table says what fills it', async () => {
  await openTable(() => page({ total: 0 }));
  expect(await screen.findByRole('heading', { name: enBoards.table.emptyTitle })).toBeTruthy();
  expect(screen.getByRole('link', { name: enBoards.table.emptyAction }).getAttribute('href')).toBe('/room');
});

test('a failed table says why', async () => {
  await openTable(() => problem(500, 'internal'));
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain('request-1');
  expect(alert.textContent).toContain(enBoards.table.failedTitle);
});

test('a season that is over is shown by its own address, and does not change', async () => {
  const asked: (string | null)[] = [];
  const world = await openTable(
    (request) => {
      asked.push(new URL(request.url).searchParams.get('seasonId'));
      return page({ entries: [entry(1, 'a')] });
    },
    [season('2', 'active'), season('1', 'closed')],
  );
  const choice = await screen.findByRole('combobox', { name: enBoards.table.season });
  expect((choice as HTMLSelectElement).value).toBe('s2');
  await userEvent.selectOptions(choice, 'Season 1');
  expect(world.router.query.get('season')).toBe('s1');
  await screen.findByRole('row', { name: /Fan a/ });
  expect(asked).toEqual([null, 's1']);
  await userEvent.selectOptions(choice, 'Season 2');
  expect(world.router.query.get('season')).toBeNull();
});

test('the rows around the reader go on in both directions', async () => {
  history.replaceState(null, '', '/table?around=me');
  const rows = {
    me: page({
      entries: [entry(37, ada.id)],
      me: { rank: 37, points: 63, percentile: 0.9, toNext: 38 },
      previousCursor: 'up',
      nextCursor: 'down',
    }),
    up: page({ entries: [entry(36, 'c')] }),
    down: page({ entries: [entry(38, 'd')] }),
  };
  await openTable(({ url }) => {
    const { searchParams } = new URL(url);
    return rows[(searchParams.get('cursor') ?? searchParams.get('around')) as keyof typeof rows];
  });
  await userEvent.click(await screen.findByRole('button', { name: enBoards.table.earlier }));
  await userEvent.click(screen.getByRole('button', { name: enBoards.table.more }));
  await screen.findByRole('row', { name: /Fan d/ });
  const places = screen.getAllByRole('row').map((row) => within(row).queryAllByRole('cell')[0]?.textContent);
  expect(places.slice(1)).toEqual(['36', '37', '38']);
  expect(screen.queryByRole('button', { name: enBoards.table.earlier })).toBeNull();
  expect(screen.getByRole('link', { name: enBoards.table.toTop }).getAttribute('href')).toBe('/table');
  history.replaceState(null, '', '/');
});
