import { expect, test } from 'vitest';
import type { CurrentQuestion, RoundNow } from '$lib/api/types';
import {
  afterAnswer,
  afterClosing,
  afterOpening,
  awaitsAward,
  dueAt,
  isFinished,
  laterOf,
  letterOf,
  markOf,
  opensAt,
  scoreAt,
  scoreOf,
  secondsUntil,
  takesAnswers,
} from './rules';
import { START, aQuestion, aRound, aSoloRound, after, reads } from './testing';

const T = Date.parse(START);
const channels = ['trivia:round-1'];
const answer = (optionId: string, timeMs = 4_000) => ({
  questionId: 'question-1',
  optionId,
  answeredAt: after(4.25),
  timeMs,
});

/** A change of the question that is shown. */
const shown = (change: Partial<CurrentQuestion>, seconds = 1): RoundNow => {
  const { current, ...rest } = reads(seconds);
  return { ...rest, current: current && { ...current, ...change } };
};

// Contract part 2 §8: floor(maxPoints × (2L − t) / 2L).
test.each([
  [100, 20, 0, 100],
  [100, 20, 1, 99],
  [100, 20, 4_000, 90],
  [100, 20, 20_000, 50],
  [50, 8, 333, 48],
  [1, 5, 1, 0],
  [10_000, 120, 119_999, 5_000],
])(
  'a right answer of %i points and %i seconds scores after %i ms %i',
  (maxPoints, seconds, timeMs, score) => {
    expect(scoreOf({ maxPoints, seconds }, timeMs)).toBe(score);
  },
);

test.each([
  [0, 100],
  [250, 100],
  [4_250, 90],
  [20_250, 50],
  [60_000, 50],
])('an answer that arrives %i ms after its question scores %i', (ms, score) => {
  expect(scoreAt(aRound(), aQuestion(1), T + ms)).toBe(score);
});

test.each([
  [0, 20],
  [1, 20],
  [1_000, 19],
  [19_001, 1],
  [20_000, 0],
  [25_000, 0],
])('%i ms into a question %i seconds are left', (ms, left) => {
  expect(secondsUntil(aQuestion(1).endsAt, T + ms)).toBe(left);
  expect(secondsUntil(Date.parse(aQuestion(1).endsAt), T + ms)).toBe(left);
});

test.each([
  [-1, false],
  [0, true],
  [20_500, true],
  [20_501, false],
])('%i ms into a question it takes answers: %s', (ms, expected) => {
  expect(takesAnswers(aQuestion(1), T + ms)).toBe(expected);
});

test('live questions open by the time', () => {
  expect([1, 2, 3].map((number) => opensAt(aRound(), number) - T)).toEqual([0, 28_000, 56_000]);
});

test.each<[string, Pick<RoundNow, 'round' | 'current'>, number | null]>([
  ['that is to come', { round: aRound({ status: 'scheduled' }), current: null }, 0],
  ['whose question is open', reads(1), 20.7],
  ['whose question has closed', shown({ correctOptionId: '1-0' }), 28],
  ['whose last question has closed', shown({ correctOptionId: '3-0' }, 57), 84],
  ['without a question yet', { round: aRound(), current: null }, 0],
  ['that one plays alone', { round: aSoloRound(), current: null }, 86_400],
  ['that one plays alone, with an open question', { ...reads(1), round: aSoloRound() }, 20.7],
  [
    'that one plays alone, after an answer',
    { ...shown({ correctOptionId: '1-0' }), round: aSoloRound() },
    86_400,
  ],
  ['that is over', { round: aRound({ status: 'over' }), current: null }, null],
  ['that was cancelled', { round: aRound({ status: 'cancelled' }), current: null }, null],
])('of a round %s the next thing is due in time', (_, known, seconds) => {
  expect(dueAt(known)).toBe(seconds === null ? null : T + 1_000 * seconds);
});

test('a question that opens replaces the one before, and an earlier one does not', () => {
  const ahead: RoundNow = { ...reads(-5), round: aRound({ status: 'scheduled' }), current: null };
  const first = afterOpening(ahead, aQuestion(1));
  expect([first.round.status, first.current?.question.number]).toEqual(['open', 1]);
  const second = afterOpening(first, aQuestion(2));
  expect(second.current).toMatchObject({ question: { number: 2 }, answer: null, correctOptionId: null });
  expect(afterOpening(second, aQuestion(1))).toBe(second);
  expect(afterOpening(second, aQuestion(2))).toBe(second);
  for (const status of ['over', 'cancelled'] as const) {
    const ended: RoundNow = { ...first, round: aRound({ status }), current: null };
    expect(afterOpening(ended, aQuestion(3))).toBe(ended);
  }
});

