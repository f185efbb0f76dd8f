import type { Segment } from '$lib/api/types';

/** The circle is drawn around the origin; the pointer stands above it. */
const RADIUS = 138;
/** Where words along a radius begin and end: the tip of the pointer is beyond. */
const WORDS = { from: 44, to: 114 };
/** The middle of words along a radius. */
export const WORDS_AT = (WORDS.from + WORDS.to) / 2;
/** The middle of a number that stands across its slice. */
export const NUMBER_AT = 80;
const FULL_TURNS = 5;

/** A slice of the wheel, as large as its segment's chance. Angles are shares of a turn, clockwise from the top. */
export interface Slice {
  key: string;
  from: number;
  to: number;
  /** Which of the three printed colours it has; neighbours differ. */
  print: 0 | 1 | 2;
  path: string;
}

/** The slices of a wheel, in the order of its segments. */
export function slicesOf(segments: readonly Pick<Segment, 'key' | 'probability'>[]): Slice[] {
  const total = segments.reduce((sum, { probability }) => sum + probability, 0);
  let passed = 0;
  return segments.map(({ key, probability }, place) => {
    const from = passed / total;
    passed += probability;
    const to = place === segments.length - 1 ? 1 : passed / total;
    return { key, from, to, print: printAt(place, segments.length), path: pathOf(from, to) };
  });
}

function printAt(place: number, count: number): Slice['print'] {
  // The last one is beside the first.
  if (place === count - 1 && count > 1 && count % 3 === 1) return 1;
  return place % 3 === 0 ? 0 : place % 3 === 1 ? 1 : 2;
}

function pathOf(from: number, to: number): string {
  const at = (share: number): string => {
    const angle = share * 2 * Math.PI;
    return `${fixed(RADIUS * Math.sin(angle))} ${fixed(-RADIUS * Math.cos(angle))}`;
  };
  const arc = (share: number, isLarge: boolean): string =>
    `A${String(RADIUS)} ${String(RADIUS)} 0 ${isLarge ? '1' : '0'} 1 ${at(share)}`;
  // An arc cannot end where it begins.
  if (to - from > 0.999) return `M${at(0)}${arc(0.5, false)}${arc(1, false)}z`;
  return `M0 0L${at(from)}${arc(to, to - from > 0.5)}z`;
}

/** How large words along the radius of a slice are drawn; null where it has no room for them. */
export function wordSize({ from, to }: Pick<Slice, 'from' | 'to'>, length: number): number | null {
  const room = to - from >= 0.5 ? RADIUS : 2 * (WORDS.from + 10) * Math.sin(Math.PI * (to - from));
  const size = Math.min(19, (1.7 * (WORDS.to - WORDS.from)) / length, 0.85 * room);
  return size < 10 ? null : size;
}

/** How large a number across a slice is drawn; null where it has no room for one. */
export function numberSize({ from, to }: Pick<Slice, 'from' | 'to'>, length: number): number | null {
  const room = 2 * NUMBER_AT * Math.sin(Math.PI * Math.min(0.5, to - from));
  const size = Math.min(44, (1.5 * room) / Math.max(2, length));
  return size < 24 ? null : size;
}

/** A place inside a segment where the pointer comes to stand: always the same one for a spin, and not on the edge. */
export function spotOf(spinId: string): number {
  const digits = Number.parseInt(spinId.slice(-4), 16);
  return 0.2 + 0.6 * ((Number.isNaN(digits) ? 0 : digits) / 0xffff);
}

/** The turn, in degrees, at which the pointer stands in a slice, some full turns after the one before. */
export function turnTo({ from, to }: Pick<Slice, 'from' | 'to'>, spot: number, before: number): number {
  const wanted = -360 * (from + (to - from) * spot);
  const least = before + FULL_TURNS * 360;
  return least + ((((wanted - least) % 360) + 360) % 360);
}

function fixed(value: number): string {
  return String(Math.round(value * 100) / 100);
}
