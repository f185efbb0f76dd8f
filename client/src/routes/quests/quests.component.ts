import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { Quest, VisitStatus } from '$lib/api/types';
import { enPages } from '$lib/i18n/en-pages';
import { enPlay } from '$lib/i18n/en-play';
import type { OwnEvent } from '$lib/live/own';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World } from '../../../tests/world';
import AchievementsPage from './AchievementsPage.svelte';
import QuestPage from './QuestPage.svelte';
import QuestsPage from './QuestsPage.svelte';
import { aQuest, aStep, aStreak } from './testing';

const { quests: t, achievements: a } = enPlay;

/** What the pages publish about what was earned on them. */
function earnings(world: World): OwnEvent[] {
  const events: OwnEvent[] = [];
  world.own.on((event) => events.push(event));
  return events;
}

/* --- all quests ---------------------------------------------------------------- */

/** A fan's world in which all of the page but what a test says is there. */
async function signedIn(streak: VisitStatus = aStreak()): Promise<World> {
  const world = new World();
  await world.signIn();
  world.fake
    .on('GET /api/quests', () => ({ body: { quests: [] } }))
    .on('GET /api/quests/daily-visit', () => ({ body: streak }))
    .on('GET /api/user/completed-quests', () => ({ body: { quests: [], nextCursor: null } }));
  return world;
}

test('the quests load, fail, and are read again', async () => {
  const world = await signedIn();
  const locked = aQuest({ id: 'quest-2', title: 'The final', locked: true, cadence: 'daily' });
  const done = aQuest({ id: 'quest-3', title: 'The first', status: 'completed' });
  await readsAgain(world, 'GET /api/quests', { quests: [aQuest(), locked, done] }, t.failedTitle, () =>
    world.show(QuestsPage, {}),
  );
  const card = screen.getByRole('link', { name: /Match day/ });
  expect(card.getAttribute('href')).toBe('/quests/quest-1');
  expect(within(card).getByRole('progressbar', { name: 'Match day: 0 of 2' })).toBeTruthy();
  expect(screen.getByRole('link', { name: /The final/ }).textContent).toContain(t.locked);
  expect(screen.queryByRole('link', { name: /The first/ })).toBeNull();
});

test('without open quests the packs are offered', async () => {
  const world = await signedIn();
  world.show(QuestsPage, {});
  const empty = await screen.findByRole('heading', { name: t.emptyTitle });
  const action = within(empty.parentElement ?? empty).getByRole('link', { name: enPages.play.packs });
  expect(action.getAttribute('href')).toBe('/packs');
});

test('a guest sees the quests, and is asked to sign in for a streak', async () => {
  const world = await World.ofGuest();
  world.fake.on('GET /api/quests', () => ({ body: { quests: [aQuest({ status: 'available' })] } }));
  world.show(QuestsPage, {});
  expect(await screen.findByRole('link', { name: /Match day/ })).toBeTruthy();
  expect(screen.getByRole('link', { name: t.visitSignIn }).getAttribute('href')).toBe(
    '/sign-in?next=%2Fquests',
  );
});

test('completed quests are listed, and further ones are read', async () => {
  const world = await signedIn();
  const done = (title: string) => ({
    questId: title,
    title,
    pointsEarned: 10,
    completedAt: '2026-11-20T12:00:00.000Z',
  });
  world.fake.on('GET /api/user/completed-quests', ({ url }) => {
    const isFirst = !new URL(url).searchParams.has('cursor');
    return {
      body: isFirst
        ? { quests: [done('Newest')], nextCursor: 'next' }
        : { quests: [done('Oldest')], nextCursor: null },
    };
  });
  world.show(QuestsPage, {});
  expect((await screen.findByRole('link', { name: /Newest/ })).textContent).toContain('+10');
  await userEvent.click(screen.getByRole('button', { name: enPages.play.more }));
  expect(await screen.findByRole('link', { name: /Oldest/ })).toBeTruthy();
  expect(screen.queryByRole('button', { name: enPages.play.more })).toBeNull();
});

