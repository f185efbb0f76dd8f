import { forget } from '../persisted.svelte';
import { showBadge } from './badge';

/**
 * Ends what messages this browser gets, and takes back those that it shows: they are of an account. The service forgets
 * the subscription with its session.
 */
export async function forgetPush(): Promise<void> {
  showBadge(0);
  forget('push');
  // Missing where the page came without encryption.
  if (!('serviceWorker' in navigator)) return;
  try {
    const registration = await navigator.serviceWorker.getRegistration();
    if (!registration || !('pushManager' in registration)) return;
    for (const shown of await registration.getNotifications()) shown.close();
    await (await registration.pushManager.getSubscription())?.unsubscribe();
  } catch {
    // The browser forbids it, or its push service is gone: the service sends nothing without a session.
  }
}
