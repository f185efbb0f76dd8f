import type { Api } from '$lib/api/client';
import { failureOf, type Failure } from '$lib/api/errors';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { Post } from '$lib/api/types';

export const SCOPES = ['all', 'following', 'team'] as const;

export type Scope = (typeof SCOPES)[number];

/** How many posts a page holds at most: each more makes every change of the page slower. */
export const MOST_POSTS = 300;

/** The ids of a list of posts, in its order. */
export interface FeedPage {
  ids: string[];
  nextCursor: string | null;
  /** Whether everyone's posts are shown in place of those of whom the reader follows. */
  isFallback: boolean;
}

/** One list of posts. */
export class Feed {
  readonly first: Resource<FeedPage>;
  #isReadingMore = $state(false);
  #moreFailure = $state.raw<Failure | null>(null);
  readonly #api: Api;
  readonly #scope: Scope;
  readonly #keep: (posts: readonly Post[]) => void;

  constructor(api: Api, clock: Clock, scope: Scope, keep: (posts: readonly Post[]) => void) {
    this.#api = api;
    this.#scope = scope;
    this.#keep = keep;
    this.first = new Resource((signal) => this.#read(null, signal), clock);
  }

  get isReadingMore(): boolean {
    return this.#isReadingMore;
  }

  get moreFailure(): Failure | null {
    return this.#moreFailure;
  }

  /** Reads the list unless it was read already. */
  open(): void {
    if (this.first.state.kind === 'loading' && !this.first.isReading) void this.first.load();
  }

  /** Adds the next page. Calls while one is read do nothing. */
  async more(): Promise<void> {
    const before = this.first.value;
    if (this.#isReadingMore || !before || before.nextCursor === null || before.ids.length >= MOST_POSTS)
      return;
    this.#isReadingMore = true;
    this.#moreFailure = null;
    try {
      const next = await this.#read(before.nextCursor);
      // A list that was read anew meanwhile begins elsewhere.
      if (this.first.value?.nextCursor !== before.nextCursor) return;
      this.first.update(({ ids, isFallback }) => {
        const known = new Set(ids);
        const added = next.ids.filter((id) => !known.has(id));
        return { ids: [...ids, ...added], nextCursor: next.nextCursor, isFallback };
      });
    } catch (error) {
      this.#moreFailure = failureOf(error);
    } finally {
      this.#isReadingMore = false;
    }
  }

  /** Puts a new post first. */
  prepend(id: string): void {
    this.first.update((page) => ({ ...page, ids: [id, ...page.ids.filter((other) => other !== id)] }));
  }

  remove(id: string): void {
    this.first.update((page) => ({ ...page, ids: page.ids.filter((other) => other !== id) }));
  }

  async #read(cursor: string | null, signal?: AbortSignal): Promise<FeedPage> {
    const query = { scope: this.#scope, ...(cursor === null ? {} : { cursor }) };
    const init = { params: { query }, ...(signal ? { signal } : {}) };
    const list = await this.#api.call((client) => client.GET('/api/locker-room', init));
    this.#keep(list.posts);
    return {
      ids: list.posts.map((post) => post.id),
      nextCursor: list.nextCursor ?? null,
      isFallback: list.fallback === true,
    };
  }
}
