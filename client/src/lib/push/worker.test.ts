import { expect, test, vi } from 'vitest';
import { messageOf, openPage, subscribeAnew, type Window, type Windows } from './worker';

const ORIGIN = 'https://terrace.test';
const sent = { title: 'Ben answered you', text: 'Never offside', url: '/posts/7', tag: 'group-1', unread: 3 };

test('a message is shown as the service wrote it', () => {
  expect(messageOf(JSON.stringify(sent), ORIGIN, 'en-GB')).toEqual(sent);
});

test.each([
  ['', 'en-GB', 'There is something new.'],
  ['no JSON', 'de-AT', 'Es gibt etwas Neues.'],
  ['[1]', 'en', 'There is something new.'],
  ['null', 'fr', 'There is something new.'],
])('what can’t be read is shown all the same: %s', (text, language, shown) => {
  const message = { title: 'Terrace', text: shown, url: '/notifications', tag: 'terrace', unread: null };
  expect(messageOf(text, ORIGIN, language)).toEqual(message);
});

test.each([
  ['/orders/7?from=push', '/orders/7?from=push'],
  ['https://elsewhere.test/posts/7', '/notifications'],
  ['//elsewhere.test/posts/7', '/notifications'],
  ['/\\elsewhere.test', '/notifications'],
  ['javascript:alert(1)', '/notifications'],
  ['', '/notifications'],
])('%s leads to %s', (url, expected) => {
  expect(messageOf(JSON.stringify({ ...sent, url }), ORIGIN, 'en').url).toBe(expected);
});

/** Open pages, of which each notes what is done with it. */
function windows(...pages: [url: string, isVisible: boolean][]): { all: Windows; done: string[] } {
  const done: string[] = [];
  const open: Window[] = pages.map(([path, isVisible]) => ({
    url: ORIGIN + path,
    visibilityState: isVisible ? 'visible' : 'hidden',
    focus: () => Promise.resolve(done.push(`focus ${path}`)),
    postMessage: (message) => void done.push(`${path} opens ${message.open}`),
  }));
  const all: Windows = {
    matchAll: () => Promise.resolve(open),
    openWindow: (url) => Promise.resolve(done.push(`new ${url}`)),
  };
  return { all, done };
}

test.each<[string, [string, boolean][], string[]]>([
  ['without a page a new one', [], ['new /posts/7']],
  [
    'the page that is there already',
    [
      ['/room', true],
      ['/posts/7', false],
    ],
    ['focus /posts/7'],
  ],
  [
    'the visible page, which goes there',
    [
      ['/room', false],
      ['/table', true],
    ],
    ['/table opens /posts/7', 'focus /table'],
  ],
  ['a hidden page, which goes there', [['/room', false]], ['/room opens /posts/7', 'focus /room']],
])('a message that is pressed shows %s', async (_, pages, expected) => {
  const { all, done } = windows(...pages);
  await openPage(all, '/posts/7', ORIGIN);
  expect(done).toEqual(expected);
});

const subscription = {
  toJSON: () => ({ endpoint: 'https://push.test/1', keys: { p256dh: 'p', auth: 'a' } }),
};

test.each([
  ['that the browser made', subscription, 0],
  ['that is made anew', null, 1],
])('the service hears of a subscription %s', async (_, given, times) => {
  const subscribe = vi.fn(() => Promise.resolve(subscription));
  const send = vi.fn((path: string) =>
    Promise.resolve(
      path === '/api/push/key'
        ? Response.json({ publicKey: 'public', keyId: 'key-2' })
        : new Response(null, { status: 204 }),
    ),
  );
  await subscribeAnew({ subscribe }, given, send);
  expect(subscribe).toHaveBeenCalledTimes(times);
  const [, put] = send.mock.calls as unknown as [string, RequestInit][];
  expect(put?.[0]).toBe('/api/push/subscription');
  expect(put?.[1].method).toBe('PUT');
  const body = { endpoint: 'https://push.test/1', keys: { p256dh: 'p', auth: 'a' }, keyId: 'key-2' };
  expect(JSON.parse(put?.[1].body as string)).toEqual(body);
});

test('without a session nothing is subscribed', async () => {
  const subscribe = vi.fn(() => Promise.resolve(subscription));
  const send = vi.fn(() => Promise.resolve(new Response(null, { status: 401 })));
  await subscribeAnew({ subscribe }, null, send);
  expect(subscribe).not.toHaveBeenCalled();
  expect(send).toHaveBeenCalledTimes(1);
});
