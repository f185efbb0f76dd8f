import { expect, test, vi } from 'vitest';
import { Refused, Unreachable, failureOf } from './errors';
import { Resource } from './resource.svelte';
import { Deferred, FakeApi, problem } from './testing';

const user = (fake: FakeApi): Promise<unknown> => fake.api.call((client) => client.GET('/api/user'));

test('the body of an answer is returned', async () => {
  const fake = new FakeApi().on('GET /api/user', () => ({ body: { id: '7' } }));
  expect(await user(fake)).toEqual({ id: '7' });
});

test('a problem document is a refusal, with the time to wait', async () => {
  const reply = { ...problem(429, 'rate_limited'), headers: { 'retry-after': '7' } };
  const fake = new FakeApi().on('GET /api/user', () => reply);
  const failure = await user(fake).catch(failureOf);
  expect(failure).toBeInstanceOf(Refused);
  expect(failure).toMatchObject({ code: 'rate_limited', retryAfter: 7 });
});

test.each([
  ['no connection', { status: 0 }],
  ['a page of a proxy', { status: 502, body: 'Bad gateway' }],
])('%s is unreachable', async (_, reply) => {
  const fake = new FakeApi().on('GET /api/user', () => reply);
  expect(await user(fake).catch(failureOf)).toBeInstanceOf(Unreachable);
});

test('a defect is not taken for a failure', async () => {
  await expect(user(new FakeApi())).rejects.toThrow('unexpected request: GET /api/user');
  expect(() => failureOf(new RangeError('defect'))).toThrow(RangeError);
});

test('the end of the session is announced until the handler is removed', async () => {
  const fake = new FakeApi().on('GET /api/user', () => problem(401, 'authentication_required'));
  const handler = vi.fn();
  const stop = fake.api.onSignedOut(handler);
  await expect(user(fake)).rejects.toThrow(Refused);
  stop();
  await expect(user(fake)).rejects.toThrow(Refused);
  expect(handler).toHaveBeenCalledTimes(1);
});

const noon = new Date('2026-11-23T12:00:00Z');
const clock = { now: () => noon };

test('a new read aborts the one before, whose answer is dropped', async () => {
  const answers = [new Deferred<string>(), new Deferred<string>()];
  const signals: AbortSignal[] = [];
  const resource = new Resource((signal) => {
    signals.push(signal);
    return answers[signals.length - 1]?.promise ?? Promise.reject(new Error('read too often'));
  }, clock);
  const reads = [resource.load(), resource.load()];
  answers[1]?.resolve('new');
  answers[0]?.resolve('old');
  await Promise.all(reads);
  expect(resource.state).toEqual({ kind: 'ready', read: { value: 'new', at: noon } });
  expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
  expect(resource.isReading).toBe(false);
});

test('a failure keeps the old value and its age', async () => {
  const failure = new Unreachable('gone');
  const read = vi.fn().mockResolvedValueOnce('first').mockRejectedValueOnce(failure);
  const resource = new Resource<string>(read, clock);
  await resource.load();
  await resource.load();
  expect(resource.state).toEqual({ kind: 'failed', failure, old: { value: 'first', at: noon } });
  resource.update((value) => `${value}, changed`);
  expect(resource.value).toBe('first, changed');
});

test('a first failure has no old value, and what is no failure is thrown', async () => {
  const read = vi
    .fn()
    .mockRejectedValueOnce(new Unreachable('gone'))
    .mockRejectedValueOnce(new Error('defect'));
  const resource = new Resource<string>(read, clock);
  await resource.load();
  expect(resource.state).toMatchObject({ kind: 'failed', old: null });
  await expect(resource.load()).rejects.toThrow('defect');
});

test('a reset drops the answer that is on its way', async () => {
  const answer = new Deferred<string>();
  const resource = new Resource(() => answer.promise, clock);
  const read = resource.load();
  resource.reset();
  answer.resolve('late');
  await read;
  expect(resource.state).toEqual({ kind: 'loading' });
});

test('an answer that was kept is old, and replaces nothing newer', async () => {
  const headers = { 'terrace-read-at': '2026-11-23T09:00:00.000Z' };
  let isKept = true;
  const fake = new FakeApi().on('GET /api/user', () => ({
    body: { id: isKept ? 'kept' : 'new' },
    ...(isKept ? { headers } : {}),
  }));
  const resource = new Resource(() => user(fake), clock);
  await resource.load();
  const nine = new Date('2026-11-23T09:00:00Z');
  expect(resource.state).toMatchObject({ kind: 'failed', old: { value: { id: 'kept' }, at: nine } });
  isKept = false;
  await resource.load();
  expect(resource.state.kind).toBe('ready');
  isKept = true;
  await resource.load();
  expect(resource.state).toMatchObject({ kind: 'failed', old: { value: { id: 'new' }, at: noon } });
});
