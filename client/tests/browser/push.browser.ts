import type { BrowserContext, Page, Worker } from 'playwright-core';
import { expect, test } from 'vitest';
import { begin } from './collector';
import { PASSWORD } from './fan';
import { isMarked, mark } from './marked';
import { readAs } from './member';
import { governed, signIn } from './profile';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const NARROW = { width: 390, height: 844 };
const { service, browser } = await staged(
  Stage.open([
    '--rate-limits',
    'off',
    // The base64url of 32 bytes, as `terrace push keys` makes them.
    '--push-key',
    'BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc',
    '--push-contact',
    'mailto:club@example.org',
  ]),
);

/** What a test uses of a service worker's scope. */
interface Scope {
  registration: ServiceWorkerRegistration;
  clients: { openWindow: (url: string) => Promise<null> };
  opened: string[];
  shown: Promise<void>;
  dispatchEvent: (event: Event) => boolean;
  NotificationEvent: new (name: string, init: { notification: unknown }) => Event;
}

function workerOf(context: BrowserContext): Worker {
  const [worker] = context.serviceWorkers();
  if (!worker) throw new Error('no service worker');
  return worker;
}

/**
 * Delivers a message to the service worker, as the push service of the browser does, and waits until it is shown: a browser
 * forgets one that a page asks for before.
 */
async function deliver(page: Page, message: object): Promise<void> {
  const worker = workerOf(page.context());
  await worker.evaluate(() => {
    const scope = globalThis as unknown as Scope;
    const { registration } = scope;
    const show = registration.showNotification.bind(registration);
    scope.shown = new Promise((resolve) => {
      registration.showNotification = async (...message_) => {
        await show(...message_);
        resolve();
      };
    });
  });
  const session = await page.context().newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [first] }) => {
      if (first) resolve(first.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.deliverPushMessage', {
    origin: service.url,
    registrationId: await registered,
    data: JSON.stringify(message),
  });
  await worker.evaluate(() => (globalThis as unknown as Scope).shown);
  await session.detach();
}

interface Shown {
  title: string;
  body: string;
  tag: string;
}

/** The messages that the browser shows. */
function shown(page: Page): Promise<Shown[]> {
  return page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    const all = await registration.getNotifications();
    return all.map(({ title, body, tag }) => ({ title, body, tag }));
  });
}

/** Presses the message that is shown, which a browser without a screen can't. Notes which windows are opened then. */
async function pressMessage(context: BrowserContext): Promise<Worker> {
  const worker = workerOf(context);
  await worker.evaluate(async () => {
    const scope = globalThis as unknown as Scope;
    scope.opened ??= [];
    scope.clients.openWindow = (url) => {
      scope.opened.push(url);
      return Promise.resolve(null);
    };
    const [notification] = await scope.registration.getNotifications();
    scope.dispatchEvent(new scope.NotificationEvent('notificationclick', { notification }));
  });
  return worker;
}

const message = {
  id: '1',
  kind: 'comment',
  title: 'Ben commented on your post',
  text: 'Never offside',
  url: '/settings/notifications',
  tag: 'group-1',
  unread: 3,
};

