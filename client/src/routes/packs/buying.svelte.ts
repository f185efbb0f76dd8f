import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { KeptRequest } from '$lib/api/kept-request.svelte';
import type { Clock } from '$lib/api/resource.svelte';
import type { Purchase } from '$lib/api/types';

/** Buys one copy of a pack for one fan. */
export class Buying {
  readonly attempt = new Attempt();
  readonly #api: Api;
  readonly #packId: string;
  readonly #request: KeptRequest;

  constructor(api: Api, clock: Clock, fanId: string, packId: string) {
    this.#api = api;
    this.#packId = packId;
    this.#request = new KeptRequest(clock, `buying:${fanId}:${packId}`);
  }

  /** Whether a request was sent whose answer never arrived. */
  get isUnsettled(): boolean {
    return !this.attempt.isRunning && this.#request.isKept();
  }

  /** One tap is one purchase: a tap during a request does nothing, one after a lost answer repeats its key. */
  buy(): Promise<Purchase | null> {
    return this.attempt.run(() =>
      this.#request.send('', async (key) => {
        const params = { path: { id: this.#packId }, header: { 'Idempotency-Key': key } };
        const { purchase } = await this.#api.call((client) =>
          client.POST('/api/packs/{id}/purchase', { params, body: {} }),
        );
        return purchase;
      }),
    );
  }
}
