import { expect, test } from 'vitest';
import { Refused, Unreachable } from '$lib/api/errors';
import type { Grant } from '$lib/api/types';
import { recomputeSpin } from '$lib/draw/spin';
import { holdsAll } from '$lib/draw/steps';
import { deWheels } from '$lib/i18n/de-wheels';
import { enPages } from '$lib/i18n/en-pages';
import { enWheels as t } from '$lib/i18n/en-wheels';
import { Texts } from '$lib/i18n/texts.svelte';
import { ada } from '../../../tests/world';
import { slicesOf } from './geometry';
import { PROMISED, aWheel, anEntry } from './testing';
import { failureText, gotText, labelOf, leftAfter, priceText, stepsOf, stockText } from './words';

const texts = new Texts({ pages: enPages, wheels: t });
const coins = (amount: number): Grant => ({ kind: 'coins', amount, id: null });
const price = { kind: 'coins', amount: 20 } as const;
const fan = { ...ada, balances: { coins: 5, points: 900 } };
const [segment] = aWheel().segments;

test.each([
  [null, null, null],
  [100, coins(20), t.leftThen('100', '20 coins')],
  [100, null, t.leftThen('100', 'nothing')],
  [0, coins(20), t.gone('20 coins')],
  [0, null, t.gone('nothing')],
  [null, coins(20), t.orElse('20 coins')],
])('of a segment %s are left, then it gives %j: %s', (remaining, insteadOf, expected) => {
  if (!segment) throw new Error('no segment');
  expect(stockText({ ...segment, remaining, insteadOf }, texts)).toBe(expected);
});

const refused = (code: string): Refused =>
  new Refused({ code, requestId: 'r-7', status: 409, title: '', detail: '', type: '', instance: '' });

test.each(Object.entries(t.why).filter(([code]) => code !== 'insufficient_balance'))(
  'a spin that is refused with %s says so in both languages',
  (code, expected) => {
    expect(failureText(refused(code), { price }, fan, texts)).toBe(expected);
    const german = new Texts({ pages: enPages, wheels: deWheels });
    const known: Record<string, string> = deWheels.why;
    expect(failureText(refused(code), { price }, fan, german)).toBe(known[code]);
  },
);

test('too little says how much is missing, unless the balance says otherwise', () => {
  const short = refused('insufficient_balance');
  expect(failureText(short, { price }, fan, texts)).toBe(t.lacking('15 coins'));
  const rich = { ...fan, balances: { coins: 50, points: 0 } };
  expect(failureText(short, { price }, rich, texts)).toBe(t.why.insufficient_balance);
});

test('other failures have the texts of all pages', () => {
  const lost = new Unreachable('gone');
  expect(failureText(lost, { price }, fan, texts)).toBe(texts.t.failure.unreachable);
  expect(failureText(refused('rate_limited'), { price }, fan, texts)).toBe(texts.t.failure.rate_limited);
});

test('prices and what is left after them', () => {
  expect(priceText(price, texts)).toBe('20 coins');
  expect(leftAfter(price, fan)).toBe(-15);
  expect(leftAfter({ kind: 'points', amount: 100 }, fan)).toBe(800);
  expect(leftAfter(price, null)).toBeNull();
});

test('what a spin gave is a heading', () => {
  expect(gotText(anEntry().spin, texts)).toBe(t.got('50 points'));
  expect(gotText(anEntry({ grant: { kind: 'nothing', amount: 0, id: null } }).spin, texts)).toBe(
    t.gotNothing,
  );
});

test('what stands on a slice fits it', () => {
  const wheel = aWheel();
  const labels = slicesOf(wheel.segments).map((slice, place) =>
    labelOf(slice, wheel.segments[place]?.grant, texts),
  );
  expect(labels.map((label) => label && [label.number, label.word])).toEqual([
    ['5', 'coins'],
    ['15', 'coins'],
    ['10', 'points'],
    [null, '50 points'],
    null,
    [null, t.short.nothing],
  ]);
  expect(labels[0]?.angle).toBeCloseTo(72);
});

const promised = {
  serverSeedHash: PROMISED,
  clientSeed: 'kop',
  pityCount: 0,
  tableHash: anEntry().proof.tableHash,
};

test('a true spin holds in all steps, and without a promise in those that need none', async () => {
  const checked = await recomputeSpin(anEntry(), crypto.subtle);
  const steps = stepsOf(anEntry(), checked, promised, texts);
  expect(steps.map(({ text }) => text)).toContain(t.proof.promised);
  expect(holdsAll(steps)).toBe(true);
  const fewer = stepsOf(anEntry(), checked, null, texts);
  expect(fewer.map(({ text }) => text)).not.toContain(t.proof.promised);
  expect(holdsAll(fewer)).toBe(true);
});

test.each([
  [{ serverSeedHash: 'another' }, t.proof.promised],
  [{ clientSeed: 'another' }, enPages.draw.clientStep],
  [{ tableHash: 'another' }, t.proof.table],
])('a promise of %j is broken by this spin', async (change, expected) => {
  const checked = await recomputeSpin(anEntry(), crypto.subtle);
  const steps = stepsOf(anEntry(), checked, { ...promised, ...change }, texts);
  expect(steps.filter(({ holds }) => !holds).map(({ text }) => text)).toEqual([expected]);
});

test('the count towards a guarantee is compared where there is one', async () => {
  const { spin, proof } = anEntry();
  const pity = { after: 15, segments: ['pack'] };
  const entry = { spin, proof: { ...proof, table: { ...proof.table, pity } } };
  const checked = await recomputeSpin(entry, crypto.subtle);
  const step = stepsOf(entry, checked, { ...promised, pityCount: 3 }, texts).find(
    ({ text }) => text === t.proof.pity,
  );
  expect(step?.holds).toBe(false);
});
