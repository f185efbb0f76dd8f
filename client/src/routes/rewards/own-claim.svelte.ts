import { withAgeOf } from '$lib/api/age';
import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { Claim } from '$lib/api/types';

/** A claim of a fan, and its use. */
export class OwnClaim {
  readonly resource: Resource<Claim>;
  readonly attempt = new Attempt();
  readonly #api: Api;
  readonly #params: { path: { id: string } };

  constructor(api: Api, clock: Clock, id: string) {
    const params = { path: { id } };
    this.resource = new Resource(async (signal) => {
      const answer = await api.call((client) => client.GET('/api/user/rewards/{id}', { params, signal }));
      return withAgeOf(answer, answer.claim);
    }, clock);
    this.#api = api;
    this.#params = params;
  }

  /** Marks it as used; the claim then, or null if that failed. What a failure says of it is read. */
  async use(): Promise<Claim | null> {
    if (this.attempt.isRunning) return null;
    const used = await this.attempt.run(async () => {
      const { claim } = await this.#api.call((client) =>
        client.POST('/api/user/rewards/{id}/use', { params: this.#params }),
      );
      return claim;
    });
    if (used === null) await this.resource.load();
    else this.resource.replace(used);
    return used;
  }
}
