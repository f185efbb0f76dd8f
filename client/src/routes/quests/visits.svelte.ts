import type { Api } from '$lib/api/client';
import { failureOf, type Failure } from '$lib/api/errors';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { VisitResult, VisitStatus } from '$lib/api/types';
import type { Reward } from '$lib/rewards/reward';

/** The fan's daily visits. */
export class Visits {
  readonly status: Resource<VisitStatus>;
  readonly #api: Api;
  #isSending = $state(false);
  #failure = $state.raw<Failure | null>(null);

  constructor(api: Api, clock: Clock) {
    this.#api = api;
    this.status = new Resource(
      (signal) => api.call((client) => client.GET('/api/quests/daily-visit', { signal })),
      clock,
    );
  }

  get isSending(): boolean {
    return this.#isSending;
  }

  get failure(): Failure | null {
    return this.#failure;
  }

  /** Records today's visit. Null if it failed or was paid before, as in another tab. */
  async collect(): Promise<Reward | null> {
    if (this.#isSending) return null;
    this.#isSending = true;
    this.#failure = null;
    const expected = this.status.value?.nextMilestone?.days ?? null;
    try {
      const result = await this.#api.call((client) => client.POST('/api/quests/daily-visit', { body: {} }));
      this.status.replace(result);
      return paid(result, expected);
    } catch (error) {
      this.#failure = failureOf(error);
      return null;
    } finally {
      this.#isSending = false;
    }
  }
}

function paid(result: VisitResult, expected: number | null): Reward | null {
  if (result.alreadyCompleted) return null;
  const { pointsAwarded: points, coinsAwarded: coins, nextVisitAt: id, streak } = result;
  return { kind: 'visit', id, points, coins, milestone: streak === expected ? streak : null };
}
