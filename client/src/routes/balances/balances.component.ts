import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { problem } from '$lib/api/testing';
import type { PointsEntry, WalletEntry } from '$lib/api/types';
import { enPages } from '$lib/i18n/en-pages';
import { enPlay } from '$lib/i18n/en-play';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World } from '../../../tests/world';
import BalancesPage from './BalancesPage.svelte';

const { balances: t } = enPlay;
const AT = '2026-11-23T12:00:00.000Z';

afterEach(() => history.replaceState(null, '', '/'));

const anEntry = (id: string, more: Partial<WalletEntry> = {}): WalletEntry => ({
  id,
  account: 'coins',
  amount: -10,
  balanceAfter: 15,
  reason: `Entry ${id}`,
  createdAt: AT,
  ...more,
});

const accounts = [
  { id: 'points', kind: 'points', currency: null, balance: 120, held: 0 },
  { id: 'coins', kind: 'coins', currency: null, balance: 15, held: 0 },
];

const wallet = (entries: WalletEntry[], nextCursor: string | null = null): object => ({
  accounts,
  entries,
  nextCursor,
  wallets: [],
  networks: [],
});

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  return world;
}

/** The row of an entry. */
const row = (text: string): HTMLElement => {
  const found = screen.getAllByRole('listitem').find((item) => item.textContent.includes(text));
  if (!found) throw new Error(`no row with ${text}`);
  return found;
};

test('the balances load, fail, and are read again', async () => {
  const world = await signedIn();
  await readsAgain(world, 'GET /api/wallets', wallet([anEntry('1')]), t.failedTitle, () =>
    world.show(BalancesPage, {}),
  );
  expect(row('Entry 1').textContent).toContain(t.left('15 coins'));
  expect(row('Entry 1').textContent).toContain(world.texts.change(-10));
  // What could not be read above the history is read with it.
  expect(screen.getByText(t.kinds.points).parentElement?.textContent).toContain('120');
});

test('each account has its balance, and money its currency', async () => {
  const world = await signedIn();
  const money = anEntry('2', { account: 'EUR', amount: 250, balanceAfter: 250 });
  const all = [...accounts, { id: 'EUR', kind: 'money', currency: 'EUR', balance: 250, held: 1300 }];
  world.fake.on('GET /api/wallets', () => ({ body: { ...wallet([money]), accounts: all } }));
  world.show(BalancesPage, {});
  const term = await screen.findByText(t.kinds.money);
  expect(within(term.parentElement ?? term).getByText('€2.50')).toBeTruthy();
  await screen.findByText('Entry 2');
  expect(row('Entry 2').textContent).toContain(t.left('€2.50'));
  // What orders hold is not part of the balance.
  expect(screen.getByText(t.held('€13.00'))).toBeTruthy();
  const link = screen.getByRole('link', { name: t.statement });
  expect(link.getAttribute('href')).toBe('/balances/statement?currency=EUR');
  expect(screen.queryByRole('link', { name: t.wallets })).toBeNull();
});

test('where the club works with networks the balances lead to the wallets', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/wallets', () => ({ body: { ...wallet([anEntry('1')]), networks: ['sandbox'] } }));
  world.show(BalancesPage, {});
  const link = await screen.findByRole('link', { name: t.wallets });
  expect(link.getAttribute('href')).toBe('/wallets');
  // There was never any money.
  expect(screen.queryByRole('link', { name: t.statement })).toBeNull();
});

test('a history goes on, and a page of it that is refused says why', async () => {
  const world = await signedIn();
  let isBusy = true;
  world.fake.on('GET /api/wallets', ({ url }) => {
    if (!new URL(url).searchParams.has('cursor')) return { body: wallet([anEntry('1')], 'next') };
    return isBusy ? problem(503, 'unavailable') : { body: wallet([anEntry('2')]) };
  });
  world.show(BalancesPage, {});
  const more = await screen.findByRole('button', { name: enPages.play.more });
  await userEvent.click(more);
  expect((await screen.findByRole('alert')).textContent).toBe(world.texts.t.failure.unavailable);
  expect(row('Entry 1')).toBeTruthy();
  isBusy = false;
  await userEvent.click(more);
  await screen.findByText('Entry 2');
  expect(screen.queryByRole('button', { name: enPages.play.more })).toBeNull();
});

test('a fan to whom nothing came in is led to the quests', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/wallets', () => ({ body: wallet([]) }));
  world.show(BalancesPage, {});
  await screen.findByRole('heading', { name: t.emptyTitle });
  expect(screen.getByRole('link', { name: t.emptyAction }).getAttribute('href')).toBe('/quests');
});

const points: PointsEntry[] = [
  {
    id: 'p1',
    amount: 5,
    reason: 'A step',
    source: 'quest_step',
    seasonId: 's1',
    leaderboardId: 'b1',
    createdAt: AT,
  },
  {
    id: 'p2',
    amount: -3,
    reason: 'Undone',
    source: 'reversal',
    seasonId: null,
    leaderboardId: null,
    createdAt: AT,
  },
];

test('the points of the tables load, fail, and are read again with their boards', async () => {
  history.replaceState(null, '', '/balances?history=points');
  const world = await signedIn();
  world.fake
    .on('GET /api/wallets', () => ({ body: wallet([]) }))
    .on('GET /api/leaderboards', () => ({ body: { leaderboards: [{ id: 'b1', name: 'Ajax' }] } }))
    .on('GET /api/seasons', () => ({ body: { seasons: [{ id: 's1', name: 'Autumn' }], nextCursor: null } }));
  const body = { total: 300, seasonTotal: 40, history: points, nextCursor: null };
  await readsAgain(world, 'GET /api/user/points', body, t.pointsFailed, () => world.show(BalancesPage, {}));
  expect(row('A step').textContent).toContain(`${t.board('Ajax')}, Autumn`);
  expect(row('A step').textContent).toContain('+5');
  expect(row('Undone').textContent).toContain(`${t.noBoard}, ${t.noSeason}`);
  expect(screen.getByText('40')).toBeTruthy();
  expect(screen.getByText('300')).toBeTruthy();
});

test('the balances ask guests to sign in', async () => {
  await asksGuests(BalancesPage, {});
});
