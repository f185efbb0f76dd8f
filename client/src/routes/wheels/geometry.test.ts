import { expect, test } from 'vitest';
import { numberSize, slicesOf, spotOf, turnTo, wordSize } from './geometry';
import { aWheel } from './testing';

const slices = slicesOf(aWheel().segments);

test('a slice is as large as its chance, and the circle is full', () => {
  expect(slices.map(({ from, to }) => Math.round((to - from) * 1000))).toEqual([400, 200, 250, 50, 20, 80]);
  expect(slices[0]?.from).toBe(0);
  expect(slices.at(-1)?.to).toBe(1);
});

test.each([2, 3, 4, 5, 6, 7, 8])('of %i slices no two neighbours have one colour', (count) => {
  const segments = Array.from({ length: count }, (_, key) => ({
    key: String(key),
    probability: 1 / count,
  }));
  const prints = slicesOf(segments).map(({ print }) => print);
  for (const [place, print] of prints.entries()) expect(print).not.toBe(prints[(place + 1) % count]);
});

test('a single segment is the whole circle', () => {
  const [slice] = slicesOf([{ key: 'all', probability: 1 }]);
  expect(slice).toMatchObject({ from: 0, to: 1 });
  expect(slice?.path).not.toContain('L');
});

/** The share of the circle that the pointer stands at, clockwise from the top of the wheel. */
const pointed = (turn: number): number => (((-turn / 360) % 1) + 1) % 1;

test.each(['0000', '7fff', 'ffff', 'what'])('the pointer stands inside the segment of spin %s', (digits) => {
  const spot = spotOf(`01a212cc-3914-733d-8c5b-26feca6b${digits}`);
  let turn = 0;
  for (const slice of slices) {
    const before = turn;
    turn = turnTo(slice, spot, before);
    const share = pointed(turn);
    const edge = (slice.to - slice.from) * 0.19;
    expect(share).toBeGreaterThan(slice.from + edge);
    expect(share).toBeLessThan(slice.to - edge);
    expect(turn - before).toBeGreaterThanOrEqual(5 * 360);
    expect(turn - before).toBeLessThan(6 * 360);
  }
});

test('a spin always ends at the same place', () => {
  const id = '01a212cc-3914-733d-8c5b-26feca6b823f';
  expect(spotOf(id)).toBe(spotOf(id));
});

test.each([
  [0.4, 1, 44],
  [0.2, 2, 44],
  [0.1, 4, null],
  [0.02, 2, null],
])('a number on a share of %d with %i digits has the size %s', (share, digits, expected) => {
  expect(numberSize({ from: 0, to: share }, digits)).toBe(expected);
});

test.each([
  [0.5, 4, true],
  [0.06, 7, true],
  [0.02, 4, false],
  [0.3, 20, false],
])('a word on a share of %d with %i letters has room: %s', (share, letters, expected) => {
  expect(wordSize({ from: 0.1, to: 0.1 + share }, letters) !== null).toBe(expected);
});
