import type { Api } from '$lib/api/client';
import { More, pageQuery, type Paged } from '$lib/api/more.svelte';
import { Resource } from '$lib/api/resource.svelte';
import type { FollowingList, Team, User } from '$lib/api/types';
import type { People } from './people.svelte';
import { readFan } from './profiles';

export type Direction = 'followers' | 'following';

interface FollowPage {
  owner: { id: string; displayName: string };
  fans: User[];
  teams: Team[];
  total: number;
  nextCursor: string | null;
}

type Rows = Pick<FollowingList, 'following' | 'teams' | 'total' | 'nextCursor'>;

/** The fans who follow a fan, or whom the fan follows. */
export class FollowList implements Paged {
  readonly page: Resource<FollowPage>;
  readonly further: More<FollowPage>;
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
    this.further = new More(this.page);
  }

  more(): Promise<void> {
    return this.further.read(
      (cursor, { owner }) => this.#read(owner.id, cursor),
      (page, { fans, nextCursor }) => ({ ...page, fans: [...page.fans, ...fans], nextCursor }),
    );
  }

  async #read(
    userId: string,
    cursor: string | null,
    signal?: AbortSignal,
  ): Promise<Omit<FollowPage, 'owner'>> {
    const query = { userId, ...pageQuery(cursor) };
    const rows = await this.#readRows({ params: { query }, signal: signal ?? null });
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
    signal: AbortSignal | null;
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