/* --- the daily visit ------------------------------------------------------------ */

test('the streak loads, fails, and is read again', async () => {
  const world = await signedIn();
  await readsAgain(world, 'GET /api/quests/daily-visit', aStreak(), t.visitFailed, () =>
    world.show(QuestsPage, {}),
  );
  expect(screen.getByRole('progressbar', { name: t.milestone('7') }).getAttribute('aria-valuenow')).toBe('3');
  expect(screen.getByText(t.next('7', '20 points and 5 coins'))).toBeTruthy();
});

test('a visit is collected once', async () => {
  const world = await signedIn();
  const events = earnings(world);
  const answer = new Deferred<{ body: unknown }>();
  world.fake.on('POST /api/quests/daily-visit', () => answer.promise);
  world.show(QuestsPage, {});
  const button = await screen.findByRole('button', { name: t.visitNow });
  await userEvent.click(button);
  expect(button.getAttribute('aria-disabled')).toBe('true');
  await userEvent.click(button);
  const paid = { pointsAwarded: 5, coinsAwarded: 1, alreadyCompleted: false };
  answer.resolve({ body: { ...aStreak({ streak: 4, visitedToday: true }), ...paid } });
  expect(await screen.findByText(t.visited)).toBeTruthy();
  expect(world.fake.requests.filter(({ name }) => name === 'POST /api/quests/daily-visit')).toHaveLength(1);
  await waitFor(() =>
    expect(events).toMatchObject([{ name: 'earned', rewards: [{ kind: 'visit', points: 5, coins: 1 }] }]),
  );
});

test('a visit that is refused says why, and can be collected again', async () => {
  const world = await signedIn();
  const events = earnings(world);
  world.fake.on('POST /api/quests/daily-visit', () => problem(429, 'rate_limited'));
  world.show(QuestsPage, {});
  await userEvent.click(await screen.findByRole('button', { name: t.visitNow }));
  expect((await screen.findByRole('alert')).textContent).toBe(world.texts.t.failure.rate_limited);
  expect(screen.getByRole('button', { name: t.visitNow }).getAttribute('aria-disabled')).toBe('false');
  expect(events).toEqual([]);
});

/* --- one quest ------------------------------------------------------------------ */

const props = { params: { id: 'quest-1' } };

async function openQuest(quest: Quest): Promise<World> {
  const world = await signedIn();
  world.fake.on('GET /api/quests/quest-1', () => ({ body: { quest } }));
  world.show(QuestPage, props);
  await screen.findByRole('heading', { name: quest.title, level: 1 });
  return world;
}

test('a quest loads, fails, and is read again with its steps', async () => {
  const world = await signedIn();
  const steps = [
    aStep('a', { status: 'completed', completedAt: '2026-11-20T12:00:00.000Z' }),
    aStep('b', { position: 2 }),
    aStep('c', { position: 3 }),
  ];
  const quest = aQuest({ sequential: true, steps });
  await readsAgain(world, 'GET /api/quests/quest-1', { quest }, t.questFailed, () =>
    world.show(QuestPage, props),
  );
  const states = screen
    .getAllByRole('listitem')
    .map((step) => step.querySelector('.hidden-text')?.textContent);
  expect(states).toEqual([t.state.done, t.state.next, t.state.locked]);
  expect(screen.getAllByRole('button', { name: t.stepDone })).toHaveLength(1);
  expect(screen.getByText(t.waits)).toBeTruthy();
});

test('a quest is started', async () => {
  const world = await openQuest(aQuest({ status: 'available' }));
  expect(screen.queryByRole('button', { name: t.stepDone })).toBeNull();
  world.fake.on('POST /api/quests/start', () => ({ body: { quest: aQuest() } }));
  await userEvent.click(screen.getByRole('button', { name: t.start }));
  expect(await screen.findAllByRole('button', { name: t.stepDone })).toHaveLength(2);
  expect(world.announcer.polite).toBe(t.started);
});

