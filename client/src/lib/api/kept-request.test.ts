import { beforeEach, expect, test, vi } from 'vitest';
import { Unreachable } from './errors';
import { KeptRequest } from './kept-request.svelte';
import { FakeApi, problem } from './testing';

let now = new Date('2026-11-23T12:00:00Z');
const clock = { now: () => now };
const lost = (): Promise<never> => Promise.reject(new Unreachable('lost'));
const keyOf = (key: string): Promise<string> => Promise.resolve(key);

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  });
  now = new Date('2026-11-23T12:00:00Z');
});

/** Sends a request that gets lost, and returns its key. */
async function lose(content: string): Promise<string> {
  let sent = '';
  const request = new KeptRequest(clock, 'test');
  await expect(
    request.send(content, (key) => {
      sent = key;
      return lost();
    }),
  ).rejects.toThrow('lost');
  return sent;
}

test('a request that got lost is sent again under its key, also by a page that is loaded anew', async () => {
  const first = await lose('a');
  const again = new KeptRequest(clock, 'test');
  expect(again.isKept('a')).toBe(true);
  expect(again.kept).toBe('a');
  expect(await again.send('a', keyOf)).toBe(first);
  expect(again.isKept('a')).toBe(false);
  expect(again.kept).toBeNull();
  expect(await again.send('a', keyOf)).not.toBe(first);
});

test('another content has another key', async () => {
  const first = await lose('a');
  const request = new KeptRequest(clock, 'test');
  expect(request.isKept('b')).toBe(false);
  expect(await request.send('b', keyOf)).not.toBe(first);
});

test('a key ends before the service forgets it, counted from its first request', async () => {
  const first = await lose('a');
  now = new Date('2026-11-24T10:00:00Z');
  expect(await lose('a')).toBe(first);
  now = new Date('2026-11-24T11:00:01Z');
  expect(new KeptRequest(clock, 'test').isKept('a')).toBe(false);
  expect(await lose('a')).not.toBe(first);
});

test.each([
  [409, false],
  [503, true],
])('a refusal with %d keeps the key: %s', async (status, isKept) => {
  const fake = new FakeApi().on('GET /api/cart', () => problem(status, 'any'));
  const request = new KeptRequest(clock, 'test');
  const send = (): Promise<unknown> => fake.api.call((client) => client.GET('/api/cart'));
  await expect(request.send('', send)).rejects.toThrow(String(status));
  expect(request.isKept()).toBe(isKept);
});
