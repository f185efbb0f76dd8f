import { Attempt } from '../api/attempt.svelte';
import type { Api } from '../api/client';
import { Refused } from '../api/errors';
import type { PushKey } from '../api/types';
import { Persisted } from '../persisted.svelte';
import type { PushPlace } from './place';

export type PushState =
  | 'unknown'
  /** The browser can't, at least not in this page. */
  | 'unsupported'
  /** The service has no keys. */
  | 'unavailable'
  | 'denied'
  /** The reader wants it, and the browser's push service does not answer. */
  | 'broken'
  | 'off'
  | 'on';

/** The messages that this browser gets while no page of the client is open. */
export class Push {
  readonly attempt = new Attempt();
  #state = $state<PushState>('unknown');
  readonly #api: Api;
  readonly #place: PushPlace;
  /** Which subscription the service has: the id of its key, and the endpoint. */
  readonly #sent = new Persisted('push');

  constructor(api: Api, place: PushPlace) {
    this.#api = api;
    this.#place = place;
  }

  get state(): PushState {
    return this.#state;
  }

  /** Finds out whether this browser gets messages. Asks the reader for nothing. */
  async look(): Promise<void> {
    await this.attempt.run(async () => {
      this.#state = await this.#found();
    });
  }

  /** Asks the reader for the permission and subscribes. Called by what the reader presses, and only then. */
  async turnOn(): Promise<void> {
    await this.attempt.run(async () => {
      const permission = await this.#place.ask();
      if (permission === 'granted') this.#state = await this.#subscribed();
      else this.#state = permission === 'denied' ? 'denied' : 'off';
    });
  }

  async turnOff(): Promise<void> {
    await this.attempt.run(async () => {
      await this.#api.call((client) => client.DELETE('/api/push/subscription'));
      this.#sent.set(null);
      const manager = await this.#place.manager();
      await (await manager?.getSubscription())?.unsubscribe();
      this.#state = 'off';
    });
  }

  /** Subscribes anew where the service has another key, or does not know of what this browser has. */
  async renew(): Promise<void> {
    if (!this.#place.isSupported || this.#place.permission() !== 'granted') return;
    await this.attempt.run(async () => {
      const manager = await this.#place.manager();
      const subscription = await manager?.getSubscription();
      if (!subscription) return;
      const key = await this.#key();
      if (key && this.#sent.value !== noteOf(key, subscription)) this.#state = await this.#subscribed();
    });
  }

  async #found(): Promise<PushState> {
    if (!this.#place.isSupported) return 'unsupported';
    if (this.#place.permission() === 'denied') return 'denied';
    const manager = await this.#place.manager();
    if (!manager) return 'unsupported';
    if (!(await this.#key())) return 'unavailable';
    const isGranted = this.#place.permission() === 'granted';
    return isGranted && (await manager.getSubscription()) ? 'on' : 'off';
  }

  async #subscribed(): Promise<PushState> {
    const manager = await this.#place.manager();
    if (!manager) return 'unsupported';
    const key = await this.#key();
    if (!key) return 'unavailable';
    const [keyId] = this.#sent.value?.split(' ') ?? [];
    const earlier = await manager.getSubscription();
    // A subscription belongs to the key with which it was made.
    if (earlier && keyId !== key.keyId) await earlier.unsubscribe();
    const subscription = await subscribe(manager, key);
    if (!subscription) return 'broken';
    const { endpoint, keys: { p256dh = '', auth = '' } = {} } = subscription.toJSON();
    const body = { endpoint: endpoint ?? '', keys: { p256dh, auth }, keyId: key.keyId };
    await this.#api.call((client) => client.PUT('/api/push/subscription', { body }));
    this.#sent.set(noteOf(key, subscription));
    return 'on';
  }

  /** The key of the service; null if it sends no messages. */
  async #key(): Promise<PushKey | null> {
    const club = await this.#api.call((client) => client.GET('/api/club'));
    if (!club.push) return null;
    try {
      return await this.#api.call((client) => client.GET('/api/push/key'));
    } catch (error) {
      if (error instanceof Refused && error.code === 'push_unavailable') return null;
      throw error;
    }
  }
}

function noteOf({ keyId }: PushKey, { endpoint }: PushSubscription): string {
  return `${keyId} ${endpoint}`;
}

async function subscribe(
  manager: Pick<PushManager, 'subscribe'>,
  { publicKey }: PushKey,
): Promise<PushSubscription | null> {
  try {
    return await manager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  } catch (error) {
    // Each browser has a push service of its maker, which may be blocked or switched off.
    if (error instanceof DOMException) return null;
    throw error;
  }
}
