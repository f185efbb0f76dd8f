import type { Api } from '$lib/api/client';
import { failureOf, type Failure } from '$lib/api/errors';
import { Resource } from '$lib/api/resource.svelte';
import type { LeaderboardEntry, LeaderboardPage } from '$lib/api/types';

/** One table: its first page, and what was read after it. */
export class Board {
  readonly page: Resource<LeaderboardPage>;
  #isReadingMore = $state(false);
  #moreFailure = $state.raw<Failure | null>(null);
  #isJoining = $state(false);
  readonly #api: Api;
  readonly #id: string | null;

  /** The table with this id; the global one of the season without. */
  constructor(api: Api, id: string | null) {
    this.#api = api;
    this.#id = id;
    this.page = new Resource((signal) => this.#read(null, signal));
  }

  get isReadingMore(): boolean {
    return this.#isReadingMore;
  }

  get isJoining(): boolean {
    return this.#isJoining;
  }

  get moreFailure(): Failure | null {
    return this.#moreFailure;
  }

  async more(): Promise<void> {
    const cursor = this.page.value?.nextCursor ?? null;
    if (this.#isReadingMore || cursor === null) return;
    this.#isReadingMore = true;
    this.#moreFailure = null;
    try {
      const next = await this.#read(cursor);
      this.page.update((page) => {
        if (page.nextCursor !== cursor) return page;
        return { ...page, nextCursor: next.nextCursor ?? null, entries: [...page.entries, ...next.entries] };
      });
    } catch (error) {
      this.#moreFailure = failureOf(error);
    } finally {
      this.#isReadingMore = false;
    }
  }

  /** Lists the reader, then reads the table again. */
  async join(leaderboardId: string): Promise<void> {
    if (this.#isJoining) return;
    this.#isJoining = true;
    try {
      await this.#api.call((client) => client.POST('/api/leaderboard/join', { body: { leaderboardId } }));
      await this.page.load();
    } finally {
      this.#isJoining = false;
    }
  }

  #read(cursor: string | null, signal?: AbortSignal): Promise<LeaderboardPage> {
    const query = {
      ...(this.#id === null ? {} : { leaderboardId: this.#id }),
      ...(cursor === null ? {} : { cursor }),
    };
    const init = { params: { query }, ...(signal ? { signal } : {}) };
    return this.#api.call((client) => client.GET('/api/leaderboard', init));
  }
}

/** Whether the reader's own row is among those that are shown. */
export function isListed(entries: readonly LeaderboardEntry[], fanId: string): boolean {
  return entries.some((entry) => entry.user?.id === fanId);
}
