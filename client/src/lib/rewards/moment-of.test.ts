import { expect, test } from 'vitest';
import { enMore } from '../i18n/en-more';
import { enPages } from '../i18n/en-pages';
import { Texts } from '../i18n/texts.svelte';
import { momentOf } from './moment-of';
import type { Reward } from './reward';

const AT = '2026-11-20T12:00:00.000Z';
const step: Reward = { kind: 'step', id: 's1', at: AT, title: 'Follow another fan', points: 20 };
const quest: Reward = { kind: 'quest', id: 'q1', at: AT, title: 'Welcome', points: 50 };
const achievement: Reward = {
  kind: 'achievement',
  id: 'first-quest',
  at: AT,
  title: 'On your way',
  text: 'Complete a quest.',
};
const rank: Reward = { kind: 'rank', id: 'r', rank: 12, before: 15 };
const visit: Reward = { kind: 'visit', id: 'v', points: 10, coins: 5, milestone: null };

test.each<[string, Reward[], string]>([
  ['a step', [step], 'Step done. +20 points. Follow another fan'],
  ['a whole quest', [step, quest], 'Quest completed. +70 points. Follow another fan. Welcome'],
  ['a visit with coins', [visit], 'Today’s visit. +10 points. + 5 coins'],
  ['a milestone', [{ ...visit, milestone: 7 }], '7 days in a row. +10 points. + 5 coins'],
  ['an achievement', [achievement], 'Achievement unlocked. +1 achievement. On your way: Complete a quest.'],
  ['a place', [rank], 'Up the table. 12 is your place now. It was 15 before'],
  [
    'all of it',
    [achievement, rank, step],
    'Step done. +20 points. Unlocked: On your way. Up the table to place 12. Follow another fan',
  ],
])('the moment of %s', (_, rewards, expected) => {
  const moment = momentOf(rewards, new Texts({ pages: enPages, more: enMore }));
  expect(moment && [moment.title, `${moment.amount} ${moment.unit}`, ...moment.lines].join('. ')).toBe(
    expected,
  );
});
