import { expect, test } from 'vitest';
import { isKeptList, isPage } from './rules';

test.each([
  ['/api/locker-room?scope=following', true],
  ['/api/locker-room?scope=all&cursor=abc', false],
  ['/api/locker-room/7', true],
  ['/api/locker-room/7/comments', true],
  ['/api/locker-room/stream', false],
  ['/api/stream?channels=room', false],
  ['/api/user', true],
  ['/api/user/sessions', false],
  ['/api/wallets?limit=1', true],
  ['/api/wallets?cursor=abc', false],
  ['/api/user/purchases', true],
  ['/api/user/purchases/7', false],
  ['/api/user/blocks', true],
  ['/api/user/recommended', true],
  ['/api/users/7/collectibles', true],
  ['/api/user/export', false],
  ['/media/1', false],
])('%s is kept: %s', (address, expected) => {
  expect(isKeptList(new URL(address, 'http://terrace.test'))).toBe(expected);
});

test.each([
  ['/', true],
  ['/posts/7', true],
  ['/posts/', false],
  ['/posts', false],
  ['/api/docs', false],
])('%s is a page: %s', (path, expected) => {
  expect(isPage(['/', '/posts/{id}'], path)).toBe(expected);
});