test('a message is shown, one of its group replaces it, and it opens its page', async () => {
  const visitor = await Visitor.arrive(browser, service.url, {
    viewport: NARROW,
    permissions: ['notifications'],
  });
  const { page } = visitor;
  await begin(page, service, 'listener');
  await governed(page);
  await deliver(page, message);
  const first = { title: message.title, body: message.text, tag: message.tag };
  expect(await shown(page)).toEqual([first]);
  await deliver(page, { ...message, title: 'Ben and Cal commented on your post' });
  expect(await shown(page)).toEqual([{ ...first, title: 'Ben and Cal commented on your post' }]);

  // The page that is open goes there without being loaded anew.
  await mark(page);
  await pressMessage(page.context());
  await page.waitForURL(`**${message.url}`);
  await page.getByRole('heading', { name: 'Notifications', level: 1 }).waitFor();
  expect(await isMarked(page)).toBe(true);
  await expect.poll(() => shown(page)).toEqual([]);

  // Without a page there is a new one.
  await deliver(page, { ...message, url: '/table' });
  expect(await shown(page)).toHaveLength(1);
  const context = page.context();
  await page.close();
  const worker = await pressMessage(context);
  await expect.poll(() => worker.evaluate(() => (globalThis as unknown as Scope).opened)).toEqual(['/table']);
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('what was shown to an account is taken back when it signs out', async () => {
  const visitor = await Visitor.arrive(browser, service.url, {
    viewport: NARROW,
    permissions: ['notifications'],
  });
  const { page } = visitor;
  await begin(page, service, 'leaving');
  await governed(page);
  await deliver(page, message);
  expect(await shown(page)).toHaveLength(1);
  await page.goto('/account');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').last().waitFor();
  // By itself a message goes only later.
  expect(await shown(page)).toEqual([]);
  visitor.expectNoComplaints();
  await visitor.leave();
});

/** A push service in place of the browser's, which needs one of its maker. What is subscribed outlives the page. */
function withPushService(): void {
  const name = 'test:subscription';
  const subscription = (): object | null => {
    const endpoint = localStorage.getItem(name);
    if (endpoint === null) return null;
    // The keys of RFC 8291, appendix A.
    const keys = {
      p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    };
    const unsubscribe = (): Promise<boolean> => {
      localStorage.removeItem(name);
      return Promise.resolve(true);
    };
    return { endpoint, unsubscribe, toJSON: () => ({ endpoint, keys }) };
  };
  Object.assign(PushManager.prototype, {
    getSubscription: () => Promise.resolve(subscription()),
    subscribe: () => {
      localStorage.setItem(name, `https://fcm.googleapis.com/fcm/send/${crypto.randomUUID()}`);
      return Promise.resolve(subscription());
    },
  });
}

/** The push services at which the page's fan is subscribed, as the service exports them. */
async function subscribed(page: Page): Promise<string[]> {
  const { pushSubscriptions } = await readAs<{ pushSubscriptions: { host: string }[] }>(
    page,
    '/api/user/export',
  );
  return pushSubscriptions.map(({ host }) => host);
}

const isSubscribedHere = (page: Page): Promise<boolean> =>
  page.evaluate(async () => {
    const { pushManager } = await navigator.serviceWorker.ready;
    return (await pushManager.getSubscription()) !== null;
  });

test('messages are offered in the inbox, turned on there, and end with the session', async () => {
  const visitor = await Visitor.arrive(browser, service.url, {
    viewport: NARROW,
    permissions: ['notifications'],
  });
  const { page } = visitor;
  await page.addInitScript(withPushService);
  // Nothing is asked before the reader presses a button.
  await page.addInitScript(() => {
    const ask = Notification.requestPermission.bind(Notification);
    Notification.requestPermission = () => {
      Object.assign(globalThis, { isAsked: true });
      return ask();
    };
  });
  const isAsked = (): Promise<boolean> => page.evaluate(() => 'isAsked' in globalThis);
  await begin(page, service, 'subscriber');
  await governed(page);
  await page.goto('/notifications');
  await page.getByRole('heading', { name: 'Hear of it when it happens' }).waitFor();
  expect(await isAsked()).toBe(false);
  expect(await subscribed(page)).toEqual([]);
  await visitor.expectAccessible();
  await page.getByRole('button', { name: 'Turn messages on' }).click();
  await page.getByRole('heading', { name: 'Hear of it when it happens' }).waitFor({ state: 'detached' });
  expect(await isAsked()).toBe(true);
  expect(await subscribed(page)).toEqual(['fcm.googleapis.com']);

  // It lasts, can be ended where it is explained, and begun again.
  await page.goto('/settings/notifications');
  await page.getByText('This device gets messages.').waitFor();
  await page.getByRole('button', { name: 'Turn messages off' }).click();
  await page.getByRole('button', { name: 'Turn messages on' }).click();
  await page.getByRole('button', { name: 'Turn messages off' }).waitFor();
  expect(await subscribed(page)).toHaveLength(1);
  expect(await isSubscribedHere(page)).toBe(true);

  await page.goto('/account');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').last().waitFor();
  expect(await isSubscribedHere(page)).toBe(false);
  await signIn(page, 'subscriber', PASSWORD);
  expect(await subscribed(page)).toEqual([]);
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('a browser that forbids messages is explained, and its reader asked for nothing', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW });
  const { page } = visitor;
  await page.addInitScript(() => {
    Object.defineProperty(Notification, 'permission', { get: () => 'denied' });
  });
  await begin(page, service, 'refuser');
  await governed(page);
  await page.goto('/settings/notifications');
  await page.getByRole('heading', { name: 'This browser forbids messages' }).waitFor();
  expect(await page.getByRole('button', { name: 'Turn messages on' }).count()).toBe(0);
  await visitor.expectAccessible();
  visitor.expectNoComplaints();
  await visitor.leave();
});
