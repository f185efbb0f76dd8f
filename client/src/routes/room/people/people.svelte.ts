import { createContext } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import type { Api } from '$lib/api/client';
import { failureOf, type Failure } from '$lib/api/errors';
import { Wishes } from '$lib/wishes.svelte';

/** How many fans the service tells about at once. */
const MOST_FANS = 100;

interface Events {
  /** A wish was refused and taken back. */
  onRollback: (failure: Failure) => void;
  /** The reader follows others than before, or blocked a fan. */
  onChange: (blocked: string | null) => void;
}

/** Whom and which teams the reader follows, as far as the pages know it. */
export class People {
  readonly #fans = new SvelteMap<string, boolean>();
  readonly #teams = new SvelteMap<string, boolean>();
  readonly #fanWishes: Wishes<boolean>;
  readonly #teamWishes: Wishes<boolean>;
  #teamsRead: Promise<void> | null = null;
  #reader: string | null | undefined;
  readonly #api: Api;
  readonly #events: Events;

  constructor(api: Api, events: Events) {
    this.#api = api;
    this.#events = events;
    this.#fanWishes = new Wishes(async (userId, isWanted) => {
      this.#fans.set(userId, await this.#send({ userId }, isWanted));
    }, events.onRollback);
    this.#teamWishes = new Wishes(async (teamId, isWanted) => {
      this.#teams.set(teamId, await this.#send({ teamId }, isWanted));
    }, events.onRollback);
  }

  /** Whether the reader follows a fan; null while that is unknown. */
  follows(fanId: string): boolean | null {
    return this.#fanWishes.over(fanId, this.#fans.get(fanId) ?? null);
  }

  followsTeam(teamId: string): boolean | null {
    return this.#teamWishes.over(teamId, this.#teams.get(teamId) ?? null);
  }

  keep(fanId: string, isFollowed: boolean): void {
    this.#fans.set(fanId, isFollowed);
  }

  follow(fanId: string, isWanted: boolean): Promise<void> {
    return this.#fanWishes.set(fanId, isWanted);
  }

  followTeam(teamId: string, isWanted: boolean): Promise<void> {
    return this.#teamWishes.set(teamId, isWanted);
  }

  /** Finds out which of these fans the reader follows. The list is shown without it after a failure. */
  async readFans(ids: readonly string[]): Promise<void> {
    const unknown = ids.filter((id) => !this.#fans.has(id)).slice(0, MOST_FANS);
    if (this.#reader === null || unknown.length === 0) return;
    const params = { query: { userIds: unknown } };
    try {
      const lists = await this.#api.call((client) => client.GET('/api/user/relations', { params }));
      for (const id of unknown) this.#fans.set(id, lists.following.includes(id));
    } catch (error) {
      failureOf(error);
    }
  }

  /** Finds out which teams the reader follows, once. */
  async readTeams(teamId: string): Promise<void> {
    if (this.#reader === null) return;
    try {
      this.#teamsRead ??= this.#readTeams();
      await this.#teamsRead;
      if (!this.#teams.has(teamId)) this.#teams.set(teamId, false);
    } catch (error) {
      failureOf(error);
      this.#teamsRead = null;
    }
  }

  async block(userId: string): Promise<void> {
    await this.#api.call((client) => client.POST('/api/user/block', { body: { userId } }));
    this.#fans.set(userId, false);
    this.#events.onChange(userId);
  }

  async unblock(userId: string): Promise<void> {
    await this.#api.call((client) => client.DELETE('/api/user/block', { body: { userId } }));
    this.#events.onChange(null);
  }

  /** Forgets whom another reader follows. */
  showTo(reader: string | null): void {
    if (this.#reader !== undefined && this.#reader !== reader) {
      for (const known of [this.#fans, this.#teams, this.#fanWishes, this.#teamWishes]) known.clear();
      this.#teamsRead = null;
    }
    this.#reader = reader;
  }

  async #send(target: { userId: string } | { teamId: string }, isWanted: boolean): Promise<boolean> {
    const { following } = await this.#api.call((client) =>
      isWanted
        ? client.POST('/api/user/follow', { body: target })
        : client.DELETE('/api/user/follow', { body: target }),
    );
    this.#events.onChange(null);
    return following;
  }

  async #readTeams(): Promise<void> {
    const params = { query: { limit: 1 } };
    const { teams } = await this.#api.call((client) => client.GET('/api/user/following', { params }));
    for (const { team } of teams) this.#teams.set(team.id, true);
  }
}

export const [usePeople, setPeople] = createContext<People>();
