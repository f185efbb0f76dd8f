import { expect, test } from 'vitest';
import { Unreachable } from '$lib/api/errors';
import { DraftText, LONGEST, lengthOf } from './draft.svelte';

test.each([
  ['', 0],
  ['  a  ', 1],
  ['👏🏽', 2],
  ['é', 1],
])('%j has %i characters', (text, length) => {
  expect(lengthOf(text)).toBe(length);
});

test.each([
  ['', false],
  ['   ', false],
  ['Up the terrace', true],
  ['x'.repeat(LONGEST), true],
  ['x'.repeat(LONGEST + 1), false],
])('a text can be sent or not', (text, expected) => {
  const draft = new DraftText('room');
  draft.text = text;
  expect(draft.canSend).toBe(expected);
});

test('a text that was not sent stays, under the same key', async () => {
  const draft = new DraftText('room');
  draft.text = ' Up the terrace ';
  const keys: string[] = [];
  const failure = new Unreachable('gone');
  const sent = await draft.send(({ key, body }) => {
    keys.push(key, body);
    return Promise.reject(failure);
  });
  expect(sent).toBe(false);
  expect(draft.text).toBe(' Up the terrace ');
  expect(draft.attempt.failure).toBe(failure);
  expect(await draft.send(({ key }) => Promise.resolve(keys.push(key)))).toBe(true);
  expect(draft.text).toBe('');
  expect(keys).toEqual([keys[0], 'Up the terrace', keys[0]]);
});

test('another text has another key', async () => {
  const draft = new DraftText('room');
  const keys: string[] = [];
  for (const text of ['one', 'two']) {
    draft.text = text;
    await draft.send(({ key }) => Promise.resolve(keys.push(key)));
  }
  expect(new Set(keys).size).toBe(2);
});
