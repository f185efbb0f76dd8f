import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clubColour } from './club-colour';
import { ICONS } from './icon-names';
import { PRINTS, initials, printOf } from './initials';

test.each([
  ['Tilda Marsh', 'TM'],
  ['mia', 'M'],
  ['priya_gunners', 'PG'],
  ['Ada Byron King', 'AK'],
  ['🎉 party', 'P'],
  ['李 小龙', '李小'],
  ['', '?'],
])('%s has the initials %s', (name, expected) => {
  expect(initials(name, 'en')).toBe(expected);
});

test('a name always gets the same drawing', () => {
  expect(printOf('Tilda Marsh')).toBe(printOf('Tilda Marsh'));
  for (const name of ['', 'a', 'Ruben Achter', '李']) expect(printOf(name)).toBeLessThan(PRINTS);
});

test.each([
  [['#ff0000', '#ffffff'], { l: 0.628, c: 0.2577, h: 29.23 }],
  [['#ffffff', '#0000ff'], { l: 0.452, c: 0.3132, h: 264.05 }],
])('%j has the colour of its first colour that is not grey', (colours, expected) => {
  const colour = clubColour(colours);
  expect(colour?.l).toBeCloseTo(expected.l, 2);
  expect(colour?.c).toBeCloseTo(expected.c, 2);
  expect(colour?.h).toBeCloseTo(expected.h, 0);
});

test('a club without a readable colour has none, and one of greys has its first', () => {
  expect(clubColour([])).toBeNull();
  expect(clubColour(['red', '#fff'])).toBeNull();
  expect(clubColour(['#000000', '#ffffff'])?.l).toBeCloseTo(0, 3);
});

test('the sprite holds exactly the drawings that have names', () => {
  const sprite = readFileSync(new URL('./icons.svg', import.meta.url), 'utf8');
  const ids = [...sprite.matchAll(/<symbol id="([a-z-]+)"/g)].map(([, id]) => id);
  expect(ids).toEqual([...ICONS]);
});
