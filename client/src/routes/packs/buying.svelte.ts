import type { Api } from '$lib/api/client';
import { Refused, failureOf, type Failure } from '$lib/api/errors';
import type { Clock } from '$lib/api/resource.svelte';
import type { Purchase } from '$lib/api/types';
import { Persisted } from '$lib/persisted.svelte';

/** Keys are kept by the service for 24 hours; an older one would buy again. */
const KEY_LASTS_MS = 23 * 3_600_000;

/** Buys one copy of a pack for one fan. Its key outlives the page until an answer says what became of it. */
export class Buying {
  readonly #api: Api;
  readonly #clock: Clock;
  readonly #packId: string;
  readonly #kept: Persisted;
  #isSending = $state(false);
  #failure = $state.raw<Failure | null>(null);

  constructor(api: Api, clock: Clock, fanId: string, packId: string) {
    this.#api = api;
    this.#clock = clock;
    this.#packId = packId;
    this.#kept = new Persisted(`buying:${fanId}:${packId}`);
  }

  get isSending(): boolean {
    return this.#isSending;
  }

  get failure(): Failure | null {
    return this.#failure;
  }

  /** Whether a request was sent whose answer never arrived. */
  get isUnsettled(): boolean {
    return !this.#isSending && this.#keyOf(this.#kept.value) !== null;
  }

  /** One tap is one purchase: a tap during a request does nothing, one after a lost answer repeats its key. */
  async buy(): Promise<Purchase | null> {
    if (this.#isSending) return null;
    this.#isSending = true;
    this.#failure = null;
    const key = this.#keyOf(this.#kept.value) ?? crypto.randomUUID();
    this.#kept.set(`${String(this.#clock.now().getTime())} ${key}`);
    try {
      const { purchase } = await this.#api.call((client) =>
        client.POST('/api/packs/{id}/purchase', {
          params: { path: { id: this.#packId }, header: { 'Idempotency-Key': key } },
          body: {},
        }),
      );
      this.#kept.set(null);
      return purchase;
    } catch (error) {
      this.#failure = failureOf(error);
      // A request that was refused bought nothing; one that got lost, or met a failing service, may have.
      if (this.#failure instanceof Refused && this.#failure.problem.status < 500) this.#kept.set(null);
      return null;
    } finally {
      this.#isSending = false;
    }
  }

  #keyOf(kept: string | null): string | null {
    const [at, key] = kept?.split(' ') ?? [];
    if (at === undefined || key === undefined) return null;
    return this.#clock.now().getTime() - Number(at) < KEY_LASTS_MS ? key : null;
  }
}
