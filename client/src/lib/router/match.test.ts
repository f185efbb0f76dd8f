import { expect, test } from 'vitest';
import { href, matchPath } from './match';

test.each([
  ['/', 'home', {}],
  ['/room', 'room', {}],
  ['/posts/7', 'post', { id: '7' }],
  ['/posts/a%2Fb', 'post', { id: 'a/b' }],
  ['/posts/%zz', 'post', { id: '%zz' }],
])('%s is a page', (path, name, params) => {
  expect(matchPath(path)).toEqual({ name, params });
});

test.each(['/posts', '/posts/', '/posts/7/x', '/room/', '/api/user', ''])('%s is none', (path) => {
  expect(matchPath(path)).toBeNull();
});

test('an address holds its parameters and only the query that is set', () => {
  expect(href('post', { id: 'a/b' })).toBe('/posts/a%2Fb');
  expect(href('room', {}, { scope: 'team', teamId: null })).toBe('/room?scope=team');
});
