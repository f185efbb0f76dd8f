import { expect, test, vi } from 'vitest';
import { FakeApi, problem } from './api/testing';
import { Session } from './session.svelte';

function stubStorage(entries: Record<string, string> = {}): Map<string, string> {
  const kept = new Map(Object.entries(entries));
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
  return kept;
}

const HINT = 'terrace:session';
const ada = { id: 'fan-1', username: 'ada', displayName: 'Ada' };

test('where nothing is known of a session the service is asked once, without waiting for it', async () => {
  const kept = stubStorage();
  const fake = new FakeApi().on('GET /api/packs', () => ({ body: { packs: [{ owned: null }] } }));
  const session = new Session(fake.api);
  const loaded = session.load();
  expect(session.state).toEqual({ kind: 'signed-out' });
  await loaded;
  expect(session.state).toEqual({ kind: 'signed-out' });
  expect(kept.get(HINT)).toBe('guest');
  await new Session(fake.api).load();
  expect(fake.requests.map(({ name }) => name)).toEqual(['GET /api/packs']);
});

test('a session of which nothing is noted is found', async () => {
  const kept = stubStorage();
  const fake = new FakeApi()
    .on('GET /api/packs', () => ({ body: { packs: [{ owned: 0 }] } }))
    .on('GET /api/user', () => ({ body: ada }));
  const session = new Session(fake.api);
  await session.load();
  expect(session.fan).toEqual(ada);
  expect(kept.get(HINT)).toBe('signed-in');
});

test('without a connection a session of which nothing is noted is asked for again later', async () => {
  const kept = stubStorage();
  const fake = new FakeApi().on('GET /api/packs', () => ({ status: 0 }));
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
