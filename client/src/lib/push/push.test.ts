import { beforeEach, expect, test, vi } from 'vitest';
import { FakeApi, problem } from '../api/testing';
import { Push } from './push.svelte';
import { FakePlace } from './testing';

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  });
});

/** A service with this key. */
function service(keyId = 'key-1'): FakeApi {
  return new FakeApi()
    .on('GET /api/club', () => ({ body: { push: true } }))
    .on('GET /api/push/key', () => ({ body: { publicKey: `public-${keyId}`, keyId } }))
    .on('PUT /api/push/subscription', () => ({ status: 204 }))
    .on('DELETE /api/push/subscription', () => ({ status: 204 }));
}

function names(fake: FakeApi): string[] {
  return fake.requests.map(({ name }) => name);
}

test('looking asks the reader for nothing', async () => {
  const place = new FakePlace();
  const push = new Push(service().api, place);
  expect(push.state).toBe('unknown');
  await push.look();
  expect(push.state).toBe('off');
  expect(place.done).toEqual([]);
});

test('turning on asks once, subscribes with the key of the service and says so to it', async () => {
  const [fake, place] = [service(), new FakePlace()];
  const push = new Push(fake.api, place);
  await Promise.all([push.turnOn(), push.turnOn()]);
  expect(push.state).toBe('on');
  expect(place.done).toEqual(['asked', 'subscribed by public-key-1']);
  expect(fake.requests.at(-1)).toMatchObject({
    name: 'PUT /api/push/subscription',
    body: {
      endpoint: 'https://push.test/public-key-1',
      keys: { p256dh: 'p', auth: 'a' },
      keyId: 'key-1',
    },
  });
  const later = new Push(fake.api, place);
  await later.look();
  expect(later.state).toBe('on');
});

test.each(['denied', 'default'] as const)('a reader who answers %s is not subscribed', async (answer) => {
  const [fake, place] = [service(), new FakePlace()];
  place.answer = answer;
  const push = new Push(fake.api, place);
  await push.turnOn();
  expect(push.state).toBe(answer === 'denied' ? 'denied' : 'off');
  expect(fake.requests).toEqual([]);
});

test('what the reader forbade is known without asking anyone', async () => {
  const [fake, place] = [service(), new FakePlace()];
  place.granted = 'denied';
  const push = new Push(fake.api, place);
  await push.look();
  expect(push.state).toBe('denied');
  expect(fake.requests).toEqual([]);
});

test('a service without keys, a browser without push and a push service that is gone are told apart', async () => {
  for (const without of [
    new FakeApi().on('GET /api/club', () => ({ body: { push: false } })),
    // The keys were taken away meanwhile.
    service().on('GET /api/push/key', () => problem(503, 'push_unavailable')),
  ]) {
    const unavailable = new Push(without.api, new FakePlace());
    await unavailable.look();
    expect(unavailable.state).toBe('unavailable');
  }

  const old = new FakePlace();
  old.isSupported = false;
  const unsupported = new Push(service().api, old);
  await unsupported.look();
  expect(unsupported.state).toBe('unsupported');

  const place = new FakePlace();
  place.isBroken = true;
  const fake = service();
  const broken = new Push(fake.api, place);
  await broken.turnOn();
  expect(broken.state).toBe('broken');
  expect(names(fake)).not.toContain('PUT /api/push/subscription');
});

test('a service that can’t be asked leaves the state unknown, with the reason', async () => {
  const fake = service().on('GET /api/push/key', () => ({ status: 0 }));
  const push = new Push(fake.api, new FakePlace());
  await push.look();
  expect(push.state).toBe('unknown');
  expect(push.attempt.failure?.name).toBe('Unreachable');
});

test('turning off ends it in the service and in the browser', async () => {
  const [fake, place] = [service(), new FakePlace()];
  const push = new Push(fake.api, place);
  await push.turnOn();
  await push.turnOff();
  expect(push.state).toBe('off');
  expect(names(fake).at(-1)).toBe('DELETE /api/push/subscription');
  expect(place.done.at(-1)).toBe('ended public-key-1');
});

test('with another key of the service the browser subscribes anew, and with the same one not', async () => {
  const place = new FakePlace();
  await new Push(service().api, place).turnOn();
  const same = service();
  await new Push(same.api, place).renew();
  expect(names(same)).toEqual(['GET /api/club', 'GET /api/push/key']);

  const changed = service('key-2');
  await new Push(changed.api, place).renew();
  expect(place.done.slice(2)).toEqual(['ended public-key-1', 'subscribed by public-key-2']);
  expect(changed.requests.at(-1)?.body).toMatchObject({ keyId: 'key-2' });
});

test('a browser that is not subscribed is not asked at the start', async () => {
  const [fake, place] = [service(), new FakePlace()];
  const push = new Push(fake.api, place);
  await push.renew();
  place.granted = 'granted';
  await push.renew();
  expect(fake.requests).toEqual([]);
  expect(place.done).toEqual([]);
});
