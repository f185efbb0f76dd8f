import type { Api } from '$lib/api/client';
import { failureOf, isAborted } from '$lib/api/errors';
import { More, pageQuery, type Paged } from '$lib/api/more.svelte';
import { Resource } from '$lib/api/resource.svelte';
import type { Team, User } from '$lib/api/types';
import type { People } from '../people/people.svelte';
import type { Room } from '../room.svelte';

export const KINDS = ['users', 'teams', 'posts', 'topics'] as const;

type Kind = (typeof KINDS)[number];

/** How many of each kind are shown beside the others. */
const FEW = 4;
const LONGEST = 64;
/** One of these letters is enough, two of all others. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}]/u;

/** What the service searches for; null while it is too short. */
export function searchable(text: string): string | null {
  const letters = [...text.normalize('NFKC').trim().replaceAll(/\s+/gu, ' ')].slice(0, LONGEST);
  const found = letters.join('').trim();
  return letters.length >= 2 || DENSE.test(found) ? found : null;
}

/** What is found, with the posts as ids. */
export interface Found {
  users: User[];
  teams: Team[];
  topics: { tag: string }[];
  posts: string[];
  nextCursor: string | null;
}

/** The results for one text, of all kinds or of one. */
export class Search implements Paged {
  readonly results: Resource<Found>;
  readonly further: More<Found>;
  readonly #api: Api;
  readonly #room: Room;
  readonly #people: People;
  readonly #query: { q: string; kind?: Kind[]; limit?: number };

  constructor(api: Api, room: Room, people: People, q: string, kind: Kind | null) {
    this.#api = api;
    this.#room = room;
    this.#people = people;
    this.#query = kind === null ? { q, limit: FEW } : { q, kind: [kind] };
    this.results = new Resource((signal) => this.#read(null, signal));
    this.further = new More(this.results);
  }

  more(): Promise<void> {
    return this.further.read(
      (cursor) => this.#read(cursor),
      (found, next) => ({
        users: [...found.users, ...next.users],
        teams: [...found.teams, ...next.teams],
        posts: [...found.posts, ...next.posts],
        topics: [...found.topics, ...next.topics],
        nextCursor: next.nextCursor,
      }),
    );
  }

  async #read(cursor: string | null, signal?: AbortSignal): Promise<Found> {
    const params = { query: { ...this.#query, ...pageQuery(cursor) } };
    const found = await this.#api.call((client) =>
      client.GET('/api/search', { params, signal: signal ?? null }),
    );
    const posts = found.posts ?? [];
    const users = found.users ?? [];
    this.#room.keep(posts);
    void this.#people.readFans(users.map(({ id }) => id));
    return {
      users,
      teams: found.teams ?? [],
      topics: found.topics ?? [],
      posts: posts.map(({ id }) => id),
      nextCursor: found.nextCursor,
    };
  }
}

/** What may be meant while a text is being typed: pages that it names. */
export type Suggestion =
  | { kind: 'fan'; key: string; name: string; note: string; username: string; picture: string | null }
  | { kind: 'team'; key: string; name: string; id: string; crest: string | null; colors: string[] }
  | { kind: 'topic'; key: string; name: string; tag: string };

const SUGGESTED = 3;
const WAIT_MS = 150;

/** Suggestions for the newest text; answers to older ones are dropped. */
export class Suggestions {
  #list = $state.raw<Suggestion[]>([]);
  #running: AbortController | null = null;
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  get list(): Suggestion[] {
    return this.#list;
  }

  /** Reads suggestions once the text rests. Without an answer there are none. */
  async ask(text: string): Promise<void> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    const q = searchable(text);
    if (q === null) {
      this.#list = [];
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    if (running.signal.aborted) return;
    try {
      const list = await this.#read(q, running.signal);
      if (!running.signal.aborted) this.#list = list;
    } catch (error) {
      if (!isAborted(error)) failureOf(error);
    }
  }

  clear(): void {
    this.#running?.abort();
    this.#list = [];
  }

  async #read(q: string, signal: AbortSignal): Promise<Suggestion[]> {
    const kind: Kind[] = ['users', 'teams', 'topics'];
    const params = { query: { q, kind, limit: SUGGESTED } };
    const found = await this.#api.call((client) => client.GET('/api/search', { params, signal }));
    return [
      ...(found.users ?? []).map((fan) => ({
        kind: 'fan' as const,
        key: fan.id,
        name: fan.displayName,
        note: `@${fan.username}`,
        username: fan.username,
        picture: fan.pictureUrl,
      })),
      ...(found.teams ?? []).map((team) => ({
        kind: 'team' as const,
        key: team.id,
        name: team.name,
        id: team.id,
        crest: team.crestUrl,
        colors: team.colors,
      })),
      ...(found.topics ?? []).map(({ tag }) => ({
        kind: 'topic' as const,
        key: `#${tag}`,
        name: `#${tag}`,
        tag,
      })),
    ];
  }
}
