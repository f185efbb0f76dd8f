import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { KeptRequest } from '$lib/api/kept-request.svelte';
import type { Clock } from '$lib/api/resource.svelte';
import type { Claim } from '$lib/api/types';

/** Claims a reward for one fan. */
export class Claiming {
  readonly attempt = new Attempt();
  readonly #api: Api;
  readonly #rewardId: string;
  readonly #request: KeptRequest;

  constructor(api: Api, clock: Clock, fanId: string, rewardId: string) {
    this.#api = api;
    this.#rewardId = rewardId;
    this.#request = new KeptRequest(clock, `claiming:${fanId}:${rewardId}`);
  }

  /** Whether a request was sent whose answer never arrived. */
  get isUnsettled(): boolean {
    return !this.attempt.isRunning && this.#request.isKept();
  }

  /** One tap is one claim: a tap during a request does nothing, one after a lost answer repeats its key. */
  claim(): Promise<Claim | null> {
    return this.attempt.run(() =>
      this.#request.send('', async (key) => {
        const params = { path: { id: this.#rewardId }, header: { 'Idempotency-Key': key } };
        const { claim } = await this.#api.call((client) =>
          client.POST('/api/rewards/{id}/claim', { params }),
        );
        return claim;
      }),
    );
  }
}