test('a quest that needs another names it, and is not started', async () => {
  await openQuest(
    aQuest({
      status: 'available',
      locked: true,
      requires: [{ questId: 'quest-0', title: 'Welcome', completed: false }],
    }),
  );
  expect(screen.getByText(t.needs('Welcome'))).toBeTruthy();
  expect(screen.queryByRole('button', { name: t.start })).toBeNull();
});

test('a step that is done earns its points', async () => {
  const world = await openQuest(aQuest());
  const events = earnings(world);
  const step = aStep('a', { status: 'completed', completedAt: '2026-11-23T12:00:00.000Z' });
  const quest = aQuest({ steps: [step, aStep('b', { position: 2 })] });
  world.fake.on('POST /api/quests/complete-step', () => ({
    body: { step, quest, questCompleted: false, pointsAwarded: 5 },
  }));
  const [first] = screen.getAllByRole('button', { name: t.stepDone });
  if (first) await userEvent.click(first);
  expect(await screen.findByText(t.state.done)).toBeTruthy();
  expect(world.fake.requests.at(-1)?.body).toEqual({ stepId: 'a' });
  await waitFor(() =>
    expect(events).toMatchObject([{ name: 'earned', rewards: [{ kind: 'step', id: 'a', points: 5 }] }]),
  );
});

test('a step that is refused says why and stays to do', async () => {
  const world = await openQuest(aQuest());
  const events = earnings(world);
  world.fake.on('POST /api/quests/complete-step', () => problem(409, 'step_condition_not_met'));
  const [first] = screen.getAllByRole('button', { name: t.stepDone });
  if (first) await userEvent.click(first);
  expect((await screen.findByRole('alert')).textContent).toContain(enPages.failure.step_condition_not_met);
  expect(screen.getAllByRole('button', { name: t.stepDone })).toHaveLength(2);
  expect(events).toEqual([]);
});

test('a step that the service checks leads to where it is done, and a check without news says so', async () => {
  const check = { kind: 'choose_favorite_team' } as const;
  const world = await openQuest(aQuest({ steps: [aStep('a', { check })] }));
  expect(screen.getByRole('link', { name: t.goTo.choose_favorite_team }).getAttribute('href')).toBe(
    '/choose-team',
  );
  world.fake.on('POST /api/quests/check-progress', () => ({
    body: { pointsAwarded: 0, completedSteps: [], completedQuests: [] },
  }));
  await userEvent.click(screen.getByRole('button', { name: t.check }));
  await waitFor(() => expect(world.announcer.polite).toBe(t.nothingNew));
});

/* --- achievements ---------------------------------------------------------------- */

test('the achievements load, fail, and are read again', async () => {
  const world = await signedIn();
  const achievements = [
    {
      key: 'first',
      title: 'First words',
      description: 'Write a post',
      progress: 1,
      target: 1,
      unlockedAt: '2026-11-20T12:00:00.000Z',
    },
    {
      key: 'ten',
      title: 'Ten words',
      description: 'Write ten posts',
      progress: 4,
      target: 10,
      unlockedAt: null,
    },
  ];
  await readsAgain(world, 'GET /api/user/achievements', { achievements }, a.failedTitle, () =>
    world.show(AchievementsPage, {}),
  );
  const progress = screen.getByRole('progressbar', { name: 'Ten words: 4 of 10' });
  expect(progress.getAttribute('aria-valuenow')).toBe('4');
  expect(screen.getAllByRole('progressbar')).toHaveLength(1);
  expect(screen.getByText(/^Unlocked /)).toBeTruthy();
});

test('without achievements the page says so', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/user/achievements', () => ({ body: { achievements: [] } }));
  world.show(AchievementsPage, {});
  expect(await screen.findByRole('heading', { name: a.emptyTitle })).toBeTruthy();
});

test('the achievements ask guests to sign in', async () => {
  await asksGuests(AchievementsPage, {});
});
