import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { problem } from '$lib/api/testing';
import type { Round } from '$lib/api/types';
import { en } from '$lib/i18n/en';
import { enPages } from '$lib/i18n/en-pages';
import { enTrivia as t } from '$lib/i18n/en-trivia';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World } from '../../../tests/world';
import OwnRoundsPage from './OwnRoundsPage.svelte';
import TriviaPage from './TriviaPage.svelte';
import { START, aRound, aSoloRound, after, reads } from './testing';

const LIST = 'GET /api/trivia';
const ONE = 'GET /api/trivia/round-1';
const OWN = 'GET /api/user/rounds';
const kept = { 'terrace-read-at': '2026-11-22T08:00:00.000Z' };
const page = (rounds: Round[], nextCursor: string | null = null): object => ({ rounds, nextCursor });

const next = aRound({ status: 'scheduled', me: null });
const solo = aSoloRound({ id: 'round-2', status: 'open' });
const past = aRound({
  id: 'round-3',
  title: 'Cup quiz',
  status: 'over',
  me: { joinedAt: START, answered: 3, score: 258, award: 258 },
});

/** A world whose lists hold these rounds. */
async function signedIn(current: Round[], before: Round[] = [past]): Promise<World> {
  const world = new World();
  await world.signIn();
  world.fake
    .on(LIST, ({ url }) => ({ body: page(url.includes('status=past') ? before : current) }))
    .on(ONE, () => ({ body: reads(-240, { round: next, current: null }) }));
  return world;
}

const section = (name: string): HTMLElement => {
  const heading = screen.getByRole('heading', { name, level: 2 });
  return heading.closest('section') ?? heading;
};

test('rounds are listed by what they are: open, to come and past', async () => {
  const world = await signedIn([next, solo]);
  world.fake.on('GET /api/trivia/round-1', () => ({ body: reads(-240, { round: next, current: null }) }));
  world.show(TriviaPage, {});
  const open = within(await waitFor(() => section(t.open))).getByRole('link', { name: /Warm-up/ });
  expect(open.getAttribute('href')).toBe('/trivia/round-2');
  for (const text of [t.mode.solo, t.joined]) expect(open.textContent).toContain(text);
  const coming = within(section(t.coming)).getByRole('link', { name: /Derby quiz/ });
  for (const text of [t.mode.live, t.questions(3, '3')]) expect(coming.textContent).toContain(text);
  // By the time that the service names, not by that of the device.
  await waitFor(() => expect(coming.textContent).toContain(t.startsIn('4 minutes')));
  const gone = await within(section(t.past)).findByRole('link', { name: /Cup quiz/ });
  expect(gone.textContent).toContain(t.scored('258 points'));
});

test('both lists load, fail, and are read again', async () => {
  const world = await signedIn([]);
  world.fake.on(LIST, () => problem(500, 'internal'));
  world.show(TriviaPage, {});
  expect(screen.getAllByRole('status', { name: en.state.loading })).toHaveLength(2);
  for (const title of [t.failedTitle, t.pastFailed]) {
    const heading = await screen.findByRole('heading', { name: title });
    expect(heading.closest('[role=alert]')?.textContent).toContain('request-1');
  }
  world.fake.on(LIST, ({ url }) => ({ body: page(url.includes('status=past') ? [past] : [next]) }));
  for (const button of screen.getAllByRole('button', { name: en.state.retry })) await userEvent.click(button);
  expect(await screen.findByRole('link', { name: /Derby quiz/ })).toBeTruthy();
  expect(await screen.findByRole('link', { name: /Cup quiz/ })).toBeTruthy();
  expect(screen.queryByRole('alert')).toBeNull();
});

test('without rounds the page leads to the quests', async () => {
  const world = await signedIn([], []);
  world.show(TriviaPage, {});
  const heading = await screen.findByRole('heading', { name: t.emptyTitle });
  const link = within(heading.parentElement ?? heading).getByRole('link', { name: enPages.play.quests });
  expect(link.getAttribute('href')).toBe('/quests');
  expect(screen.getByText(t.pastEmpty)).toBeTruthy();
});

