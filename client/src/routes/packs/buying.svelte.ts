import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { Refused } from '$lib/api/errors';
import type { Clock } from '$lib/api/resource.svelte';
import type { Purchase } from '$lib/api/types';
import { Persisted } from '$lib/persisted.svelte';

/** Keys are kept by the service for 24 hours; an older one would buy again. */
const KEY_LASTS_MS = 23 * 3_600_000;

/** Buys one copy of a pack for one fan. Its key outlives the page until an answer says what became of it. */
export class Buying {
  readonly attempt = new Attempt();
  readonly #api: Api;
  readonly #clock: Clock;
  readonly #packId: string;
  readonly #kept: Persisted;

  constructor(api: Api, clock: Clock, fanId: string, packId: string) {
    this.#api = api;
    this.#clock = clock;
    this.#packId = packId;
    this.#kept = new Persisted(`buying:${fanId}:${packId}`);
  }

  /** Whether a request was sent whose answer never arrived. */
  get isUnsettled(): boolean {
    return !this.attempt.isRunning && this.#keyOf(this.#kept.value) !== null;
  }

  /** One tap is one purchase: a tap during a request does nothing, one after a lost answer repeats its key. */
  buy(): Promise<Purchase | null> {
    return this.attempt.run(async () => {
      const key = this.#keyOf(this.#kept.value) ?? crypto.randomUUID();
      this.#kept.set(`${String(this.#clock.now().getTime())} ${key}`);
      const params = { path: { id: this.#packId }, header: { 'Idempotency-Key': key } };
      try {
        const { purchase } = await this.#api.call((client) =>
          client.POST('/api/packs/{id}/purchase', { params, body: {} }),
        );
        this.#kept.set(null);
        return purchase;
      } catch (error) {
        // A request that was refused bought nothing; one that got lost, or met a failing service, may have.
        if (error instanceof Refused && error.problem.status < 500) this.#kept.set(null);
        throw error;
      }
    });
  }

  #keyOf(kept: string | null): string | null {
    const [at, key] = kept?.split(' ') ?? [];
    if (at === undefined || key === undefined) return null;
    return this.#clock.now().getTime() - Number(at) < KEY_LASTS_MS ? key : null;
  }
}
