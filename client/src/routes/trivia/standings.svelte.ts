import { ageOf } from '$lib/api/age';
import type { Api } from '$lib/api/client';
import { More, pageQuery, type Paged } from '$lib/api/more.svelte';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { StandingList } from '$lib/api/types';

/** How many places are shown before one asks for more. */
const LIMIT = 10;

/** The places in one round. */
export class Standings implements Paged {
  readonly page: Resource<StandingList>;
  readonly further: More<StandingList>;
  readonly #api: Api;
  readonly #id: string;

  constructor(api: Api, id: string, clock: Clock) {
    this.#api = api;
    this.#id = id;
    this.page = new Resource(async (signal) => {
      const read = await this.#read(null, signal);
      const known = this.page.value;
      // An answer that was overtaken on its way.
      return known !== null && ageOf(read) === null && known.counted > read.counted ? { ...known } : read;
    }, clock);
    this.further = new More(this.page);
  }

  more(): Promise<void> {
    return this.further.read(
      (cursor) => this.#read(cursor),
      (page, { entries, nextCursor }) => ({ ...page, nextCursor, entries: [...page.entries, ...entries] }),
    );
  }

  #read(cursor: string | null, signal?: AbortSignal): Promise<StandingList> {
    const params = { path: { id: this.#id }, query: { limit: LIMIT, ...pageQuery(cursor) } };
    return this.#api.call((client) =>
      client.GET('/api/trivia/{id}/leaderboard', { params, signal: signal ?? null }),
    );
  }
}
