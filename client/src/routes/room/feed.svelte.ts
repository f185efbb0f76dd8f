import type { Api } from '$lib/api/client';
import { ageOf, withAgeOf } from '$lib/api/age';
import { More, pageQuery, type Paged } from '$lib/api/more.svelte';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { Post, PostList } from '$lib/api/types';

export const SCOPES = ['all', 'following', 'team'] as const;

export type Scope = (typeof SCOPES)[number];

/** Which posts a list holds: a scope of the room, the ranked ones, or those of a topic, a team or a fan. */
export type Source = Scope | 'trending' | { tag: string } | { teamId: string } | { fanId: string };

/** How many posts a page holds at most: each more makes every change of the page slower. */
export const MOST_POSTS = 300;

/** The ids of a list of posts, in its order. */
export interface FeedPage {
  ids: string[];
  nextCursor: string | null;
  /** Whether everyone's posts are shown in place of those of whom the reader follows. */
  isFallback: boolean;
  /** Where the stream continues after it was read. */
  position: number;
}

/** A post that waits until the reader asks for it. */
type Arrival = Pick<Post, 'id' | 'createdAt'>;

/** A list that was read again, and what of it waits. */
interface Renewed {
  page: FeedPage;
  arrived: string[];
  /** Whether posts are missing between those that wait and those that are shown. */
  isGap: boolean;
}

/** Brings a shown list up to date by its newest page without adding anything above what is read. */
export function renewed(shown: FeedPage, read: FeedPage): Renewed {
  const isRead = new Set(read.ids);
  const isShown = new Set(shown.ids);
  const last = shown.ids.findLastIndex((id) => isRead.has(id));
  if (shown.ids.length === 0 || read.ids.length === 0) return { page: read, arrived: [], isGap: false };
  const page = { ...shown, isFallback: read.isFallback, position: read.position };
  if (last < 0) return { page, arrived: read.ids, isGap: true };
  // What the page covers and does not name is deleted.
  const ids = shown.ids.filter((id, place) => isRead.has(id) || (place > last && read.nextCursor !== null));
  return { page: { ...page, ids }, arrived: read.ids.filter((id) => !isShown.has(id)), isGap: false };
}

/** Posts of one millisecond stay in the order in which they are given. */
function newestFirst(one: Arrival, other: Arrival): number {
  if (one.createdAt === other.createdAt) return 0;
  return one.createdAt < other.createdAt ? 1 : -1;
}

/** One list of posts. */
export class Feed implements Paged {
  readonly first: Resource<FeedPage>;
  readonly further: More<FeedPage>;
  #arrived = $state.raw<Arrival[]>([]);
  #isGap = false;
  /** Whether a read leaves what is shown in its place. */
  #isQuiet = false;
  readonly #api: Api;
  readonly #source: Source;
  readonly #keep: (posts: readonly Post[]) => void;

