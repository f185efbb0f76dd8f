import { expect, test } from 'vitest';
import { ownPath } from './own-path';

test.each([
  ['/table', '/table'],
  ['/table?board=7', '/table?board=7'],
  ['//evil.example/table', null],
  ['https://evil.example', null],
  ['/api/user', null],
  ['table', null],
  [null, null],
])('%s leads to %s', (text, expected) => {
  expect(ownPath(text)).toBe(expected);
});
