import type { SpinEntry, SpinResult, Wheel } from '$lib/api/types';

/** The hash of the seed of the spin of `anEntry`. */
export const PROMISED = '420b9c98c0d013c53fb0126b759723ff482385bab86692933cf4d4cf094867c3';
export const NEXT_FREE = '2999-11-24T00:00:00.000Z';

const WEIGHTS = [
  { key: 'coins-5', label: '5 coins', weight: 400, kind: 'coins', amount: 5 },
  { key: 'coins-15', label: '15 coins', weight: 200, kind: 'coins', amount: 15 },
  { key: 'points-10', label: '10 points', weight: 250, kind: 'points', amount: 10 },
  { key: 'points-50', label: '50 points', weight: 50, kind: 'points', amount: 50 },
  { key: 'pack', label: 'A Match day pack', weight: 20, kind: 'pack', amount: 1 },
  { key: 'blank', label: 'Nothing today', weight: 80, kind: 'nothing', amount: 0 },
] as const;

/** The daily wheel of the demo. */
export function aWheel(more: Partial<Wheel> = {}): Wheel {
  return {
    id: 'wheel-1',
    key: 'daily',
    name: 'Daily wheel',
    segments: WEIGHTS.map(({ key, label, weight, kind, amount }) => ({
      key,
      label,
      grant: { kind, amount, id: kind === 'pack' ? 'pack-1' : null },
      weight,
      probability: weight / 1000,
      remaining: null,
      insteadOf: null,
    })),
    price: null,
    freeSpins: 'daily',
    pity: null,
    dailyLimit: null,
    tableHash: '548bd97ded6844dd8786d78066be73454e8c0494fd3b3c90cc7c2c15db339fdd',
    me: { freeSpin: true, nextFreeSpinAt: null, pityCount: 0, serverSeedHash: PROMISED, nonce: 1 },
    ...more,
  };
}

/** A spin of the daily wheel that the service made. */
export function anEntry(more: Partial<SpinEntry['spin']> = {}): SpinEntry {
  return {
    spin: {
      id: '01a212cc-3914-733d-8c5b-26feca6b823f',
      wheelId: 'wheel-1',
      segment: 'points-50',
      grant: { kind: 'points', amount: 50, id: null },
      substituted: false,
      paid: null,
      createdAt: '2026-11-23T12:00:00.000Z',
      ...more,
    },
    proof: {
      algorithm: 'hmac-sha256-v1',
      serverSeed: 'af25692ada7f6c1e1d451b54ca87e30070607bf35e06c6c036ccfd436ec7de0e',
      serverSeedHash: PROMISED,
      clientSeed: 'kop',
      nonce: 1,
      pityCount: 0,
      table: { segments: WEIGHTS.map(({ key, weight }) => ({ key, weight })), pity: null },
      tableHash: '548bd97ded6844dd8786d78066be73454e8c0494fd3b3c90cc7c2c15db339fdd',
    },
  };
}

/** The answer to that spin. */
export function aResult(more: Partial<SpinResult> = {}): SpinResult {
  return {
    ...anEntry(),
    next: { serverSeedHash: 'd020', nonce: 2 },
    nextFreeSpinAt: NEXT_FREE,
    ...more,
  };
}
