import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NO_CLUB, clubColour } from './club-colour';
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
  const { l, c, h } = clubColour(colours);
  expect(l).toBeCloseTo(expected.l, 2);
  expect(c).toBeCloseTo(expected.c, 2);
  expect(h).toBeCloseTo(expected.h, 0);
});

test('a club without a readable colour looks like no club', () => {
  expect(clubColour([])).toEqual(NO_CLUB);
  expect(clubColour(['red', '#fff'])).toEqual(NO_CLUB);
  expect(clubColour(['#000000', '#ffffff']).l).toBeCloseTo(0, 3);
});

test('the sprite holds exactly the drawings that have names', () => {
  const sprite = readFileSync(new URL('./icons.svg', import.meta.url), 'utf8');
  const ids = [...sprite.matchAll(/<symbol id="([a-z-]+)"/g)].map(([, id]) => id);
  expect(ids).toEqual([...ICONS]);
});
