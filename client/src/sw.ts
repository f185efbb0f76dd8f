import { isKeptList, isPage, shellKey } from './lib/offline/rules';
import {
  messageOf,
  openPage,
  subscribeAnew,
  type Manager,
  type Subscription,
  type Windows,
} from './lib/push/worker';

/** What is used of a service worker's scope: its types as a whole contradict those of a page. */
interface Lasting extends Event {
  readonly data?: unknown;
  waitUntil: (work: Promise<unknown>) => void;
}

interface Fetching extends Lasting {
  readonly request: Request;
  respondWith: (answer: Promise<Response>) => void;
}

/** A message of the service arrived. */
interface Pushed extends Lasting {
  readonly data: { text: () => string } | null;
}

/** The reader pressed a message. */
interface Pressed extends Lasting {
  readonly notification: Notification;
}

/** The browser replaced the subscription. */
interface Replaced extends Lasting {
  readonly newSubscription?: Subscription | null;
}

interface Scope {
  readonly clients: Windows & { claim: () => Promise<void> };
  readonly registration: Pick<ServiceWorkerRegistration, 'showNotification'> & { pushManager: Manager };
  skipWaiting: () => Promise<void>;
  addEventListener: ((name: 'install' | 'activate' | 'message', handler: (event: Lasting) => void) => void) &
    ((name: 'fetch', handler: (event: Fetching) => void) => void) &
    ((name: 'push', handler: (event: Pushed) => void) => void) &
    ((name: 'notificationclick', handler: (event: Pressed) => void) => void) &
    ((name: 'pushsubscriptionchange', handler: (event: Replaced) => void) => void);
}

declare const self: Scope;

/** Written by the build: every file of the client, the paths of its pages, and a digest over all of it. */
declare const SHELL: { digest: string; files: string[]; pages: string[] };

const SHELL_CACHE = `terrace-shell-${SHELL.digest}`;
/** What was read last; pages remove it when the account changes. */
const LISTS_CACHE = 'terrace-lists';
/** The club's colours: the page waits for them, so that they are shown as they were read last. */
const THEME = '/theme.css';
/** How many answers are kept. */
const MOST_LISTS = 60;

self.addEventListener('install', (event) => event.waitUntil(install()));
self.addEventListener('activate', (event) => event.waitUntil(activate()));
self.addEventListener('message', (event) => {
  if (event.data === 'take-over') void self.skipWaiting();
  // A page asks that the worker does not govern.
  else if (event.data === 'claim') event.waitUntil(self.clients.claim());
});
self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin) return;
  if (request.mode === 'navigate') {
    if (isPage(SHELL.pages, url.pathname)) event.respondWith(shell(request, '/'));
  } else if (SHELL.files.includes(url.pathname)) {
    event.respondWith(shell(request, url.pathname));
  } else if (url.pathname === THEME) {
    event.respondWith(theme(event, request));
  } else if (isKeptList(url) && request.cache !== 'no-store') {
    event.respondWith(list(event, request));
  }
});

self.addEventListener('push', (event) => event.waitUntil(show(event.data?.text())));
self.addEventListener('notificationclick', (event) => {
  const data: unknown = event.notification.data;
  event.notification.close();
  if (typeof data === 'string') event.waitUntil(openPage(self.clients, data, location.origin));
});
self.addEventListener('pushsubscriptionchange', (event) => {
  const { pushManager } = self.registration;
  event.waitUntil(
    subscribeAnew(pushManager, event.newSubscription ?? null, (path, init) => fetch(path, init)),
  );
});

async function show(sent: string | undefined): Promise<void> {
  const { title, text: body, url, tag, unread } = messageOf(sent, location.origin, navigator.language);
  // A page imports the function that does this: a module of both would be a file of its own.
  if (unread !== null && 'setAppBadge' in navigator) navigator.setAppBadge(unread).catch(() => undefined);
  const pictures = { icon: '/icon-192.png', badge: '/badge.png' };
  await self.registration.showNotification(title, { body, tag, data: url, dir: 'auto', ...pictures });
}

async function install(): Promise<void> {
  const cache = await caches.open(SHELL_CACHE);
  await Promise.all(
    ['/', ...SHELL.files].map(async (path) => {
      // The service sends the page to navigations only; a file of an older version may be in the browser's own cache.
      const answer = await fetch(path, { cache: 'no-cache', headers: { accept: 'text/html, */*' } });
      if (!answer.ok) throw new Error(`${path}: ${String(answer.status)}`);
      await cache.put(shellKey(path), answer);
    }),
  );
}

async function activate(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith('terrace-shell-') && name !== SHELL_CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

async function shell(request: Request, path: string): Promise<Response> {
  const cache = await caches.open(SHELL_CACHE);
  return (await cache.match(shellKey(path))) ?? fetch(request);
}

/** Answers with the theme that was read last, and reads it for the next page. */
async function theme(event: Fetching, request: Request): Promise<Response> {
  const renewed = list(event, request);
  const cache = await caches.open(LISTS_CACHE);
  const kept = await cache.match(request.url);
  if (!kept) return renewed;
  event.waitUntil(renewed.catch(() => kept));
  return kept;
}

/** Reads a list, and the one that was read last where there is no connection. */
async function list(event: Fetching, request: Request): Promise<Response> {
  // A cache that is removed meanwhile, because the account changed, keeps nothing for the next account.
  const cache = await caches.open(LISTS_CACHE);
  try {
    const answer = await fetch(request);
    if (answer.ok) event.waitUntil(keep(cache, request.url, answer.clone()));
    return answer;
  } catch (error) {
    const kept = await cache.match(request.url);
    if (kept) return kept;
    throw error;
  }
}

async function keep(cache: Cache, url: string, answer: Response): Promise<void> {
  const headers = new Headers(answer.headers);
  headers.set('terrace-read-at', new Date().toISOString());
  await cache.delete(url);
  await cache.put(url, new Response(await answer.arrayBuffer(), { headers }));
  const keys = await cache.keys();
  await Promise.all(keys.slice(0, Math.max(0, keys.length - MOST_LISTS)).map((key) => cache.delete(key)));
}