test('rounds that were kept show their age and no countdown', async () => {
  const world = await signedIn([next]);
  world.fake.on(LIST, () => ({ body: page([next]), headers: kept }));
  world.show(TriviaPage, {});
  const [alert] = await screen.findAllByRole('alert');
  expect(alert?.textContent).toContain(world.texts.moment(new Date(kept['terrace-read-at'])));
  const [link] = screen.getAllByRole('link', { name: /Derby quiz/ });
  expect(link?.textContent).toContain(t.starts(''));
  expect(world.fake.requests.some(({ name }) => name === ONE)).toBe(false);
});

test('later and earlier rounds are read on demand', async () => {
  const world = await signedIn([solo]);
  world.fake
    .on('GET /api/trivia/round-2', () => ({ body: reads(1) }))
    .on(LIST, ({ url }) => {
      const isPast = url.includes('status=past');
      if (url.includes('cursor='))
        return { body: page([aRound({ id: 'far', title: isPast ? 'Oldest' : 'Last' })]) };
      return { body: page([isPast ? past : solo], 'further') };
    });
  world.show(TriviaPage, {});
  await userEvent.click(await screen.findByRole('button', { name: t.moreComing }));
  expect(await within(section(t.open)).findByRole('link', { name: /Last/ })).toBeTruthy();
  await userEvent.click(await screen.findByRole('button', { name: t.morePast }));
  expect(await within(section(t.past)).findByRole('link', { name: /Oldest/ })).toBeTruthy();
});

test('a round that has begun is listed as open', async () => {
  const soon = aRound({ status: 'scheduled', me: null, startsAt: after(0) });
  const world = await signedIn([soon], []);
  world.fake.on(ONE, () => {
    world.fake.on(LIST, ({ url }) => ({
      body: page(url.includes('status=past') ? [] : [aRound({ status: 'open' })]),
    }));
    return { body: reads(-0.1, { round: soon, current: null }) };
  });
  world.show(TriviaPage, {});
  expect(
    await within(await waitFor(() => section(t.open))).findByRole('link', { name: /Derby quiz/ }),
  ).toBeTruthy();
});

/* --- the own rounds --------------------------------------------------------------- */

test('the own rounds load, fail, and are read again with what they gave', async () => {
  const world = await signedIn([]);
  const body = page([past, aRound({ status: 'cancelled', title: 'Lost quiz' })]);
  await readsAgain(world, OWN, body, t.own.failedTitle, () => world.show(OwnRoundsPage, {}));
  const link = screen.getByRole('link', { name: /Cup quiz/ });
  expect(link.getAttribute('href')).toBe('/trivia/round-3');
  for (const text of [t.own.answered('3', '3'), t.award('258 points'), t.scored('258 points')])
    expect(link.textContent).toContain(text);
  expect(screen.getByRole('link', { name: /Lost quiz/ }).textContent).toContain(t.cancelled);
});

test('points that come meanwhile are shown', async () => {
  const world = await signedIn([]);
  const { me } = past;
  world.fake.on(OWN, () => ({ body: page([{ ...past, me: me && { ...me, award: null } }]) }));
  world.show(OwnRoundsPage, {});
  const link = await screen.findByRole('link', { name: /Cup quiz/ });
  expect(link.textContent).not.toContain(t.award('258 points'));
  world.fake.on(OWN, () => ({ body: page([past]) }));
  world.own.publish({ name: 'resync', data: { channels: ['me'] } });
  await waitFor(() => expect(link.textContent).toContain(t.award('258 points')));
});

test('without own rounds the page leads to the rounds, and further ones are read on demand', async () => {
  const world = await signedIn([]);
  world.fake.on(OWN, () => ({ body: page([]) }));
  world.show(OwnRoundsPage, {});
  expect((await screen.findByRole('link', { name: t.own.emptyAction })).getAttribute('href')).toBe('/trivia');
});

test('own rounds that were kept show their age', async () => {
  const world = await signedIn([]);
  world.fake.on(OWN, () => ({ body: page([past]), headers: kept }));
  world.show(OwnRoundsPage, {});
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain(world.texts.moment(new Date(kept['terrace-read-at'])));
  expect(screen.getByRole('link', { name: /Cup quiz/ })).toBeTruthy();
});

test('a guest is asked to sign in before the own rounds', async () => {
  expect.hasAssertions();
  await asksGuests(OwnRoundsPage, {});
});