const closing = {
  roundId: 'round-1',
  questionId: 'question-1',
  correctOptionId: '1-2',
  counts: [{ optionId: '1-2', count: 3 }],
  channels,
};

test.each([
  ['a right answer', answer('1-2'), { correct: true, correctOptionId: '1-2', points: 90 }, 90],
  ['a wrong answer', answer('1-0'), { correct: false, correctOptionId: '1-2', points: 0 }, 0],
  ['no answer', null, null, 0],
])('a question closes after %s', (_, given, result, score) => {
  const closed = afterClosing(shown({ answer: given }), closing);
  expect(closed.current).toMatchObject({ result, correctOptionId: '1-2', counts: closing.counts });
  expect(closed.round.me?.score).toBe(score);
  // The event comes again, and adds nothing.
  expect(afterClosing(closed, closing)).toBe(closed);
});

test('the close of another question changes nothing', () => {
  const known = reads(30);
  expect(afterClosing(known, closing)).toBe(known);
});

test('an answer counts once, with its result where that is known', () => {
  const live = afterAnswer(reads(1), answer('1-2'), null);
  expect(live.round.me).toMatchObject({ answered: 1, score: 0 });
  expect(live.current).toMatchObject({ answer: answer('1-2'), correctOptionId: null });
  expect(afterAnswer(live, answer('1-2'), null)).toBe(live);
  const result = { correct: true, correctOptionId: '1-2', points: 90 };
  const solo = afterAnswer({ ...reads(1), round: aSoloRound() }, answer('1-2'), result);
  expect(solo.round.me?.score).toBe(90);
  expect(solo.current?.correctOptionId).toBe('1-2');
  expect(afterAnswer(reads(30), answer('1-2'), null).current?.answer).toBeNull();
});

test('what events said meanwhile is not undone by what was read before', () => {
  const [first, second] = [reads(1), reads(30)];
  expect(laterOf(first, null)).toBe(first);
  expect(laterOf(second, first)).toBe(second);
  expect(laterOf(first, second)).toEqual(second);
  const closed = afterClosing(first, closing);
  expect(laterOf(first, closed)).toEqual(closed);
  expect(laterOf(second, closed)).toBe(second);
  const ahead: RoundNow = { ...first, round: aRound({ status: 'scheduled' }), current: null };
  expect(laterOf(ahead, first)).toEqual(first);
  const over: RoundNow = { ...first, round: aRound({ status: 'over' }), current: null };
  expect(laterOf(over, second)).toBe(over);
});

test('a solo round is finished with the result of its last question, and its points are due then', () => {
  const solo = (change: Partial<CurrentQuestion>, seconds: number): RoundNow => ({
    ...shown(change, seconds),
    round: aSoloRound(),
  });
  const [open, middle, last] = [
    solo({}, 57),
    solo({ correctOptionId: '1-0' }, 1),
    solo({ correctOptionId: '3-0' }, 57),
  ];
  expect([open, middle, last].map(isFinished)).toEqual([false, false, true]);
  expect([open, middle, last].map(awaitsAward)).toEqual([false, false, true]);
  const me = { joinedAt: START, answered: 3, score: 90, award: 15 };
  expect(awaitsAward({ ...last, round: aSoloRound({ me }) })).toBe(false);
});

test('the points of a live round are due when it is over, to who played', () => {
  const over = aRound({ status: 'over' });
  expect(awaitsAward({ round: over, current: null })).toBe(true);
  expect(awaitsAward({ round: { ...over, me: null }, current: null })).toBe(false);
  expect(awaitsAward(reads(1))).toBe(false);
  expect(isFinished(shown({ correctOptionId: '3-0' }, 57))).toBe(false);
});

test.each([
  ['before it is known', {}, null],
  [
    'of a right answer',
    { correctOptionId: '1-2', result: { correct: true, correctOptionId: '1-2', points: 9 } },
    'right',
  ],
  [
    'of a wrong answer',
    { correctOptionId: '1-2', result: { correct: false, correctOptionId: '1-2', points: 0 } },
    'wrong',
  ],
  ['without an answer', { correctOptionId: '1-2' }, 'none'],
] as const)('the mark of a question %s', (_, change, mark) => {
  expect(markOf(shown(change))).toBe(mark);
});

test('who watches gets no marks', () => {
  expect(markOf({ ...shown({ correctOptionId: '1-2' }), round: aRound({ me: null }) })).toBe('past');
});

test('options have letters', () => {
  expect([0, 1, 5].map(letterOf)).toEqual(['A', 'B', 'F']);
});
