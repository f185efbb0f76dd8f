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
  ['/api/dashboard', true],
  ['/api/notifications', true],
  ['/api/notifications?cursor=abc', false],
  ['/api/notifications/preferences', false],
  ['/api/push/key', false],
  ['/api/wallets?limit=1', true],
  ['/api/wallets?cursor=abc', false],
  ['/api/wallets/7', true],
  ['/api/rewards?limit=100', true],
  ['/api/user/rewards/7', true],
  ['/api/wheel?limit=100', true],
  ['/api/wheel/7', true],
  ['/api/user/spins?limit=25', true],
  ['/api/user/spins?cursor=abc', false],
  ['/api/trivia?status=current&limit=10', true],
  ['/api/trivia?status=past&limit=10&cursor=abc', false],
  ['/api/trivia/7', true],
  ['/api/trivia/7/leaderboard?limit=10', true],
  ['/api/trivia/7/proof', true],
  ['/api/trivia/7/stream', false],
  ['/api/user/rounds?limit=25', true],
  ['/api/cash-balance/statement?limit=100&currency=EUR', true],
  ['/api/user/purchases', true],
  ['/api/user/purchases/7', false],
  ['/api/products?category=wear', true],
  ['/api/user/orders/7', true],
  ['/api/cart', false],
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
