import { expect, test } from 'vitest';
import type { SpinEntry } from '../api/types';
import { recomputeSpin } from './spin';

type Table = SpinEntry['proof']['table'];

const rows = (weights: Record<string, number>): Table['segments'] =>
  Object.entries(weights).map(([key, weight]) => ({ key, weight }));

/** The first spin of a fan on the daily wheel of the demo, as the service answered it. */
function daily(): { spin: { segment: string }; proof: SpinEntry['proof'] } {
  return {
    spin: { segment: 'points-50' },
    proof: {
      algorithm: 'hmac-sha256-v1',
      serverSeed: 'af25692ada7f6c1e1d451b54ca87e30070607bf35e06c6c036ccfd436ec7de0e',
      serverSeedHash: '420b9c98c0d013c53fb0126b759723ff482385bab86692933cf4d4cf094867c3',
      clientSeed: 'kop',
      nonce: 1,
      pityCount: 0,
      table: {
        segments: rows({
          'coins-5': 400,
          'coins-15': 200,
          'points-10': 250,
          'points-50': 50,
          pack: 20,
          blank: 80,
        }),
        pity: null,
      },
      tableHash: '548bd97ded6844dd8786d78066be73454e8c0494fd3b3c90cc7c2c15db339fdd',
    },
  };
}

/** A spin of the derby wheel of the demo after 15 without luck, as the service answered it. */
function guaranteed(): { spin: { segment: string }; proof: SpinEntry['proof'] } {
  return {
    spin: { segment: 'pack' },
    proof: {
      algorithm: 'hmac-sha256-v1',
      serverSeed: '82b77795621d0d654a84e20bac822a99b9f86f7be95dc5a788dc5243583b6c50',
      serverSeedHash: '980d5835a8bc0bb96ff49ed1ef28eb243647beb5974d38361d302d93984839ec',
      clientSeed: 'row 14',
      nonce: 16,
      pityCount: 15,
      table: {
        segments: rows({ 'coins-5': 450, 'coins-30': 150, pack: 60, cup: 5, blank: 335 }),
        pity: { after: 15, segments: ['pack', 'cup'] },
      },
      tableHash: 'df6b2f028ddc6da5a06d8fb1ba4e8dfb5aec675ca23d49297c74d25930fda7a1',
    },
  };
}

const HOLDS = { isSeedTrue: true, isTableTrue: true, isSegmentTrue: true };

test('a spin of the service comes to its segment', async () => {
  const checked = await recomputeSpin(daily(), crypto.subtle);
  expect(checked).toMatchObject({ ...HOLDS, message: 'kop:1:0', isGuaranteed: false });
  expect(checked.drawn?.segment).toBe('points-50');
  expect(checked.drawn?.choice.total).toBe(1000n);
});

test('after spins without luck only the guaranteed segments are drawn', async () => {
  const checked = await recomputeSpin(guaranteed(), crypto.subtle);
  expect(checked).toMatchObject({ ...HOLDS, message: 'row 14:16:0', isGuaranteed: true });
  expect(checked.drawn?.choice.total).toBe(65n);
  // With one spin fewer before it, it would have been drawn from all segments.
  const { spin, proof } = guaranteed();
  const earlier = await recomputeSpin({ spin, proof: { ...proof, pityCount: 14 } }, crypto.subtle);
  expect(earlier).toMatchObject({ isGuaranteed: false, isTableTrue: true });
  expect(earlier.drawn?.choice.total).toBe(1000n);
});

test.each([
  ['seed', { serverSeed: 'ff'.repeat(32) }, { isSeedTrue: false, isTableTrue: true }],
  ['table hash', { tableHash: '00'.repeat(32) }, { isTableTrue: false, isSegmentTrue: true }],
  ['nonce', { nonce: 2 }, { isSeedTrue: true, isSegmentTrue: false }],
  ['seed of the browser', { clientSeed: 'kopp' }, { isSeedTrue: true, isSegmentTrue: false }],
] as const)('another %s is noticed', async (_, change, expected) => {
  const { spin, proof } = daily();
  const checked = await recomputeSpin({ spin, proof: { ...proof, ...change } }, crypto.subtle);
  expect(checked).toMatchObject(expected);
});

test('another segment, other odds and another guarantee are noticed', async () => {
  const { spin, proof } = daily();
  const other = await recomputeSpin({ spin: { segment: 'blank' }, proof }, crypto.subtle);
  expect(other).toMatchObject({ ...HOLDS, isSegmentTrue: false });
  for (const table of [
    { ...proof.table, segments: proof.table.segments.toReversed() },
    { ...proof.table, pity: { after: 15, segments: ['pack'] } },
  ]) {
    const checked = await recomputeSpin({ spin, proof: { ...proof, table } }, crypto.subtle);
    expect(checked.isTableTrue).toBe(false);
  }
});

test('a table with nothing to draw from comes to no segment', async () => {
  const { spin, proof } = daily();
  const table = { segments: rows({ 'points-50': 0 }), pity: null };
  const checked = await recomputeSpin({ spin, proof: { ...proof, table } }, crypto.subtle);
  expect(checked).toMatchObject({ drawn: null, isSegmentTrue: false });
});
