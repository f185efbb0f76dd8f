import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { Reward } from '$lib/api/types';
import { enOwn } from '$lib/i18n/en-own';
import { enPages } from '$lib/i18n/en-pages';
import { readsAgain } from '../../../tests/states';
import { World, ada } from '../../../tests/world';
import RewardPage from './RewardPage.svelte';
import RewardsPage from './RewardsPage.svelte';
import { aClaim, aReward } from './testing';

const { rewards: t } = enOwn;
const LIST = 'GET /api/rewards';
const ONE = 'GET /api/rewards/reward-1';
const CLAIM = 'POST /api/rewards/reward-1/claim';
const props = { params: { id: 'reward-1' } };
const kept = { 'terrace-read-at': '2026-11-22T08:00:00.000Z' };

afterEach(() => history.replaceState(null, '', '/'));

async function signedIn(coins = 100): Promise<World> {
  const world = new World();
  await world.signIn();
  world.session.replace({ ...ada, balances: { coins, points: 0 } });
  return world;
}

const page = (rewards: Reward[], nextCursor: string | null = null): object => ({ rewards, nextCursor });

/* --- all rewards ----------------------------------------------------------------- */

test('the rewards load, fail, and are read again', async () => {
  const world = await signedIn();
  const body = page([
    aReward({ remaining: 12 }),
    aReward({ id: 'reward-2', name: 'A tour', cost: null, claimable: false, why: 'requirement_not_met' }),
  ]);
  await readsAgain(world, LIST, body, t.failedTitle, () => world.show(RewardsPage, {}));
  const open = screen.getByRole('link', { name: /Ten percent off/ });
  expect(open.getAttribute('href')).toBe('/rewards/reward-1');
  for (const text of ['40 coins', t.remaining('12'), enPages.play.code(1, '1')])
    expect(open.textContent).toContain(text);
  const locked = screen.getByRole('link', { name: /A tour/ });
  for (const text of [t.free, t.short.requirement_not_met]) expect(locked.textContent).toContain(text);
});

test('guests read the rewards without reasons', async () => {
  const world = await World.ofGuest();
  world.fake.on(LIST, () => ({
    body: page([aReward({ claimable: false, why: 'authentication_required' })]),
  }));
  world.show(RewardsPage, {});
  const link = await screen.findByRole('link', { name: /Ten percent off/ });
  for (const text of Object.values(t.short)) expect(link.textContent).not.toContain(text);
});

test('without rewards the page leads to the quests', async () => {
  const world = await signedIn();
  world.fake.on(LIST, () => ({ body: page([]) }));
  world.show(RewardsPage, {});
  const heading = await screen.findByRole('heading', { name: t.emptyTitle });
  const empty = heading.parentElement ?? heading;
  expect(within(empty).getByRole('link', { name: enPages.play.quests }).getAttribute('href')).toBe('/quests');
});

test('rewards that were kept show their age', async () => {
  const world = await signedIn();
  world.fake.on(LIST, () => ({ body: page([aReward()]), headers: kept }));
  world.show(RewardsPage, {});
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain(world.texts.moment(new Date(kept['terrace-read-at'])));
  expect(screen.getByRole('link', { name: /Ten percent off/ })).toBeTruthy();
});

test('a list goes on, and what the fan earns or claims changes it', async () => {
  const world = await signedIn();
  const second = aReward({ id: 'reward-2', name: 'A tour' });
  let first = aReward({ claimable: false, why: 'insufficient_balance' });
  world.fake.on(LIST, ({ url }) => ({
    body: new URL(url).searchParams.has('cursor') ? page([second]) : page([first], 'next'),
  }));
  world.show(RewardsPage, {});
  await userEvent.click(await screen.findByRole('button', { name: t.more }));
  await screen.findByRole('link', { name: /A tour/ });
  first = aReward();
  world.own.publish({
    name: 'balance.changed',
    data: { channels: ['me'], account: 'coins', balance: 100, changedAt: '2026-11-23T12:01:00.000Z' },
  });
  await waitFor(() => expect(screen.queryByText(t.short.insufficient_balance)).toBeNull());
  expect(await screen.findByRole('link', { name: /A tour/ })).toBeTruthy();
});

/* --- one reward ------------------------------------------------------------------ */

async function open(reward: Reward, coins = 100): Promise<World> {
  const world = await signedIn(coins);
  world.fake.on(ONE, () => ({ body: { reward } }));
  world.show(RewardPage, props);
  await screen.findByRole('heading', { name: reward.name });
  return world;
}

const claimButton = (): HTMLElement => screen.getByRole('button', { name: /^Claim/ });

test('a reward loads, fails, and is read again', async () => {
  const world = await signedIn();
  const reward = aReward({ remaining: 12, closesAt: '2026-12-24T12:00:00.000Z' });
  await readsAgain(world, ONE, { reward }, t.rewardFailed, () => world.show(RewardPage, props));
  expect(screen.getByRole('heading', { name: 'Ten percent off', level: 1 })).toBeTruthy();
  const closes = t.closes(world.texts.dateTime(new Date('2026-12-24T12:00:00.000Z')));
  for (const text of [`${t.remaining('12')}.`, t.limit.season(1, '1'), t.valid('30 days'), closes]) {
    expect(screen.getByText(text)).toBeTruthy();
  }
  expect(claimButton().textContent).toContain('40 coins');
  expect(screen.getByText(t.after('60 coins'))).toBeTruthy();
});

