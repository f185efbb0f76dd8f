import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import { enHome } from '$lib/i18n/en-home';
import type { OwnEvent } from '$lib/live/own';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World, ada } from '../../../tests/world';
import HomePage from './HomePage.svelte';
import { aDashboard, aQuest, aStreak } from './testing';

const t = enHome.dashboard;
const READ = 'GET /api/dashboard';
const VISIT = 'POST /api/quests/daily-visit';

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  return world;
}

const full = aDashboard({
  rank: { global: { rank: 37, points: 195, percentile: 98, toNext: 12 }, team: null },
  quests: [aQuest('a'), aQuest('b', { status: 'available', completedSteps: 0 })],
  achievements: { unlocked: 2, total: 12, latest: [] },
  packs: { sealed: 2, owned: 3, latest: [] },
  orders: { pending: 1, paid: 1, latest: [] },
  rewards: {
    usable: 2,
    latest: ['c-2', 'c-1'].map((id) => ({
      id,
      rewardId: 'tour',
      reward: { name: 'Stadium tour', imageUrl: null },
      createdAt: '2026-11-20T12:00:00.000Z',
      expiresAt: null,
    })),
  },
  trends: { topics: [{ tag: 'derby', score: 9, postCount: 4 }], refreshedAt: null },
});

/** How often something was asked of the service. */
function times(world: World, wanted: string): number {
  return world.fake.requests.filter(({ name }) => name === wanted).length;
}

