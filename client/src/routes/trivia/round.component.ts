import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { RoundNow } from '$lib/api/types';
import { en } from '$lib/i18n/en';
import { enTrivia as t } from '$lib/i18n/en-trivia';
import { currentScene } from '$lib/rewards/scene';
import { readsAgain } from '../../../tests/states';
import { World, ada } from '../../../tests/world';
import { Commitments } from './commitments';
import RoundPage from './RoundPage.svelte';
import {
  ANSWER,
  ONE,
  PLACES,
  ahead,
  answered,
  channels,
  emit,
  lasting,
  open,
  option,
  over,
  props,
  show,
  signedIn,
} from './showing';
import { aRound, after, standings } from './testing';

const JOIN = 'POST /api/trivia/round-1/join';
const kept = { 'terrace-read-at': '2026-11-22T08:00:00.000Z' };

beforeEach(() => void vi.stubGlobal('isSecureContext', true));
afterEach(() => history.replaceState(null, '', '/'));

/* --- before ---------------------------------------------------------------------- */

test('a round loads, fails, and is read again with its rules, its commitment and its countdown', async () => {
  const world = await signedIn();
  await readsAgain(world, ONE, ahead({ me: null }), t.roundFailed, () => world.show(RoundPage, props));
  const timer = screen.getByRole('timer');
  expect(timer.textContent).toMatch(/^(10:00|9:5\d)$/);
  for (const text of [
    t.ruleLive('3 questions', '20 seconds'),
    t.rulePoints('100 points'),
    t.ruleLiveAward,
    aRound().commitment,
    t.players(341, '341'),
  ])
    expect(screen.getByText(text)).toBeTruthy();
  expect(screen.queryByText(t.standings)).toBeNull();
});

test('a fan joins once, and waits for the first question', async () => {
  const world = await show(ahead({ me: null }));
  const joining = new Deferred<{ body: RoundNow }>();
  world.fake.on(JOIN, () => joining.promise);
  await userEvent.click(await screen.findByRole('button', { name: t.join }));
  await userEvent.click(await screen.findByRole('button', { name: t.joining }));
  world.fake.on(ONE, () => ({ body: ahead() }));
  joining.resolve({ body: ahead() });
  expect(await screen.findByText(t.inTime, { exact: false })).toBeTruthy();
  expect(screen.getByText(t.joined)).toBeTruthy();
  expect(world.fake.requests.filter(({ name }) => name === JOIN)).toHaveLength(1);
  expect(new Commitments(ada.id).of('round-1')).toBe(aRound().commitment);
});

test('a round that is over when one joins says so', async () => {
  const world = await show(ahead({ me: null }));
  world.fake.on(JOIN, () => problem(409, 'round_over')).on(ONE, () => ({ body: over({ me: null }) }));
  await userEvent.click(await screen.findByRole('button', { name: t.join }));
  expect(await screen.findByText(t.notPlayed)).toBeTruthy();
});

test('a guest sees the round and is asked to sign in before playing', async () => {
  const world = await World.ofGuest();
  world.fake
    .on(ONE, () => ({ body: open(1, { round: aRound({ me: null }) }) }))
    .on(PLACES, () => ({ body: standings() }));
  world.show(RoundPage, props);
  expect((await screen.findByRole('link', { name: t.signIn })).getAttribute('href')).toMatch(
    /^\/sign-in\?next=/,
  );
  expect(screen.getByRole('heading', { name: lasting(1).text })).toBeTruthy();
  expect(option('Lamp Lane').getAttribute('aria-disabled')).toBe('true');
  expect(screen.getByText(t.watching)).toBeTruthy();
});

/* --- live ------------------------------------------------------------------------ */