  constructor(api: Api, clock: Clock, source: Source, keep: (posts: readonly Post[]) => void) {
    this.#api = api;
    this.#source = source;
    this.#keep = keep;
    this.first = new Resource((signal) => this.#readFirst(signal), clock);
    this.further = new More(this.first);
  }

  /** The posts that it shows, and those that wait. */
  get ids(): string[] {
    return [...(this.first.value?.ids ?? []), ...this.#arrived.map(({ id }) => id)];
  }

  /** How many posts wait until the reader asks for them. */
  get arrivedCount(): number {
    return this.#arrived.length;
  }

  /** The channel that names what is new in the list; `null` for one that only a read brings up to date. */
  channel(team: string | null): string | null {
    const source = this.#source;
    if (typeof source === 'object') return 'teamId' in source ? `room:team:${source.teamId}` : null;
    if (source === 'trending') return null;
    if (source === 'following') return 'room:following';
    return source === 'team' && team !== null ? `room:team:${team}` : 'room';
  }

  /** Keeps a new post back until the reader asks for it. */
  arrive(post: Arrival): void {
    if (this.first.value === null || this.ids.includes(post.id)) return;
    const { id, createdAt } = post;
    this.#arrived = [{ id, createdAt }, ...this.#arrived].sort(newestFirst).slice(0, MOST_POSTS);
  }

  /** Shows what waits. */
  async showArrived(): Promise<void> {
    if (this.#isGap) return this.first.load();
    const arrived = this.#arrived.map(({ id }) => id);
    this.#arrived = [];
    this.first.update((page) => ({ ...page, ids: [...arrived, ...page.ids].slice(0, MOST_POSTS) }));
  }

  /** Reads the list again without moving what is shown. */
  async refresh(): Promise<void> {
    if (this.first.value === null) return;
    this.#isQuiet = true;
    const done = this.first.load();
    this.#isQuiet = false;
    await done;
  }

  /** Reads the list unless it was read already. */
  open(): void {
    if (this.first.state.kind === 'loading' && !this.first.isReading) void this.first.load();
  }

  /** Brings a list up to date that is shown again and that no channel names. The ranked one has no newest posts. */
  async revisit(): Promise<void> {
    if (this.channel(null) === null && this.#source !== 'trending') await this.refresh();
  }

  /** Adds the next page. */
  async more(): Promise<void> {
    if ((this.first.value?.ids.length ?? 0) >= MOST_POSTS) return;
    await this.further.read(
      (cursor) => this.#read(cursor),
      (page, next) => {
        const known = new Set(page.ids);
        const added = next.page.ids.filter((id) => !known.has(id));
        return { ...page, ids: [...page.ids, ...added], nextCursor: next.page.nextCursor };
      },
    );
  }

  /** Puts a new post first. */
  prepend(id: string): void {
    this.#arrived = this.#arrived.filter((other) => other.id !== id);
    this.first.update((page) => ({ ...page, ids: [id, ...page.ids.filter((other) => other !== id)] }));
  }

  remove(id: string): void {
    this.#arrived = this.#arrived.filter((other) => other.id !== id);
    this.first.update((page) => ({ ...page, ids: page.ids.filter((other) => other !== id) }));
  }

  async #readFirst(signal: AbortSignal): Promise<FeedPage> {
    const isQuiet = this.#isQuiet;
    const { page, posts } = await this.#read(null, signal);
    const shown = isQuiet && ageOf(page) === null ? this.first.value : null;
    const next = shown ? renewed(shown, page) : { page, arrived: [], isGap: false };
    this.#isGap = next.isGap;
    this.#arrived = posts.filter(({ id }) => next.arrived.includes(id));
    return next.page;
  }

  async #read(cursor: string | null, signal?: AbortSignal): Promise<{ page: FeedPage; posts: Post[] }> {
    const list = await this.#readList(pageQuery(cursor), signal ?? null);
    this.#keep(list.posts);
    const page = {
      ids: list.posts.map((post) => post.id),
      nextCursor: list.nextCursor ?? null,
      isFallback: list.fallback === true,
      position: list.streamPosition,
    };
    return { page: withAgeOf(list, page), posts: list.posts };
  }

  #readList(page: { cursor?: string }, signal: AbortSignal | null): Promise<PostList> {
    const source = this.#source;
    if (typeof source === 'object' && 'fanId' in source) {
      const params = { path: { id: source.fanId }, query: page };
      return this.#api.call((client) => client.GET('/api/users/{id}/posts', { params, signal }));
    }
    const params = { query: { ...queryOf(source), ...page } };
    return this.#api.call((client) => client.GET('/api/locker-room', { params, signal }));
  }
}

function queryOf(source: Exclude<Source, { fanId: string }>) {
  if (source === 'trending') return { scope: 'all' as const, sort: 'trending' as const };
  if (typeof source === 'string') return { scope: source };
  return 'tag' in source ? { tag: source.tag } : { scope: 'team' as const, teamId: source.teamId };
}
