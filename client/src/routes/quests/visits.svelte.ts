import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { VisitResult, VisitStatus } from '$lib/api/types';
import type { Reward } from '$lib/rewards/reward';

/** The fan's daily visits. */
export class Visits {
  readonly status: Resource<VisitStatus>;
  readonly attempt = new Attempt();
  readonly #api: Api;

  constructor(api: Api, clock: Clock) {
    this.#api = api;
    this.status = new Resource(
      (signal) => api.call((client) => client.GET('/api/quests/daily-visit', { signal })),
      clock,
    );
  }

  /** Records today's visit. Null if it failed or was paid before, as in another tab. */
  collect(): Promise<Reward | null> {
    return this.attempt.run(async () => {
      const expected = this.status.value?.nextMilestone?.days ?? null;
      const result = await this.#api.call((client) => client.POST('/api/quests/daily-visit', { body: {} }));
      this.status.replace(result);
      return paid(result, expected);
    });
  }
}

function paid(result: VisitResult, expected: number | null): Reward | null {
  if (result.alreadyCompleted) return null;
  const { pointsAwarded: points, coinsAwarded: coins, nextVisitAt: id, streak } = result;
  return { kind: 'visit', id, points, coins, milestone: streak === expected ? streak : null };
}