test('the start page loads, fails, and is read again with all its parts', async () => {
  const world = await signedIn();
  await readsAgain(world, READ, full, t.failedTitle, () => world.show(HomePage, {}));
  const rank = screen.getByRole('link', { name: /Your rank/ });
  expect(rank.textContent).toContain('37');
  expect(rank.textContent).toContain(t.toNext('12'));
  expect(rank.getAttribute('href')).toBe('/table?around=me');
  const ring = screen.getByRole('img', { name: new RegExp(t.levelProgress('12', '24')) });
  expect(ring.textContent).toContain('2');
  expect(screen.getByText(t.toLevel('100', '3'))).toBeTruthy();
  expect(screen.getByRole('heading', { name: t.streak(3, '3') })).toBeTruthy();
  expect(screen.getByText(t.day.done('3'))).toBeTruthy();
  expect(screen.getByText(t.milestone('7', '+20 points and +5 coins'))).toBeTruthy();
  expect(screen.getByRole('heading', { name: 'Step of a' })).toBeTruthy();
  const progress = screen.getByRole('progressbar', { name: t.quest('Quest a', '1', '3') });
  expect(progress.getAttribute('aria-valuenow')).toBe('1');
  expect(screen.getByRole('link', { name: t.goOn }).getAttribute('href')).toBe('/quests/a');
  expect(screen.getByRole('link', { name: new RegExp(t.start('Quest b')) }).getAttribute('href')).toBe(
    '/quests/b',
  );
  expect(screen.getByRole('link', { name: t.sealed(2, '2') }).getAttribute('href')).toBe('/my-packs');
  const rewards = screen.getByRole('link', { name: /^2 rewards to use/ });
  expect(rewards.getAttribute('href')).toBe('/my-rewards');
  expect(rewards.textContent).toMatch(/Stadium tour\s*$/);
  expect(screen.getByRole('link', { name: t.pendingOrders(1, '1') })).toBeTruthy();
  expect(screen.getByRole('link', { name: t.paidOrders(1, '1') })).toBeTruthy();
  expect(screen.getByRole('link', { name: t.achievements('2', '12') })).toBeTruthy();
  expect(screen.getByRole('link', { name: /#derby/ }).getAttribute('href')).toBe('/tags/derby');
  expect(times(world, VISIT)).toBe(0);
});

test('a fan who has nothing yet is led to the room and the table', async () => {
  const world = await signedIn();
  world.fake.on(READ, () => ({ body: aDashboard() }));
  world.show(HomePage, {});
  await screen.findByRole('heading', { name: t.emptyTitle });
  expect(screen.getByRole('link', { name: t.emptyAction }).getAttribute('href')).toBe('/room');
  expect(screen.getByText(t.unranked)).toBeTruthy();
});

test('a free spin that waits leads to its wheel, and one that was used does not', async () => {
  const world = await signedIn();
  const wheel = { id: 'wheel-1', key: 'daily', name: 'Daily wheel', freeSpin: true, nextFreeSpinAt: null };
  let dashboard = aDashboard({ wheel });
  world.fake.on(READ, () => ({ body: dashboard }));
  world.show(HomePage, {});
  const row = await screen.findByRole('link', { name: new RegExp(t.freeSpin) });
  expect(row.getAttribute('href')).toBe('/wheels/wheel-1');
  expect(row.textContent).toContain('Daily wheel');
  dashboard = aDashboard({
    wheel: { ...wheel, freeSpin: false, nextFreeSpinAt: '2999-01-01T00:00:00.000Z' },
  });
  world.own.publish({ name: 'resync', data: { channels: ['me'] } });
  await waitFor(() => {
    expect(screen.queryByRole('link', { name: new RegExp(t.freeSpin) })).toBeNull();
  });
});

test('a round of trivia that is open or to come leads to it', async () => {
  const world = await signedIn();
  const trivia = {
    id: 'round-1',
    key: 'derby',
    title: 'Derby questions',
    mode: 'live',
    status: 'scheduled',
    startsAt: '2999-01-01T18:00:00.000Z',
    closesAt: '2999-01-01T18:10:00.000Z',
    questionCount: 10,
    joined: false,
  } as const;
  let dashboard = aDashboard({ trivia });
  world.fake.on(READ, () => ({ body: dashboard }));
  world.show(HomePage, {});
  const row = await screen.findByRole('link', { name: /^A round of trivia starts / });
  expect(row.getAttribute('href')).toBe('/trivia/round-1');
  expect(row.textContent).toContain('Derby questions');
  dashboard = aDashboard({ trivia: { ...trivia, status: 'open' } });
  world.own.publish({ name: 'resync', data: { channels: ['me'] } });
  await screen.findByRole('link', { name: new RegExp(t.roundOpen) });
  dashboard = aDashboard();
  world.own.publish({ name: 'resync', data: { channels: ['me'] } });
  await waitFor(() => {
    expect(screen.queryByRole('link', { name: /round of trivia/ })).toBeNull();
  });
});

test('the start page asks guests to sign in', async () => {
  await asksGuests(HomePage, {});
});

test('a page from earlier has its age, and pays no visit', async () => {
  const world = await signedIn();
  const headers = { 'terrace-read-at': new Date().toISOString() };
  world.fake.on(READ, () => ({ body: { ...full, streak: aStreak({ visitedToday: false }) }, headers }));
  world.show(HomePage, {});
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toMatch(/This is from \d\d:\d\d/);
  expect(screen.getByRole('link', { name: /Your rank/ }).textContent).toContain('37');
  expect(times(world, VISIT)).toBe(0);
});

const paid = { alreadyCompleted: false, pointsAwarded: 10, coinsAwarded: 1 };

test('the visit of a new day is recorded once, and the page says what it paid', async () => {
  const world = await signedIn();
  const answer = new Deferred<{ body: unknown }>();
  world.fake
    .on(READ, () => ({ body: aDashboard({ streak: aStreak({ visitedToday: false }) }) }))
    .on(VISIT, () => answer.promise);
  world.show(HomePage, {});
  await screen.findByText(t.day.today('4'));
  answer.resolve({ body: { ...aStreak({ streak: 4 }), ...paid } });
  const said = t.paid('+10 points and +1 coin');
  await screen.findByText(said);
  expect(world.announcer.polite).toBe(said);
  expect(screen.getByText(t.day.done('4'))).toBeTruthy();
  expect(times(world, VISIT)).toBe(1);
});

test('a visit that completes a milestone is a moment', async () => {
  const world = await signedIn();
  const events: OwnEvent[] = [];
  world.own.on((event) => events.push(event));
  const nextMilestone = { days: 4, points: 20, coins: 5 };
  world.fake
    .on(READ, () => ({ body: aDashboard({ streak: aStreak({ visitedToday: false, nextMilestone }) }) }))
    .on(VISIT, () => ({ body: { ...aStreak({ streak: 4 }), ...paid, pointsAwarded: 30 } }));
  world.show(HomePage, {});
  await waitFor(() =>
    expect(events).toMatchObject([{ rewards: [{ kind: 'visit', points: 30, milestone: 4 }] }]),
  );
});

test('a visit that is refused says why, and can be recorded again', async () => {
  const world = await signedIn();
  world.fake
    .on(READ, () => ({ body: aDashboard({ streak: aStreak({ visitedToday: false }) }) }))
    .on(VISIT, () => problem(429, 'rate_limited'));
  world.show(HomePage, {});
  expect((await screen.findByRole('alert')).textContent).toBe(world.texts.t.failure.rate_limited);
  world.fake.on(VISIT, () => ({ body: { ...aStreak({ streak: 4 }), ...paid } }));
  await userEvent.click(screen.getByRole('button', { name: t.visit }));
  await screen.findByText(t.paid('+10 points and +1 coin'));
  expect(screen.queryByRole('alert')).toBeNull();
});

test('what happens to the fan is read again, and what is unread comes with the profile', async () => {
  const world = await signedIn();
  let dashboard = aDashboard();
  world.fake.on(READ, () => ({ body: dashboard }));
  world.show(HomePage, {});
  await screen.findByText(t.unranked);
  world.session.replace({ ...ada, unreadNotifications: 2 });
  expect(await screen.findByRole('link', { name: t.notifications(2, '2') })).toBeTruthy();
  expect(screen.getByRole('link', { name: t.unread('2') }).getAttribute('href')).toBe('/notifications');
  expect(times(world, READ)).toBe(1);
  dashboard = full;
  const resync: OwnEvent = { name: 'resync', data: { channels: ['me'] } };
  world.own.publish(resync);
  world.own.publish(resync);
  const list = await screen.findByRole('link', { name: t.sealed(2, '2') });
  expect(within(list).getByText(t.sealed(2, '2'))).toBeTruthy();
  expect(times(world, READ)).toBe(2);
});
