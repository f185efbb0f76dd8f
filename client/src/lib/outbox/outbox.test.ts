import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeApi, problem } from '$lib/api/testing';
import { PageKeeping, TOO_OLD, aged, isEntry, type Entry } from './entries';
import { Outbox } from './outbox.svelte';

const HOUR = 60 * 60_000;
let now = 0;
const clock = { now: () => new Date(now) };

beforeEach(() => {
  now = 1_000_000;
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const text = { key: 'key-1', postId: null, body: 'Up the terrace' };
const post = { id: '1', body: text.body };

function entry(more: Partial<Entry> = {}): Entry {
  return { ...text, account: 'ada', writtenAt: now, sentAt: null, refusal: null, ...more };
}

function outbox(fake: FakeApi, keeping = new PageKeeping()): { it: Outbox; keeping: PageKeeping } {
  return { it: new Outbox(fake.api, clock, keeping, (_, task) => task()), keeping };
}

/** A service on which `account` is signed in, and the keys that it got. */
function service(account = 'ada'): { fake: FakeApi; keys: (string | null)[] } {
  const keys: (string | null)[] = [];
  const fake = new FakeApi()
    .on('GET /api/user', () => ({ body: { id: account } }))
    .on('POST /api/locker-room', (request) => {
      keys.push(request.headers.get('idempotency-key'));
      return { status: 201, body: { post } };
    });
  return { fake, keys };
}

const send = (fake: FakeApi) => () =>
  fake.api.call((client) =>
    client.POST('/api/locker-room', {
      params: { header: { 'Idempotency-Key': text.key } },
      body: { body: text.body },
    }),
  );

test.each([
  ['never sent, however old', entry({ writtenAt: 0 }), null],
  ['sent lately', entry({ sentAt: 0 }), null],
  ['sent a day ago', entry({ sentAt: -23 * HOUR }), TOO_OLD],
  ['refused before', entry({ sentAt: -23 * HOUR, refusal: 'forbidden' }), 'forbidden'],
])('an entry that was %s', (_, kept, refusal) => {
  expect(aged(kept, 1).refusal).toBe(refusal);
});

test.each([
  [entry(), true],
  [entry({ postId: '7', sentAt: 1, refusal: TOO_OLD }), true],
  [{ ...entry(), key: 7 }, false],
  [{ ...entry(), postId: undefined }, false],
  [{ ...entry(), sentAt: '1' }, false],
  [text, false],
  ['entry', false],
  [null, false],
])('%j is an entry: %s', (kept, expected) => {
  expect(isEntry(kept)).toBe(expected);
});

test('what arrives is not kept', async () => {
  const { fake, keys } = service();
  const { it, keeping } = outbox(fake);
  await it.use('ada');
  expect(await it.write(text, send(fake))).toBe('sent');
  expect(await keeping.all()).toEqual([]);
  expect(keys).toEqual(['key-1']);
});

test.each([
  ['no connection', { status: 0 }],
  ['a busy service', problem(503, 'unavailable')],
  ['a limit', problem(429, 'rate_limited')],
])('with %s a text is kept and sent later under its key', async (_, reply) => {
  const fake = new FakeApi().on('POST /api/locker-room', () => reply);
  const { it, keeping } = outbox(fake);
  await it.use('ada');
  expect(await it.write(text, send(fake))).toBe('waiting');
  expect(it.entries(null)).toMatchObject([{ body: text.body, refusal: null }]);
  const { fake: back, keys } = service();
  const arrived: unknown[] = [];
  const { it: later } = outbox(back, keeping);
  later.onarrived((sent) => arrived.push(sent));
  await later.use('ada');
  expect(keys).toEqual(['key-1']);
  expect(arrived).toEqual([{ kind: 'post', post }]);
  expect(await keeping.all()).toEqual([]);
});

test('a text that is refused is its author’s again', async () => {
  const fake = new FakeApi().on('POST /api/locker-room', () => problem(422, 'validation_failed'));
  const { it, keeping } = outbox(fake);
  await it.use('ada');
  await expect(it.write(text, send(fake))).rejects.toThrow('validation_failed');
  expect(await keeping.all()).toEqual([]);
});

test('a waiting text that is refused stays, with the reason, until its author decides', async () => {
  const { fake, keys } = service();
  fake.on('POST /api/locker-room', () => problem(403, 'forbidden'));
  const { it, keeping } = outbox(fake);
  await keeping.put(entry());
  await it.use('ada');
  expect(it.entries(null)).toMatchObject([{ refusal: 'forbidden' }]);
  await it.flush();
  expect(fake.requests.filter(({ name }) => name.startsWith('POST'))).toHaveLength(1);
  fake.on('POST /api/locker-room', (request) => {
    keys.push(request.headers.get('idempotency-key'));
    return { status: 201, body: { post } };
  });
  const [returned] = it.entries(null);
  if (returned) await it.sendAgain(returned);
  expect(keys).toHaveLength(1);
  expect(keys[0]).not.toBe('key-1');
  expect(it.entries(null)).toEqual([]);
});

test('what was sent a day ago is not sent by itself', async () => {
  const { fake, keys } = service();
  const { it, keeping } = outbox(fake);
  now = 30 * HOUR;
  await keeping.put(entry({ sentAt: HOUR }));
  await it.use('ada');
  expect(keys).toEqual([]);
  const [old] = it.entries(null);
  expect(old?.refusal).toBe(TOO_OLD);
  if (old) await it.discard(old);
  expect(await keeping.all()).toEqual([]);
});

test('what one account wrote is neither shown nor sent as another', async () => {
  const { fake, keys } = service('bob');
  const { it, keeping } = outbox(fake);
  await keeping.put(entry());
  await it.use('bob');
  expect(it.entries(null)).toEqual([]);
  // Another tab signed in as someone else, which this one has not noticed.
  await it.use('ada');
  expect(keys).toEqual([]);
  expect(await keeping.all()).toHaveLength(1);
});

test('texts are sent in their order, and the rest waits after a failure', async () => {
  const { fake } = service();
  const bodies: unknown[] = [];
  let isThere = true;
  fake.on('POST /api/locker-room', async (request) => {
    bodies.push(((await request.json()) as { body: string }).body);
    isThere = bodies.length < 2;
    return isThere ? { status: 201, body: { post } } : { status: 0 };
  });
  const { it, keeping } = outbox(fake);
  for (const place of [3, 1, 2]) {
    await keeping.put(entry({ key: `key-${String(place)}`, body: String(place), writtenAt: place }));
  }
  await it.use('ada');
  expect(bodies).toEqual(['1', '2']);
  expect(it.entries(null).map(({ body }) => body)).toEqual(['2', '3']);
  await vi.advanceTimersByTimeAsync(16_000);
  expect(bodies).toEqual(['1', '2', '2']);
});