test('a question opens by an event, is answered once, and shows what was right', async () => {
  const world = await show(ahead());
  const opens = { roundId: 'round-1', question: lasting(1), endsAt: lasting(1).endsAt, channels };
  world.fake.on(ONE, () => ({ body: open() }));
  await emit(world, { name: 'question.opened', data: opens }, 8);
  expect(await screen.findByRole('heading', { name: lasting(1).text })).toBeTruthy();
  expect(screen.getByText(t.number('1', '3'))).toBeTruthy();
  expect(world.announcer.polite).toBe(t.asks('1', '3', lasting(1).text));
  expect(currentScene(undefined).isOccupied()).toBe(true);
  // The time of the service is known once the round is read.
  document.dispatchEvent(new Event('visibilitychange'));
  await waitFor(() => expect(option('The Saltings').getAttribute('aria-disabled')).toBe('false'));

  const reply = new Deferred<{ status: number; body: unknown }>();
  world.fake.on(ANSWER, () => reply.promise);
  await userEvent.click(option('The Saltings'));
  expect(option('The Saltings').getAttribute('aria-pressed')).toBe('true');
  expect(option('The Saltings').textContent).toContain(t.sending);
  await userEvent.click(option('Lamp Lane'));
  reply.resolve({ status: 201, body: answered('1-2', null) });
  await waitFor(() => expect(option('The Saltings').textContent).toContain(t.lockedIn));
  await userEvent.click(option('The Saltings'));
  expect(world.fake.requests.filter(({ name }) => name === ANSWER).map(({ body }) => body)).toEqual([
    { questionId: 'question-1', optionId: '1-2' },
  ]);
  expect(screen.getByText(t.noteLocked)).toBeTruthy();

  const counts = [
    { optionId: '1-0', count: 0 },
    { optionId: '1-1', count: 1 },
    { optionId: '1-2', count: 211 },
    { optionId: '1-3', count: 0 },
  ];
  const closes = { roundId: 'round-1', questionId: 'question-1', correctOptionId: '1-2', counts, channels };
  await emit(world, { name: 'question.closed', data: closes }, 9);
  expect(await screen.findByText(t.result.right('90 points'))).toBeTruthy();
  for (const text of [t.chosen(211, '211'), t.rightOption, t.ownOption])
    expect(option('The Saltings').textContent).toContain(text);
  expect(option('Lamp Lane').textContent).toContain(t.chosen(1, '1'));
  expect(world.announcer.polite).toBe(t.result.right('90 points'));
  const marks = within(screen.getByRole('list', { name: t.soFar })).getAllByRole('listitem');
  expect(marks.map(({ textContent }) => textContent.trim())).toEqual([
    t.mark.right,
    t.mark.later,
    t.mark.later,
  ]);
});

test.each(Object.entries(t.why))(
  'an answer that is refused with %s is taken back and says why',
  async (code, reason) => {
    const world = await show(open());
    world.fake.on(ANSWER, () => problem(409, code));
    await waitFor(() => expect(option('Lamp Lane').getAttribute('aria-disabled')).toBe('false'));
    await userEvent.click(option('Lamp Lane'));
    expect((await screen.findByRole('alert')).textContent.trim()).toBe(reason);
    expect(option('Lamp Lane').getAttribute('aria-pressed')).toBe('false');
  },
);

test('an answer of another tab is the own answer here', async () => {
  const world = await show(open());
  const answer = { questionId: 'question-1', optionId: '1-0', answeredAt: after(2), timeMs: 1_750 };
  const { current, ...rest } = open();
  world.fake.on(ONE, () => ({ body: { ...rest, current: { ...current, answer } } }));
  document.dispatchEvent(new Event('visibilitychange'));
  await waitFor(() => expect(option('Aldham Gasworks').textContent).toContain(t.lockedIn));
  expect(option('Lamp Lane').getAttribute('aria-disabled')).toBe('true');
});

test('when a question replaces the one that has the focus, the focus is on the new one', async () => {
  const world = await show(open());
  await waitFor(() => expect(option('Lamp Lane').getAttribute('aria-disabled')).toBe('false'));
  option('Lamp Lane').focus();
  const next = { roundId: 'round-1', question: lasting(2), endsAt: lasting(2).endsAt, channels };
  await emit(world, { name: 'question.opened', data: next }, 8);
  const heading = await screen.findByRole('heading', { name: lasting(2).text });
  await waitFor(() => expect(document.activeElement).toBe(heading));
});

test('without a connection the question stays, and the page says so', async () => {
  const world = await show(open());
  world.fake.on(ONE, () => ({ status: 0 })).on(PLACES, () => ({ status: 0 }));
  document.dispatchEvent(new Event('visibilitychange'));
  expect((await screen.findByRole('alert')).textContent).toContain(en.failure.unreachable);
  expect(screen.getByRole('heading', { name: lasting(1).text })).toBeTruthy();
  expect(option('Lamp Lane').getAttribute('aria-disabled')).toBe('false');
});

test('a kept answer shows its age, and nothing can be answered', async () => {
  const world = await signedIn();
  world.fake.on(ONE, () => ({ body: open(), headers: kept }));
  world.show(RoundPage, props);
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain(world.texts.moment(new Date(kept['terrace-read-at'])));
  expect(option('Lamp Lane').getAttribute('aria-disabled')).toBe('true');
  expect(screen.queryByRole('timer')).toBeNull();
  expect(new Commitments(ada.id).of('round-1')).toBeNull();
});
