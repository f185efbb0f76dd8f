import { expect, test } from 'vitest';
import { sharedText, withShared } from './shared';

const LINK = 'https://club.test/goal';

test.each([
  [{ text: 'What a goal', url: LINK }, `What a goal\n${LINK}`],
  [{ title: 'The goal', text: `What a goal ${LINK}`, url: LINK }, `What a goal ${LINK}`],
  [{ title: 'The goal', url: LINK }, `The goal\n${LINK}`],
  [{ url: LINK }, LINK],
  [{ title: ' ', text: '' }, ''],
  [{}, ''],
])('%j is shared as %j', (query, expected) => {
  expect(sharedText(new URLSearchParams(query as Record<string, string>))).toBe(expected);
});

test.each([
  ['', LINK, LINK],
  ['Written before ', LINK, `Written before\n\n${LINK}`],
  [`Written before\n\n${LINK}`, LINK, `Written before\n\n${LINK}`],
  ['Written before', '', 'Written before'],
])('to the draft %j comes %j', (draft, shared, expected) => {
  expect(withShared(draft, shared)).toBe(expected);
});
