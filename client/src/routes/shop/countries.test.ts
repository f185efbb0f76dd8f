import { expect, test } from 'vitest';
import type { ShippingMethod } from '$lib/api/types';
import { countriesOf, countryName, methodsTo } from './countries';

const method = (key: string, ...countries: string[]): ShippingMethod => ({
  key,
  name: key,
  price: null,
  countries,
  days: 3,
});

test('the countries are those that a method reaches, by name', () => {
  const methods = [method('near', 'DE'), method('far', 'DE', 'AT', 'NL')];
  expect(countriesOf(methods, 'de').map(({ label }) => label)).toEqual([
    'Deutschland',
    'Niederlande',
    'Österreich',
  ]);
  expect(methodsTo('AT', methods).map(({ key }) => key)).toEqual(['far']);
  expect(countryName('AT', 'en')).toBe('Austria');
});

test('a method without countries reaches all of them, each once', () => {
  const all = countriesOf([method('world')], 'en');
  const labels = all.map(({ label }) => label);
  // As many as ISO 3166-1 lists: the service refuses any other.
  expect(all.length).toBe(249);
  expect(new Set(labels).size).toBe(labels.length);
  expect(labels).toContain('Japan');
  expect(labels).not.toContain('European Union');
  expect(methodsTo('JP', [method('world')])).toHaveLength(1);
});
