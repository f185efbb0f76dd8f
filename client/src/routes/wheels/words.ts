import { amountText, grantText } from '$lib/amounts';
import { Refused, type Failure } from '$lib/api/errors';
import type { Grant, OwnProfile, Segment, SpinEntry, Wheel } from '$lib/api/types';
import type { RecomputedSpin } from '$lib/draw/spin';
import type { Step } from '$lib/draw/steps';
import type { Texts } from '$lib/i18n/texts.svelte';
import { numberSize, wordSize, type Slice } from './geometry';
import type { Promised } from './promises';

type Price = NonNullable<Wheel['price']>;

export function priceText({ kind, amount }: Price, texts: Texts): string {
  return amountText(amount, { kind, currency: null }, texts);
}

/** What a fan has left after a price, in its kind; null for a guest. */
export function leftAfter({ kind, amount }: Price, fan: OwnProfile | null): number | null {
  return fan === null ? null : fan.balances[kind] - amount;
}

/** What is left of a segment, and what it gives instead; null if it always gives its grant. */
export function stockText({ remaining, insteadOf }: Segment, texts: Texts): string | null {
  const t = texts.wheels;
  const instead = grantText(insteadOf ?? { kind: 'nothing', amount: 0, id: null }, texts);
  if (remaining === 0) return t.gone(instead);
  if (remaining !== null) return t.leftThen(texts.number(remaining), instead);
  return insteadOf === null ? null : t.orElse(instead);
}

/** What stands on a slice: a number across it, with its unit, or a word along its radius. */
export interface Label extends Pick<Slice, 'print'> {
  /** Where, in degrees from the top. */
  angle: number;
  number: string | null;
  word: string;
  size: number;
}

/** What stands on a slice that gives this; null where it has no room for it. */
export function labelOf(slice: Slice, grant: Grant | undefined, texts: Texts): Label | null {
  if (!grant) return null;
  const { print, from, to } = slice;
  const at = { print, angle: 180 * (from + to) };
  const { number, word } = partsOf(grant, texts);
  const large = number === null ? null : numberSize(slice, number.length);
  if (large !== null) return { ...at, number, word, size: large };
  const text = number === null ? word : `${number} ${word}`;
  const size = wordSize(slice, text.length);
  return size === null ? null : { ...at, number: null, word: text, size };
}

function partsOf({ kind, amount }: Grant, texts: Texts): Pick<Label, 'number' | 'word'> {
  const t = texts.wheels;
  if (kind !== 'coins' && kind !== 'points') return { number: null, word: t.short[kind] };
  return { number: texts.number(amount), word: t.unit[kind](amount) };
}

/** What a spin gave, as a heading. */
export function gotText({ grant }: SpinEntry['spin'], texts: Texts): string {
  return grant.kind === 'nothing' ? texts.wheels.gotNothing : texts.wheels.got(grantText(grant, texts));
}

/** Why a spin failed, in words. */
export function failureText(
  failure: Failure,
  { price }: Pick<Wheel, 'price'>,
  fan: OwnProfile | null,
  texts: Texts,
): string {
  const t = texts.wheels;
  if (!(failure instanceof Refused)) return texts.failure(failure);
  const left = price && leftAfter(price, fan);
  if (failure.code === 'insufficient_balance' && price && left !== null && left < 0) {
    return t.lacking(priceText({ ...price, amount: -left }, texts));
  }
  const known: Record<string, string> = t.why;
  return known[failure.code] ?? texts.failure(failure);
}

/** What was checked of a spin, and whether it holds. */
export function stepsOf(
  { proof }: Pick<SpinEntry, 'proof'>,
  checked: RecomputedSpin,
  promised: Promised | null,
  texts: Texts,
): Step[] {
  const t = texts.wheels.proof;
  const { seedStep, clientStep, tableStep } = texts.pages.draw;
  const seen: Step[] =
    promised === null
      ? []
      : [
          { text: t.promised, holds: promised.serverSeedHash === proof.serverSeedHash, value: null },
          { text: clientStep, holds: promised.clientSeed === proof.clientSeed, value: proof.clientSeed },
          { text: t.table, holds: promised.tableHash === proof.tableHash, value: null },
          ...(proof.table.pity === null
            ? []
            : [{ text: t.pity, holds: promised.pityCount === proof.pityCount, value: null }]),
        ];
  return [
    { text: seedStep, holds: checked.isSeedTrue, value: checked.seedHash },
    { text: tableStep, holds: checked.isTableTrue, value: checked.tableHash },
    ...seen,
    { text: t.segment, holds: checked.isSegmentTrue, value: null },
  ];
}
