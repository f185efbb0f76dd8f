import type { Round, RoundNow, RoundProof, RoundQuestion, StandingList } from '$lib/api/types';

/** When the live round of the tests begins. */
export const START = '2026-11-24T18:00:00.000Z';
const OPTIONS = ['Aldham Gasworks', 'Lamp Lane', 'The Saltings', 'Quay Road'];

/** An instant this long after the start of the live round. */
export function after(seconds: number): string {
  return new Date(Date.parse(START) + 1_000 * seconds).toISOString();
}

/** A live round of three questions of 20 seconds, each followed by 8 seconds. */
export function aRound(more: Partial<Round> = {}): Round {
  return {
    id: 'round-1',
    key: 'derby-quiz',
    title: 'Derby quiz',
    mode: 'live',
    teamId: null,
    startsAt: START,
    closesAt: after(84),
    questionCount: 3,
    seconds: 20,
    reveal: 8,
    maxPoints: 100,
    award: 0,
    status: 'open',
    playerCount: 341,
    commitment: 'c0'.repeat(32),
    me: { joinedAt: after(-60), answered: 0, score: 0, award: null },
    ...more,
  };
}

/** A round that one plays alone. */
export function aSoloRound(more: Partial<Round> = {}): Round {
  const alone = { mode: 'solo', title: 'Warm-up', award: 15, closesAt: after(86_400) } as const;
  return aRound({ ...alone, ...more });
}

/** The question of this number, from 1, in the times of the live round. */
export function aQuestion(number: number, more: Partial<RoundQuestion> = {}): RoundQuestion {
  const opens = 28 * (number - 1);
  return {
    id: `question-${String(number)}`,
    number,
    text: `Where was ground ${String(number)}?`,
    imageUrl: null,
    options: OPTIONS.map((text, place) => ({ id: `${String(number)}-${String(place)}`, text })),
    servedAt: after(opens),
    endsAt: after(opens + 20),
    ...more,
  };
}

/** The round as it is read this long after its start, with the question that is open then. */
export function reads(seconds: number, more: Partial<RoundNow> = {}): RoundNow {
  const number = Math.floor(seconds / 28) + 1;
  return {
    round: aRound(),
    current: { question: aQuestion(number), answer: null, result: null, correctOptionId: null, counts: null },
    serverNow: after(seconds),
    streamPosition: 7,
    ...more,
  };
}

export function standings(more: Partial<StandingList> = {}): StandingList {
  return { roundId: 'round-1', counted: 0, entries: [], me: null, nextCursor: null, ...more };
}

/** The commitment of `aProof`, which `terrace verify` accepts. */
export const COMMITMENT = '69d9ec7c8ae5d8425258706ba6b92f1802eeee712291c6c4a89997c91ca8d8c5';

const idOf = (place: number): string => `0190a6f2-7c1e-7abc-8def-${String(place).padStart(12, '0')}`;

/** The proof of a round of two questions. */
export function aProof(more: Partial<RoundProof> = {}): RoundProof {
  const option = (place: number, text: string): { id: string; text: string } => ({ id: idOf(place), text });
  return {
    roundId: 'round-1',
    commitment: COMMITMENT,
    salt: 'ab'.repeat(32),
    questions: [
      {
        id: idOf(1),
        text: 'When was the ground opened?',
        imageUrl: null,
        options: [option(2, '1887'), option(3, '1892'), option(4, '1910')],
        correctOptionId: idOf(3),
      },
      {
        id: idOf(5),
        text: 'Wer stößt an? – “Zürich”',
        imageUrl: '/content/pictures/5f.png',
        options: [option(6, 'Heim'), option(7, 'Gäste')],
        correctOptionId: idOf(6),
      },
    ],
    ...more,
  };
}

/** Lets what is on its way arrive, while the time of the test stands still. */
export async function until(isThere: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000; turn += 1) {
    if (isThere()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('it does not arrive');
}
