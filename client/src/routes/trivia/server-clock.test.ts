import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ServerClock } from './server-clock.svelte';

/** What the device's steady clock shows. */
let steady = 0;
const T = Date.parse('2026-11-24T18:00:00.000Z');
const at = (ms: number): string => new Date(T + ms).toISOString();

beforeEach(() => {
  steady = 5_000;
});
afterEach(() => void vi.useRealTimers());

function clock(): ServerClock {
  return new ServerClock(() => steady);
}

/** An answer that names a time and took this long. */
function hear(time: ServerClock, named: string, tookMs: number): void {
  const sentAt = time.mark();
  steady += tookMs;
  time.note(named, sentAt);
}

test('before an answer the time is not known', () => {
  const time = clock();
  expect([time.now(), time.current]).toEqual([null, null]);
});

test('an answer names a time in the middle of its request, and the steady clock goes on', () => {
  const time = clock();
  hear(time, at(0), 200);
  expect(time.now()).toBe(T + 100);
  steady += 1_000;
  expect(time.now()).toBe(T + 1_100);
});

test('the time of day of the device does not matter', () => {
  vi.useFakeTimers({ now: T + 86_400_000, toFake: ['Date'] });
  const time = clock();
  hear(time, at(0), 0);
  vi.setSystemTime(T - 86_400_000);
  expect(time.now()).toBe(T);
});

test('several answers narrow the time down, and a slow one does not spoil it', () => {
  const time = clock();
  hear(time, at(0), 20);
  const before = time.now();
  // Two seconds pass until the answer, which the service made at the end.
  hear(time, at(1_990), 2_000);
  expect(time.now()).toBe((before ?? 0) + 2_000);
});

test('an answer that contradicts the earlier ones replaces them: the device slept', () => {
  const time = clock();
  hear(time, at(0), 20);
  hear(time, at(600_000), 20);
  expect(time.now()).toBe(T + 600_010);
});

test('what is shown follows the time while it is followed', () => {
  vi.useFakeTimers();
  const time = new ServerClock();
  time.note(at(0), time.mark());
  const stop = time.start();
  vi.advanceTimersByTime(1_000);
  expect(time.current).toBe(T + 1_000);
  stop();
  vi.advanceTimersByTime(1_000);
  expect(time.current).toBe(T + 1_000);
});
