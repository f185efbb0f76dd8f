import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeApi, problem } from '$lib/api/testing';
import { systemClock } from '$lib/api/resource.svelte';
import { Settling } from './settling.svelte';

let status = 'pending';
let fake: FakeApi;
let settled = 0;

const purchase = (): object => ({ purchase: { id: 'p1', packId: 'pack', status } });

/** How often the service was asked in this way. */
const asked = (method: string): number =>
  fake.requests.filter(({ name }) => name.startsWith(`${method} `)).length;

function follow(): { settling: Settling; stop: () => void } {
  const settling = new Settling(fake.api, systemClock, 'p1');
  return { settling, stop: settling.follow(() => (settled += 1)) };
}

beforeEach(() => {
  vi.useFakeTimers();
  status = 'pending';
  settled = 0;
  fake = new FakeApi()
    .on('GET /api/user/purchases/p1', () => ({ body: purchase() }))
    .on('PUT /api/packs/pack/purchase', () => problem(409, 'payment_pending'));
});

afterEach(() => {
  vi.useRealTimers();
});

test('a pending purchase is looked up ever more rarely, and nothing is written', async () => {
  follow();
  await vi.advanceTimersByTimeAsync(15_000);
  // At 0, 2, 6 and 14 seconds.
  expect(asked('GET')).toBe(4);
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(asked('GET')).toBeLessThan(4 + 13);
  expect(asked('PUT')).toBe(0);
  status = 'completed';
  await vi.advanceTimersByTimeAsync(60_000);
  expect(settled).toBe(1);
  const before = asked('GET');
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(asked('GET')).toBe(before);
});

test('an event shows at once what became of it', async () => {
  const { settling } = follow();
  await vi.advanceTimersByTimeAsync(100);
  status = 'completed';
  await settling.look();
  expect(settling.purchase.value?.status).toBe('completed');
  expect(settled).toBe(1);
});

test('a fan who says that it is paid has the service ask once', async () => {
  const { settling } = follow();
  await vi.advanceTimersByTimeAsync(0);
  const { value } = settling.purchase;
  if (!value) throw new Error('not read');
  void settling.confirm(value);
  void settling.confirm(value);
  await vi.advanceTimersByTimeAsync(0);
  expect(asked('PUT')).toBe(1);
  expect(settling.attempt.failure).toMatchObject({ code: 'payment_pending' });
  expect(settled).toBe(0);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked('PUT')).toBe(1);
});

test.each(['while it waits', 'while it reads'])('a page that is left %s asks no more', async (when) => {
  const { stop } = follow();
  if (when === 'while it waits') await vi.advanceTimersByTimeAsync(100);
  stop();
  const before = asked('GET');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked('GET')).toBe(before);
});
