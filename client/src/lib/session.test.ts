import { expect, test, vi } from 'vitest';
import { FakeApi, problem } from './api/testing';
import { Session } from './session.svelte';

function stubStorage(entries: Record<string, string> = {}): Map<string, string> {
  const kept = new Map(Object.entries(entries));
  // A browser without a service worker.
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
  return kept;
}

const HINT = 'terrace:session';
/** A service that answers with this header to who reads, and has no content. */
function asks(caching: string): FakeApi {
  const reply = { body: { leagues: [] }, headers: { 'cache-control': caching } };
  return new FakeApi().on('GET /api/leagues', () => reply);
}

const ada = { id: 'fan-1', username: 'ada', displayName: 'Ada' };

test('where nothing is known of a session the service is asked once, without waiting for it', async () => {
  const kept = stubStorage();
  const fake = asks('public, no-cache');
  const session = new Session(fake.api);
  const loaded = session.load();
  expect(session.state).toEqual({ kind: 'signed-out' });
  await loaded;
  expect(session.state).toEqual({ kind: 'signed-out' });
  expect(kept.get(HINT)).toBe('guest');
  await new Session(fake.api).load();
  expect(fake.requests.map(({ name }) => name)).toEqual(['GET /api/leagues']);
});

test('a session of which nothing is noted is found', async () => {
  const kept = stubStorage();
  const fake = asks('private, no-cache').on('GET /api/user', () => ({ body: ada }));
  const session = new Session(fake.api);
  await session.load();
  expect(session.fan).toEqual(ada);
  expect(kept.get(HINT)).toBe('signed-in');
});

test.each([
  ['without a connection', { status: 0 }],
  ['of a busy service', problem(503, 'unavailable')],
  ['where a header is lost on the way', { body: { leagues: [] } }],
])('%s a session of which nothing is noted is asked for again later', async (_, reply) => {
  const kept = stubStorage();
  const fake = new FakeApi().on('GET /api/leagues', () => reply);
  const session = new Session(fake.api);
  await session.load();
  expect(session.state).toEqual({ kind: 'signed-out' });
  expect(kept.has(HINT)).toBe(false);
});

test('signing in reads the profile and is remembered', async () => {
  const kept = stubStorage();
  const fake = new FakeApi()
    .on('POST /api/login', () => ({ body: {} }))
    .on('GET /api/user', () => ({ body: ada }));
  const session = new Session(fake.api);
  await session.signIn('ada', 'secret');
  expect(session.fan).toEqual(ada);
  expect(kept.get(HINT)).toBe('signed-in');
  expect(fake.requests[0]?.body).toEqual({ username: 'ada', password: 'secret' });
});

test.each([
  ['', { username: 'ada', password: 'secret' }],
  ['Ada', { username: 'ada', password: 'secret', displayName: 'Ada' }],
])('signing up sends a name to show only if there is one', async (displayName, expected) => {
  stubStorage();
  const fake = new FakeApi()
    .on('POST /api/register', () => ({ status: 201, body: {} }))
    .on('GET /api/user', () => ({ body: ada }));
  await new Session(fake.api).signUp({ username: 'ada', password: 'secret', displayName });
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  expect(fake.requests[0]?.body).toEqual({ ...expected, timeZone });
});

test('signing out ends the session before what was read is forgotten', async () => {
  const kept = stubStorage({ [HINT]: 'signed-in' });
  const fake = new FakeApi()
    .on('GET /api/user', () => ({ body: ada }))
    .on('POST /api/logout', () => ({ status: 204 }));
  const session = new Session(fake.api);
  await session.load();
  const forgotten: string[] = [];
  vi.stubGlobal('caches', {
    delete: () => Promise.resolve(forgotten.push(session.state.kind) > 0),
  });
  await session.signOut();
  expect(forgotten).toEqual(['signed-out']);
  expect(kept.has(HINT)).toBe(false);
});

test('a session that is over is noticed and forgotten', async () => {
  const kept = stubStorage({ [HINT]: 'signed-in' });
  const fake = new FakeApi().on('GET /api/user', () => problem(401, 'authentication_required'));
  const session = new Session(fake.api);
  await session.load();
  expect(session.state).toEqual({ kind: 'signed-out' });
  expect(kept.has(HINT)).toBe(false);
});

test('without a connection the session is unknown, not over', async () => {
  const kept = stubStorage({ [HINT]: 'signed-in' });
  const fake = new FakeApi().on('GET /api/user', () => ({ status: 0 }));
  const session = new Session(fake.api);
  await session.load();
  expect(session.state.kind).toBe('failed');
  expect(kept.has(HINT)).toBe(true);
});
