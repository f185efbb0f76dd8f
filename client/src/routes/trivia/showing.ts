import { screen, waitFor } from '@testing-library/svelte';
import { expect } from 'vitest';
import type { RoundNow, RoundQuestion, StandingList } from '$lib/api/types';
import type { LiveEvent } from '$lib/live/events';
import { World, ada } from '../../../tests/world';
import RoundPage from './RoundPage.svelte';
import { COMMITMENT, aQuestion, aRound, after, reads, standings } from './testing';

export const ONE = 'GET /api/trivia/round-1';
export const PLACES = 'GET /api/trivia/round-1/leaderboard';
export const ANSWER = 'POST /api/trivia/round-1/answers';
export const props = { params: { id: 'round-1' } };
export const channels = ['trivia:round-1'];

/** A question that stays open for as long as a test may take. */
export const lasting = (number: number): RoundQuestion => aQuestion(number, { endsAt: after(3_000) });

/** A round whose question is open. */
export function open(number = 1, more: Partial<RoundNow> = {}): RoundNow {
  const current = { answer: null, result: null, correctOptionId: null, counts: null };
  return { ...reads(1), current: { question: lasting(number), ...current }, ...more };
}

/** A round that begins in ten minutes. */
export const ahead = (more: Partial<RoundNow['round']> = {}): RoundNow => ({
  ...reads(-600),
  round: aRound({ status: 'scheduled', ...more }),
  current: null,
});

/** A round that has just ended. */
export const over = (more: Partial<RoundNow['round']> = {}): RoundNow => ({
  ...reads(90),
  round: aRound({ status: 'over', commitment: COMMITMENT, ...more }),
  current: null,
});

export async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  world.fake.on(PLACES, () => ({ body: standings() }));
  return world;
}

/** Shows a round to a fan. */
export async function show(known: RoundNow, places: Partial<StandingList> = {}): Promise<World> {
  const world = await signedIn();
  world.fake.on(ONE, () => ({ body: known })).on(PLACES, () => ({ body: standings(places) }));
  world.live.use(ada.id);
  world.show(RoundPage, props);
  await screen.findByRole('heading', { name: known.round.title, level: 1 });
  return world;
}

/** Sends an event of the stream that the page follows. */
export async function emit(world: World, event: LiveEvent, position: number): Promise<void> {
  await waitFor(() => expect(world.browser.open[0]?.channels).toEqual(channels));
  world.browser.open[0]?.emit(event, String(position));
}

export const option = (text: string): HTMLElement => screen.getByRole('button', { name: new RegExp(text) });

/** The answer to an answer; its points are null until the question closes. */
export const answered = (optionId: string, points: number | null): object => ({
  answer: { questionId: 'question-1', optionId, answeredAt: after(4.25), timeMs: 4_000 },
  result: points === null ? null : { correct: points > 0, correctOptionId: '1-2', points },
});
