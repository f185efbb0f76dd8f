import { expect, test } from 'vitest';
import type { Variant } from '$lib/api/types';
import { areTold, firstVariant, optionGroups } from './options';
import { aVariant } from './testing';

function shirt(size: string, colour: string, available = true): Variant {
  const options = [
    { name: 'size', value: size },
    { name: 'colour', value: colour },
  ];
  return aVariant({ id: `${size}-${colour}`, options, available });
}

const home = [shirt('S', 'amber'), shirt('M', 'amber'), shirt('M', 'black', false), shirt('L', 'black')];

function leads(from: string): Record<string, string> {
  const chosen = home.find(({ id }) => id === from);
  if (!chosen) throw new Error(from);
  const values = optionGroups(home, chosen).flatMap((group) => group.values);
  return Object.fromEntries(values.map(({ value, variant }) => [value, variant.id]));
}

test.each([
  ['S-amber', { S: 'S-amber', M: 'M-amber', L: 'L-black', amber: 'S-amber', black: 'L-black' }],
  ['M-amber', { S: 'S-amber', M: 'M-amber', L: 'L-black', amber: 'M-amber', black: 'M-black' }],
  ['M-black', { S: 'S-amber', M: 'M-black', L: 'L-black', amber: 'M-amber', black: 'M-black' }],
])('from %s each value leads to the closest variant', (from, expected) => {
  expect(leads(from)).toEqual(expected);
});

test('an option that all variants share is no choice', () => {
  const [one, two] = home;
  if (!one || !two) throw new Error('no variants');
  expect(optionGroups([one, two], one).map(({ name }) => name)).toEqual(['size']);
});

test('variants with the same options are told apart by their names', () => {
  expect(areTold(home)).toBe(true);
  expect(areTold([aVariant(), aVariant({ id: 'b' })])).toBe(false);
});

test('the variant that is shown first is the wanted one, else one that can be had', () => {
  const [gone, had] = [aVariant({ id: 'a', available: false }), aVariant({ id: 'b' })];
  expect(firstVariant([gone, had], null)).toBe(had);
  expect(firstVariant([gone, had], 'a')).toBe(gone);
  expect(firstVariant([gone], 'missing')).toBe(gone);
  expect(firstVariant([], null)).toBeNull();
});
