import { expect, test, vi } from 'vitest';
import { FakeApi } from '$lib/api/testing';
import { Suggestions, searchable } from './search.svelte';

test.each([
  ['', null],
  [' a ', null],
  ['  mi   a ', 'mi a'],
  ['李', '李'],
  ['x'.repeat(80), 'x'.repeat(64)],
])('%j is searched as %j', (text, expected) => {
  expect(searchable(text)).toBe(expected);
});

test('only the text that rests is asked for', async () => {
  vi.useFakeTimers();
  const user = { id: '1', username: 'mia', displayName: 'Mia', pictureUrl: null };
  const fake = new FakeApi().on('GET /api/search', () => ({
    body: { users: [user], teams: [], topics: [{ tag: 'mia' }], nextCursor: null },
  }));
  const suggestions = new Suggestions(fake.api);
  const asked = [suggestions.ask('m'), suggestions.ask('mi'), suggestions.ask('mia')];
  await vi.runAllTimersAsync();
  await Promise.all(asked);
  vi.useRealTimers();
  expect(fake.requests.map(({ query }) => query.get('q'))).toEqual(['mia']);
  expect(suggestions.list.map(({ name }) => name)).toEqual(['Mia', '#mia']);
  suggestions.clear();
  expect(suggestions.list).toEqual([]);
});
