import type { Api } from '$lib/api/client';
import type { Failure } from '$lib/api/errors';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { NotificationPreferences } from '$lib/api/types';
import { Wishes } from '$lib/wishes.svelte';

/** How a fan hears of one kind of notifications. */
export type KindChoice = NotificationPreferences['kinds'][string];
export type QuietHours = NonNullable<NotificationPreferences['quietHours']>;

/** They are stored together. */
const ALL = 'preferences';

/** What a fan wants to be notified of, and how. What the reader wishes shows at once; a refusal drops it. */
export class Preferences {
  readonly chosen: Resource<NotificationPreferences>;
  readonly #wishes: Wishes<NotificationPreferences>;

  constructor(api: Api, clock: Clock, onRollback: (failure: Failure) => void) {
    this.chosen = new Resource(
      (signal) => api.call((client) => client.GET('/api/notifications/preferences', { signal })),
      clock,
    );
    this.#wishes = new Wishes(async (_, body) => {
      this.chosen.replace(await api.call((client) => client.PUT('/api/notifications/preferences', { body })));
    }, onRollback);
  }

  /** What is stored, with what the reader wishes over it. */
  wished(stored: NotificationPreferences): NotificationPreferences {
    return this.#wishes.over(ALL, stored);
  }

  choose(kind: string, choice: KindChoice): void {
    this.#change((now) => ({ ...now, kinds: { ...now.kinds, [kind]: choice } }));
  }

  keepQuiet(quietHours: QuietHours | null): void {
    this.#change((now) => ({ ...now, quietHours }));
  }

  #change(change: (now: NotificationPreferences) => NotificationPreferences): void {
    const stored = this.chosen.value;
    if (stored) void this.#wishes.set(ALL, change(this.wished(stored)));
  }
}
