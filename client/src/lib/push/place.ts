/** The browser, as far as it takes messages for the client while none of its pages is open. */
export interface PushPlace {
  readonly isSupported: boolean;
  permission: () => NotificationPermission;
  /** Asks the reader. */
  ask: () => Promise<NotificationPermission>;
  /** Null where no service worker is registered, as in a page that came without encryption. */
  manager: () => Promise<Pick<PushManager, 'getSubscription' | 'subscribe'> | null>;
}

/** The browser as it is. */
export const pushPlace: PushPlace = {
  isSupported: 'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis,
  permission: () => Notification.permission,
  ask: () => Notification.requestPermission(),
  manager: async () => {
    if (!(await navigator.serviceWorker.getRegistration())) return null;
    return (await navigator.serviceWorker.ready).pushManager;
  },
};
