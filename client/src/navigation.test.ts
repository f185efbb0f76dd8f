import { expect, test } from 'vitest';
import { Texts } from '$lib/i18n/texts.svelte';
import { navigation } from './navigation';
import { textsOf } from './routes/areas';

const texts = new Texts();
const labels = (isFan: boolean, unread = 0): string[] =>
  navigation(texts, 'room', { isFan, unread }).map(({ label }) => label);

test('a fan has a start page, and a guest the way to an account', () => {
  expect(labels(true)).toEqual(['Home', 'Room', 'Play', 'Shop', 'Table']);
  expect(labels(false)).toEqual(['Room', 'Play', 'Shop', 'Table', 'You']);
});

test.each([
  [0, undefined],
  [1, { shown: '1', label: '1 new' }],
  [99, { shown: '99', label: '99 new' }],
  [1000, { shown: '99+', label: '99+ new' }],
])('%i unread notifications are shown on the way to them', (unread, expected) => {
  const [home] = navigation(texts, 'room', { isFan: true, unread });
  expect(home?.count).toEqual(expected);
});

test.each([
  ['home', 0],
  ['notifications', 0],
  ['settingsNotifications', 0],
  ['account', 0],
  ['post', 1],
  ['spins', 2],
  ['round', 2],
  ['table', 4],
] as const)('the page %s is marked at item %i of a fan', (name, place) => {
  const marks = navigation(texts, name, { isFan: true, unread: 0 }).map(({ isCurrent }) => isCurrent);
  expect(marks.indexOf(true)).toBe(place);
  expect(marks.filter(Boolean)).toHaveLength(1);
});

test('the texts of a page are loaded with it, and those of the room are there', () => {
  expect(textsOf('room')).toEqual([]);
  expect(textsOf('notifications')).toEqual(['pages', 'home']);
  expect(textsOf('post')).toEqual(['pages', 'fans']);
  expect(textsOf('blocks')).toEqual(['pages', 'fans', 'more']);
  expect(textsOf('packs')).toEqual(['pages', 'more']);
  expect(textsOf('checkout')).toEqual(['pages', 'shop']);
  expect(textsOf('product')).toEqual(['pages', 'shop', 'products']);
  expect(textsOf('signIn')).toEqual(['pages', 'entry']);
  expect(textsOf('wheel')).toEqual(['pages', 'wheels']);
  expect(textsOf('ownRounds')).toEqual(['pages', 'trivia']);
});
