import { expect, test } from 'vitest';
import { Unreachable } from './api/errors';
import { Deferred } from './api/testing';
import { Wishes } from './wishes.svelte';

test('a wish shows at once, and the newest one is sent after the one that runs', async () => {
  const first = new Deferred<undefined>();
  const sent: boolean[] = [];
  const wishes = new Wishes<boolean>(
    async (_, value) => {
      sent.push(value);
      if (sent.length === 1) await first.promise;
    },
    () => undefined,
  );
  const done = wishes.set('a', true);
  expect(wishes.over('a', false)).toBe(true);
  expect(wishes.over('b', false)).toBe(false);
  void wishes.set('a', false);
  void wishes.set('a', true);
  void wishes.set('a', false);
  first.resolve(undefined);
  await done;
  expect(sent).toEqual([true, false]);
  expect(wishes.over('a', 'known')).toBe('known');
});

test('a refused wish is dropped and its reason told', async () => {
  const failures: unknown[] = [];
  const failure = new Unreachable('gone');
  const wishes = new Wishes<boolean>(
    () => Promise.reject(failure),
    (reason) => failures.push(reason),
  );
  await wishes.set('a', true);
  expect(wishes.over('a', false)).toBe(false);
  expect(failures).toEqual([failure]);
});
