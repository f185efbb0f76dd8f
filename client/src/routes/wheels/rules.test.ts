import { beforeEach, expect, test, vi } from 'vitest';
import { FakeApi, problem } from '$lib/api/testing';
import { Promises } from './promises';
import { afterSpin, guaranteedWithin, nextPay } from './rules';
import { Spinning } from './spinning.svelte';
import { NEXT_FREE, PROMISED, aResult, aWheel, anEntry } from './testing';

const now = new Date('2026-11-23T12:00:00Z');
const price = { kind: 'coins', amount: 20 } as const;
const me = { freeSpin: false, nextFreeSpinAt: null, pityCount: 0, serverSeedHash: PROMISED, nonce: 4 };
const pity = { after: 15, segments: ['pack'] };
const kept = new Map<string, string>();

beforeEach(() => {
  kept.clear();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  });
});

test.each([
  ['a free spin is there', { price, me: { ...me, freeSpin: true } }, 'free'],
  ['it was taken', { price, me: { ...me, nextFreeSpinAt: NEXT_FREE } }, 'price'],
  ['it was taken, and there is no price', { price: null, me: { ...me, nextFreeSpinAt: NEXT_FREE } }, null],
  ['the next date has begun', { price, me: { ...me, nextFreeSpinAt: now.toISOString() } }, 'free'],
  ['a guest reads', { price, me: null }, 'price'],
])('where %s, the next spin is paid so: %#', (_, wheel, expected) => {
  expect(nextPay(wheel, now)).toBe(expected);
});

test('the answer to a spin says where the fan stands', () => {
  const wheel = aWheel({ pity, me: { ...me, pityCount: 3 } });
  const blank = aResult(anEntry({ segment: 'blank' }));
  const after = afterSpin(wheel, blank);
  expect(after.me).toEqual({
    freeSpin: false,
    nextFreeSpinAt: NEXT_FREE,
    pityCount: 4,
    serverSeedHash: 'd020',
    nonce: 2,
  });
  expect(afterSpin(wheel, aResult(anEntry({ segment: 'pack' }))).me?.pityCount).toBe(0);
  // A wheel without free spins names no next one either.
  const paid = aResult({ nextFreeSpinAt: null });
  expect(afterSpin(aWheel({ freeSpins: 'none' }), paid).me?.freeSpin).toBe(false);
  expect(afterSpin(aWheel(), paid).me).toMatchObject({ freeSpin: true, pityCount: 0 });
});

test.each([
  [0, 16],
  [14, 2],
  [15, 1],
  [20, 1],
])('after %i spins without luck it comes within %i', (pityCount, expected) => {
  expect(guaranteedWithin({ pity, me: { ...me, pityCount } })).toBe(expected);
});

test('without a guarantee or an account nothing is promised', () => {
  expect(guaranteedWithin({ pity: null, me })).toBeNull();
  expect(guaranteedWithin({ pity, me: null })).toBeNull();
});

/* --- what a browser saw before ---------------------------------------------------- */

const seen = { serverSeedHash: PROMISED, clientSeed: 'c0ffee', pityCount: 2, tableHash: 'f00d' };

test('what was seen before a spin is known after it, by its wheel and its number', () => {
  const promises = new Promises('ada');
  promises.note('wheel-1', 1, { ...seen, clientSeed: 'another' });
  promises.note('wheel-2', 1, seen);
  promises.note('wheel-1', 1, seen);
  expect(new Promises('ada').of(anEntry())).toEqual(seen);
  expect(promises.of(anEntry({ wheelId: 'wheel-3' }))).toBeNull();
  expect(new Promises('ben').of(anEntry())).toBeNull();
});

test('what was seen before old spins is forgotten', () => {
  const promises = new Promises('ada');
  for (let nonce = 1; nonce <= 31; nonce += 1) promises.note('wheel-1', nonce, seen);
  expect(promises.of(anEntry())).toBeNull();
  const { spin, proof } = anEntry();
  expect(promises.of({ spin, proof: { ...proof, nonce: 2 } })).toEqual(seen);
});

/* --- one spin ----------------------------------------------------------------------- */

const SPIN = 'POST /api/wheel/wheel-1/spin';

/** What was sent, with the keys. */
function spinner(replies: (() => ReturnType<typeof problem>)[]): {
  spinning: () => Spinning;
  sent: { key: string | null; body: unknown }[];
} {
  const fake = new FakeApi();
  const sent: { key: string | null; body: unknown }[] = [];
  fake.on(SPIN, async (request) => {
    sent.push({ key: request.headers.get('idempotency-key'), body: await request.json() });
    return replies[sent.length - 1]?.() ?? problem(500, 'internal');
  });
  return { spinning: () => new Spinning(fake.api, { now: () => now }, 'ada', 'wheel-1'), sent };
}

const spun = (): { status: number; body: object } => ({ status: 201, body: aResult() });

test('a spin whose answer is lost is asked for again as it was, whatever the wheel says then', async () => {
  const { spinning, sent } = spinner([() => ({ status: 0 }), spun]);
  expect(await spinning().spin(aWheel(), 'free')).toBeNull();
  // The page was loaded anew: the free spin is taken, and the next seed is another one.
  const again = spinning();
  expect(again.unsettled).toBe('free');
  const later = aWheel({ price, me: { ...me, serverSeedHash: 'another', nextFreeSpinAt: NEXT_FREE } });
  expect((await again.spin(later, 'price'))?.spin.segment).toBe('points-50');
  expect(again.unsettled).toBeNull();
  expect(sent).toHaveLength(2);
  expect(sent[1]).toEqual(sent[0]);
  expect(sent[0]?.body).toMatchObject({ pay: 'free', serverSeedHash: PROMISED });
});

test('a refused spin is over: the next one has another key and the seed that is shown then', async () => {
  const { spinning, sent } = spinner([() => problem(409, 'seed_changed'), spun]);
  const one = spinning();
  expect(await one.spin(aWheel(), 'free')).toBeNull();
  expect(one.attempt.failure).toMatchObject({ code: 'seed_changed' });
  expect(one.unsettled).toBeNull();
  await one.spin(aWheel({ me: { ...me, serverSeedHash: 'another', freeSpin: true } }), 'free');
  expect(sent[1]?.key).not.toBe(sent[0]?.key);
  expect(sent[1]?.body).toMatchObject({ serverSeedHash: 'another' });
  expect(sent[1]?.body).not.toMatchObject({
    clientSeed: (sent[0]?.body as { clientSeed: string }).clientSeed,
  });
});

test('what the browser saw is noted before the spin is sent', async () => {
  const { spinning, sent } = spinner([spun]);
  const one = spinning();
  await one.spin(aWheel(), 'free');
  expect(one.promises.of(anEntry())).toEqual({
    serverSeedHash: PROMISED,
    clientSeed: (sent[0]?.body as { clientSeed: string }).clientSeed,
    pityCount: 0,
    tableHash: aWheel().tableHash,
  });
});
