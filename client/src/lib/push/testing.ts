import type { PushPlace } from './place';

/** A browser that takes messages, with a permission that a test sets. */
export class FakePlace implements PushPlace {
  isSupported = true;
  granted: NotificationPermission = 'default';
  /** What the reader answers. */
  answer: NotificationPermission = 'granted';
  /** Whether the push service of the browser answers. */
  isBroken = false;
  /** With which keys it was subscribed, and what ended that. */
  readonly done: string[] = [];
  subscription: PushSubscription | null = null;

  permission(): NotificationPermission {
    return this.granted;
  }

  ask(): Promise<NotificationPermission> {
    this.granted = this.answer;
    this.done.push('asked');
    return Promise.resolve(this.answer);
  }

  manager(): ReturnType<PushPlace['manager']> {
    return Promise.resolve({
      getSubscription: () => Promise.resolve(this.subscription),
      subscribe: (options?: PushSubscriptionOptionsInit) => this.#subscribe(options),
    });
  }

  #subscribe({ applicationServerKey }: PushSubscriptionOptionsInit = {}): Promise<PushSubscription> {
    if (this.isBroken) return Promise.reject(new DOMException('gone', 'AbortError'));
    const key = typeof applicationServerKey === 'string' ? applicationServerKey : '';
    this.done.push(`subscribed by ${key}`);
    const endpoint = `https://push.test/${key}`;
    this.subscription = {
      endpoint,
      toJSON: () => ({ endpoint, keys: { p256dh: 'p', auth: 'a' } }),
      unsubscribe: () => {
        this.done.push(`ended ${key}`);
        this.subscription = null;
        return Promise.resolve(true);
      },
    } as unknown as PushSubscription;
    return Promise.resolve(this.subscription);
  }
}
