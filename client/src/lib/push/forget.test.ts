import { expect, test, vi } from 'vitest';
import { forgetPush } from './forget';

/** A browser that shows two messages and is subscribed. Notes what is done with it. */
function stubBrowser(unsubscribe: () => Promise<boolean> = () => Promise.resolve(true)): string[] {
  const done: string[] = [];
  const shown = ['1', '2'].map((id) => ({ close: () => void done.push(`closed ${id}`) }));
  const subscription = {
    unsubscribe: () => {
      done.push('unsubscribed');
      return unsubscribe();
    },
  };
  const registration = {
    getNotifications: () => Promise.resolve(shown),
    pushManager: { getSubscription: () => Promise.resolve(subscription) },
  };
  const kept = { 'terrace:push': 'key-1 https://push.test/1', 'terrace:theme': 'dark' };
  const removeItem = (key: string): void => void done.push(`removed ${key}`);
  // The keys of a storage are those of what it keeps.
  vi.stubGlobal('localStorage', Object.defineProperty(kept, 'removeItem', { value: removeItem }));
  vi.stubGlobal('navigator', {
    serviceWorker: { getRegistration: () => Promise.resolve(registration) },
    setAppBadge: (count: number) => Promise.resolve(done.push(`badge ${String(count)}`)),
    clearAppBadge: () => Promise.resolve(done.push('no badge')),
  });
  return done;
}

test('the messages of an account are taken back, and no further ones come', async () => {
  const done = stubBrowser();
  await forgetPush();
  expect(done).toEqual(['no badge', 'removed terrace:push', 'closed 1', 'closed 2', 'unsubscribed']);
});

test('a push service that is gone holds nothing up', async () => {
  const done = stubBrowser(() => Promise.reject(new DOMException('gone', 'AbortError')));
  await forgetPush();
  expect(done.at(-1)).toBe('unsubscribed');
});

test('a browser without a service worker has nothing to forget', async () => {
  vi.stubGlobal('navigator', {});
  await expect(forgetPush()).resolves.toBeUndefined();
});
