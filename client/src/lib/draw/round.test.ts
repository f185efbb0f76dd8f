import { expect, test } from 'vitest';
import type { RoundProof } from '../api/types';
import { recomputeRound } from './round';

const COMMITMENT = '69d9ec7c8ae5d8425258706ba6b92f1802eeee712291c6c4a89997c91ca8d8c5';
const id = (place: number): string => `0190a6f2-7c1e-7abc-8def-${String(place).padStart(12, '0')}`;

/** A proof that `terrace verify` accepts: with and without a picture, and with letters of several bytes. */
function proof(): RoundProof {
  return {
    roundId: 'round-1',
    commitment: COMMITMENT,
    salt: 'ab'.repeat(32),
    questions: [
      {
        id: id(1),
        text: 'When was the ground opened?',
        imageUrl: null,
        options: [
          { id: id(2), text: '1887' },
          { id: id(3), text: '1892' },
          { id: id(4), text: '1910' },
        ],
        correctOptionId: id(3),
      },
      {
        id: id(5),
        text: 'Wer stößt an? – “Zürich”',
        imageUrl: '/content/pictures/5f.png',
        options: [
          { id: id(6), text: 'Heim' },
          { id: id(7), text: 'Gäste' },
        ],
        correctOptionId: id(6),
      },
    ],
  };
}

type Question = RoundProof['questions'][number];

/** The proof with a change of its first question. */
function changed(change: (question: Question) => Partial<Question>): RoundProof {
  const { questions, ...rest } = proof();
  return {
    ...rest,
    questions: questions.map((each, place) => (place === 0 ? { ...each, ...change(each) } : each)),
  };
}

const HOLDS = { isCommitmentTrue: true, areRightsOptions: true, areTextsLines: true, areIdsDistinct: true };

test('the questions of a round come to its commitment', async () => {
  const checked = await recomputeRound(proof(), COMMITMENT, crypto.subtle);
  expect(checked).toEqual({ ...HOLDS, commitment: COMMITMENT });
});

test.each<[string, RoundProof]>([
  ['salt', { ...proof(), salt: 'ac'.repeat(32) }],
  ['order', { ...proof(), questions: proof().questions.toReversed() }],
  ['text', changed(() => ({ text: 'When was it?' }))],
  ['picture', changed(() => ({ imageUrl: '/content/pictures/5e.png' }))],
  ['option', changed(({ options }) => ({ options: options.slice(1) }))],
  ['right option', changed(() => ({ correctOptionId: id(2) }))],
])('another %s has another commitment', async (_, other) => {
  const checked = await recomputeRound(other, COMMITMENT, crypto.subtle);
  expect(checked).toMatchObject({ ...HOLDS, isCommitmentTrue: false });
});

test('a commitment that is not the one of the round is noticed', async () => {
  const other = '00'.repeat(32);
  expect((await recomputeRound(proof(), other, crypto.subtle)).isCommitmentTrue).toBe(false);
  const named = { ...proof(), commitment: other };
  expect((await recomputeRound(named, COMMITMENT, crypto.subtle)).isCommitmentTrue).toBe(false);
});

test('a right answer of another question, two lines and an id that is used twice are noticed', async () => {
  const check = (other: RoundProof) => recomputeRound(other, COMMITMENT, crypto.subtle);
  expect((await check(changed(() => ({ correctOptionId: id(6) })))).areRightsOptions).toBe(false);
  expect((await check(changed(() => ({ text: 'Which?\nright 0' })))).areTextsLines).toBe(false);
  expect((await check(changed(() => ({ imageUrl: '/a\n/b' })))).areTextsLines).toBe(false);
  const twice = changed(({ options }) => ({ options: options.map((each) => ({ ...each, id: id(7) })) }));
  expect((await check(twice)).areIdsDistinct).toBe(false);
});