test('a reward that was kept shows its age', async () => {
  const world = await signedIn();
  world.fake.on(ONE, () => ({ body: { reward: aReward() }, headers: kept }));
  world.show(RewardPage, props);
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain(world.texts.moment(new Date(kept['terrace-read-at'])));
  expect(screen.getByText('Off one purchase at the counter.')).toBeTruthy();
});

test('a guest signs in first', async () => {
  const world = await World.ofGuest();
  const reward = aReward({ claimable: false, why: 'authentication_required' });
  world.fake.on(ONE, () => ({ body: { reward } }));
  world.show(RewardPage, props);
  expect(await screen.findByRole('link', { name: t.signIn })).toBeTruthy();
});

test('what is missing says so, with the way to it', async () => {
  await open(
    aReward({
      claimable: false,
      why: 'requirement_not_met',
      requires: [
        { kind: 'level', value: 2, met: true },
        { kind: 'quest', value: 'q1', title: 'Welcome', met: false },
      ],
    }),
  );
  const met = screen.getByText('Level 2').closest('li');
  expect(met?.textContent).toContain(t.met);
  expect(met?.querySelector('a')).toBeNull();
  const unmet = screen.getByText(t.requirement.quest('Welcome')).closest('li');
  expect(unmet?.textContent).toContain(t.unmet);
  expect(unmet?.querySelector('a')?.getAttribute('href')).toBe('/quests/q1');
  expect(claimButton().hasAttribute('disabled')).toBe(true);
  expect(screen.getByText(t.why.requirement_not_met)).toBeTruthy();
});

test('too few coins say how many are missing, and how to earn them', async () => {
  await open(aReward({ claimable: false, why: 'insufficient_balance' }), 15);
  expect(claimButton().hasAttribute('disabled')).toBe(true);
  expect(screen.getByText(t.lacking('25 coins'), { exact: false })).toBeTruthy();
  expect(screen.getByRole('link', { name: t.howToEarn }).getAttribute('href')).toBe('/quests');
});

test('one tap is one claim, which leads to its page and is paid', async () => {
  const world = await open(aReward());
  const answer = new Deferred<{ status: number; body: object }>();
  const keys: (string | null)[] = [];
  world.fake
    .on(CLAIM, ({ headers }) => {
      keys.push(headers.get('idempotency-key'));
      return answer.promise;
    })
    .on('GET /api/user', () => ({ body: { ...ada, balances: { coins: 60, points: 0 } } }));
  await userEvent.click(claimButton());
  const waiting = await screen.findByRole('button', { name: t.claiming });
  expect(waiting.getAttribute('aria-disabled')).toBe('true');
  await userEvent.click(waiting);
  answer.resolve({ status: 201, body: { claim: aClaim() } });
  await waitFor(() => expect(world.router.path).toBe('/my-rewards/claim-1'));
  expect(keys).toHaveLength(1);
  expect(keys[0]).toBeTruthy();
  expect(world.session.fan?.balances.coins).toBe(60);
  expect(world.announcer.polite).toBe(t.claimed);
});

test('a claim whose answer is lost is claimed again under its key, also if the reward seems closed then', async () => {
  const reward = aReward();
  const world = await open(reward);
  const keys: (string | null)[] = [];
  world.fake.on(CLAIM, ({ headers }) => {
    keys.push(headers.get('idempotency-key'));
    return keys.length === 1 ? { status: 0 } : { status: 201, body: { claim: aClaim() } };
  });
  world.fake.on(ONE, () => ({ body: { reward: { ...reward, claimable: false, why: 'limit_reached' } } }));
  await userEvent.click(claimButton());
  expect(await screen.findByText(t.maybeClaimed)).toBeTruthy();
  await waitFor(() => expect(claimButton().hasAttribute('disabled')).toBe(false));
  await userEvent.click(claimButton());
  await waitFor(() => expect(world.router.path).toBe('/my-rewards/claim-1'));
  expect(new Set(keys).size).toBe(1);
});

test.each([
  ['sold_out', t.why.sold_out],
  ['limit_reached', t.reached.season],
  ['account_too_new', t.why.account_too_new],
  ['reward_closed', t.why.reward_closed],
  ['rate_limited', null],
])('a claim that is refused with %s says why, and the reward is read again', async (code, expected) => {
  const reward = aReward();
  const world = await open(reward);
  world.fake.on(CLAIM, () => problem(code === 'rate_limited' ? 429 : 409, code));
  world.fake.on(ONE, () => ({
    body: { reward: code === 'rate_limited' ? reward : { ...reward, claimable: false, why: code } },
  }));
  await userEvent.click(claimButton());
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toBe(expected ?? world.texts.t.failure.rate_limited);
  expect(world.router.path).not.toBe('/my-rewards/claim-1');
  const isOut = expected !== null;
  await waitFor(() => expect(claimButton().hasAttribute('disabled')).toBe(isOut));
  // It is said once.
  if (expected !== null) expect(screen.getAllByText(expected)).toHaveLength(1);
});
