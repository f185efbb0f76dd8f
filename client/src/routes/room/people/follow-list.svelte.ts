import type { Api } from '$lib/api/client';
import { failureOf, type Failure } from '$lib/api/errors';
import { Resource } from '$lib/api/resource.svelte';
import type { FollowingList, Team, User } from '$lib/api/types';
import type { People } from './people.svelte';
import { readFan } from './profiles';

export type Direction = 'followers' | 'following';

export interface FollowPage {
  owner: { id: string; displayName: string };
  fans: User[];
  teams: Team[];
  total: number;
  nextCursor: string | null;
}

type Rows = Pick<FollowingList, 'following' | 'teams' | 'total' | 'nextCursor'>;

/** The fans who follow a fan, or whom the fan follows. */
export class FollowList {
  readonly page: Resource<FollowPage>;
  #isReadingMore = $state(false);
  #moreFailure = $state.raw<Failure | null>(null);
  readonly #api: Api;
  readonly #people: People;
  readonly #direction: Direction;

  constructor(api: Api, people: People, username: string, direction: Direction) {
    this.#api = api;
    this.#people = people;
    this.#direction = direction;
    this.page = new Resource(async (signal) => {
      const { id, displayName } = await readFan(api, username, signal);
      const rows = await this.#read(id, null, signal);
      return { owner: { id, displayName }, ...rows };
    });
  }

  get isReadingMore(): boolean {
    return this.#isReadingMore;
  }

  get moreFailure(): Failure | null {
    return this.#moreFailure;
  }

  async more(): Promise<void> {
    const before = this.page.value;
    if (this.#isReadingMore || before?.nextCursor == null) return;
    this.#isReadingMore = true;
    this.#moreFailure = null;
    try {
      const next = await this.#read(before.owner.id, before.nextCursor);
      this.page.update((page) =>
        page.nextCursor === before.nextCursor
          ? { ...page, fans: [...page.fans, ...next.fans], nextCursor: next.nextCursor }
          : page,
      );
    } catch (error) {
      this.#moreFailure = failureOf(error);
    } finally {
      this.#isReadingMore = false;
    }
  }

  async #read(
    userId: string,
    cursor: string | null,
    signal?: AbortSignal,
  ): Promise<Omit<FollowPage, 'owner'>> {
    const query = { userId, ...(cursor === null ? {} : { cursor }) };
    const rows = await this.#readRows({ params: { query }, ...(signal ? { signal } : {}) });
    for (const { user, following } of rows.following) this.#people.keep(user.id, following);
    return {
      fans: rows.following.map(({ user }) => user),
      teams: rows.teams.map(({ team }) => team),
      total: rows.total,
      nextCursor: rows.nextCursor,
    };
  }

  async #readRows(init: {
    params: { query: { userId: string; cursor?: string } };
    signal?: AbortSignal;
  }): Promise<Rows> {
    if (this.#direction === 'following') {
      return this.#api.call((client) => client.GET('/api/user/following', init));
    }
    const { followers, total, nextCursor } = await this.#api.call((client) =>
      client.GET('/api/user/followers', init),
    );
    return { following: followers, teams: [], total, nextCursor };
  }
}
