import { expect, test } from 'vitest';
import { Refused, Unreachable } from '$lib/api/errors';
import type { RoundNow } from '$lib/api/types';
import { holdsAll } from '$lib/draw/steps';
import { deTrivia } from '$lib/i18n/de-trivia';
import { en } from '$lib/i18n/en';
import { enPages } from '$lib/i18n/en-pages';
import { enTrivia as t } from '$lib/i18n/en-trivia';
import { Texts } from '$lib/i18n/texts.svelte';
import { COMMITMENT, START, aProof, aRound, aSoloRound, after, reads } from './testing';
import { checkRound } from './check';
import {
  answerFailureText,
  awardText,
  countdown,
  failureText,
  newsText,
  ownText,
  pointsText,
  resultText,
  rulesOf,
  whenText,
} from './words';

const texts = new Texts({ pages: enPages, trivia: t });
const german = new Texts({ pages: enPages, trivia: deTrivia });
const T = Date.parse(START);
const me = { joinedAt: START, answered: 2, score: 90, award: null };

const refused = (code: string): Refused =>
  new Refused({ code, requestId: 'r-7', status: 409, title: '', detail: '', type: '', instance: '' });

test.each(Object.entries(t.why))('what is refused with %s says so in both languages', (code, expected) => {
  expect(failureText(refused(code), texts)).toBe(expected);
  expect(answerFailureText(refused(code), german)).toBe(deTrivia.why[code as keyof typeof t.why]);
});

test('another refusal, and no connection, say so', () => {
  expect(failureText(refused('not_found'), texts)).toBe(en.failure.not_found);
  const unreachable = new Unreachable('gone');
  expect(failureText(unreachable, texts)).toBe(en.failure.unreachable);
  expect(answerFailureText(unreachable, texts)).toBe(t.unsent);
});

/** The first question with this result. */
function revealed(correct: boolean | null, more: Partial<RoundNow> = {}): RoundNow {
  const { current, ...rest } = reads(21);
  const result = correct === null ? null : { correct, correctOptionId: '1-2', points: correct ? 90 : 0 };
  return { ...rest, current: current && { ...current, result, correctOptionId: '1-2' }, ...more };
}

test.each([
  ['right', revealed(true), t.result.right('90 points')],
  ['wrong', revealed(false), t.result.wrong('The Saltings')],
  ['missing', revealed(null), t.result.none('The Saltings')],
  ['watched', revealed(null, { round: aRound({ me: null }) }), t.result.watched('The Saltings')],
  ['not known', reads(1), null],
])('the result of an answer that is %s', (_, known, expected) => {
  expect(resultText(known, texts)).toBe(expected);
});

test.each([
  ['a question', reads(1), t.asks('1', '3', 'Where was ground 1?')],
  ['a result', revealed(true), t.result.right('90 points')],
  ['the end', { ...reads(1), round: aRound({ status: 'over' }), current: null }, t.over],
  [
    'that it was cancelled',
    { ...reads(1), round: aRound({ status: 'cancelled' }), current: null },
    t.cancelledTitle,
  ],
  ['nothing before', { ...reads(1), round: aRound({ status: 'scheduled' }), current: null }, null],
] as const)('a round announces %s', (_, known, expected) => {
  expect(newsText(known, texts)).toBe(expected);
});

test.each([
  [3_599.5, null],
  [3_540, '59:00'],
  [65, '1:05'],
  [60, '1:00'],
  [59.2, '1:00'],
  [9, '9'],
  [0, '0'],
  [-5, '0'],
])('%d seconds before the start it counts down from %s', (seconds, digits) => {
  expect(countdown(START, T - 1_000 * seconds, texts)?.digits ?? null).toBe(digits);
});

test('a countdown is said in words', () => {
  expect(countdown(START, T - 65_000, texts)).toMatchObject({
    unit: t.beforeStart,
    words: t.timeLeft('1 minute', '5 seconds'),
    long: '1 minute',
  });
  expect(countdown(START, T - 1_000, texts)).toMatchObject({
    unit: t.secondsBefore(1),
    words: '1 second left',
    long: '1 second',
  });
});

test.each([
  ['scheduled', T - 240_000, t.startsIn('4 minutes')],
  ['scheduled', T - 7_200_000, t.starts(texts.moment(new Date(START), new Date(T - 7_200_000)))],
  ['scheduled', null, t.starts(texts.moment(new Date(START)))],
  ['open', T, t.until(texts.moment(new Date(after(84)), new Date(T)))],
  ['over', T, t.ended(texts.moment(new Date(after(84)), new Date(T)))],
  ['cancelled', T, t.cancelled],
] as const)('a round that is %s says when', (status, now, expected) => {
  expect(whenText(aRound({ status }), now, texts)).toBe(expected);
});

test('the rules of a round are those of its mode', () => {
  expect(rulesOf(aRound(), texts)).toEqual([
    t.ruleLive('3 questions', '20 seconds'),
    t.rulePoints('100 points'),
    t.ruleOnce,
    t.ruleLiveAward,
  ]);
  expect(rulesOf(aSoloRound({ questionCount: 1, teamId: 'team-1' }), texts)).toEqual([
    t.ruleSolo('1 question', '20 seconds'),
    t.rulePoints('100 points'),
    t.ruleOnce,
    t.ruleSoloAward('15 points'),
    t.ruleTeam,
  ]);
});

test.each([
  ['not played', aRound({ status: 'over', me: null }), t.notPlayed],
  ['watched', aRound({ me: null }), null],
  ['played live', aRound({ me }), null],
  ['over, its points on their way', aRound({ status: 'over', me }), t.awardSoon],
  ['over, its points given', aRound({ status: 'over', me: { ...me, award: 90 } }), t.award('90 points')],
  ['over before its last question', aSoloRound({ status: 'over', me }), t.awardMissed],
])('of a round that was %s one reads what it gives', (_, round, expected) => {
  expect(awardText({ round, current: null }, texts)).toBe(expected);
});

test('the own rounds say what was answered and what it gave', () => {
  expect(ownText(aRound({ me }), texts)).toBe(t.own.answered('2', '3'));
  expect(ownText(aRound({ me: { ...me, award: 90 } }), texts)).toBe(
    `${t.own.answered('2', '3')}. ${t.award(pointsText(90, texts))}`,
  );
  expect(ownText(aRound({ me: null }), texts)).toBe('');
});

test('the steps of a proof hold for what the service made, with what this browser saw', async () => {
  const round = aRound({ commitment: COMMITMENT });
  const steps = await checkRound(aProof(), round, COMMITMENT, texts);
  expect(holdsAll(steps)).toBe(true);
  expect(steps.map(({ text }) => text)).toEqual([
    t.proof.commitment,
    t.proof.promised,
    t.proof.rights,
    t.proof.lines,
    t.proof.ids,
  ]);
  expect(await checkRound(aProof(), round, null, texts)).toHaveLength(4);
  expect(holdsAll(await checkRound(aProof(), round, 'another', texts))).toBe(false);
  expect(holdsAll(await checkRound(aProof(), aRound(), null, texts))).toBe(false);
});
