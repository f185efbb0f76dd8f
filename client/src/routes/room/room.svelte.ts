import { createContext } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import { withAgeOf } from '$lib/api/age';
import type { Api } from '$lib/api/client';
import { failureOf, type Failure } from '$lib/api/errors';
import type { Clock } from '$lib/api/resource.svelte';
import type { Post, Reaction } from '$lib/api/types';
import type { LiveEvent } from '$lib/live/events';
import type { View } from '$lib/live/live';
import { Feed, type Source } from './feed.svelte';
import { afterEvent, postOf } from './post-events';
import { withReaction } from './reactions';

/** A text that is to be sent; the key makes sending it again harmless. */
export interface Draft {
  key: string;
  body: string;
  picture?: { file: File; alt: string };
}

/** How many lists are kept for the way back to them. */
const MOST_FEEDS = 12;

/** How many posts that came by events are kept before those go that no list names: a page may be open for days. */
const MOST_FROM_EVENTS = 1_000;

/** A reaction that the service has not confirmed yet. */
interface Wish {
  kind: Reaction | null;
}

/** The posts of the locker room: the service's rows, and beside them what the reader wishes and is not confirmed. */
export class Room implements View {
  readonly #posts = new SvelteMap<string, Post>();
  /** The posts that came by events, the oldest first. */
  readonly #fromEvents = new Set<string>();
  readonly #wishes = new SvelteMap<string, Wish>();
  readonly #failures = new SvelteMap<string, Failure>();
  readonly #sending = new Set<string>();
  #reader: string | null | undefined;
  /** The club whose posts the list of the club follows. */
  #team: string | null = null;
  readonly #feeds = new Map<string, Feed>();
  readonly #api: Api;
  readonly #clock: Clock;
  readonly #onRollback: (failure: Failure) => void;

  constructor(api: Api, clock: Clock, onRollback: (failure: Failure) => void) {
    this.#api = api;
    this.#clock = clock;
    this.#onRollback = onRollback;
  }

  /** The list of these posts, always the same one while it is kept. */
  feed(source: Source): Feed {
    const key = JSON.stringify(source);
    const feed =
      this.#feeds.get(key) ?? new Feed(this.#api, this.#clock, source, (posts) => this.keep(posts));
    // The list that was asked for last is the last one to go.
    this.#feeds.delete(key);
    this.#feeds.set(key, feed);
    const [oldest] = this.#feeds.keys();
    if (this.#feeds.size > MOST_FEEDS && oldest !== undefined) this.#feeds.delete(oldest);
    return feed;
  }

  /** The post as the reader wants it: the service's, with a reaction that is not confirmed yet. */
  post(id: string): Post | null {
    const post = this.#posts.get(id);
    const wish = this.#wishes.get(id);
    if (!post) return null;
    return wish ? withReaction(post, wish.kind) : post;
  }

  /** Why the last reaction to a post was taken back. */
  failure(id: string): Failure | null {
    return this.#failures.get(id) ?? null;
  }

  /** What the lists that were read follow. */
  get channels(): string[] {
    const opened = [...this.#feeds.values()].filter((feed) => feed.first.value !== null);
    return [...new Set(['room', ...opened.flatMap((feed) => feed.channel(this.#team) ?? [])])];
  }

  readonly onevent = (event: LiveEvent): void => {
    const id = postOf(event);
    if (id === null) return;
    if (event.name === 'post.deleted') {
      this.#forget(id);
      return;
    }
    const known = this.#posts.get(id);
    if (known) this.#posts.set(id, afterEvent(known, event));
    if (event.name !== 'post.created') return;
    if (!known) this.#keepFromEvent(event.data.post);
    for (const feed of this.#feeds.values()) {
      const channel = feed.channel(this.#team);
      if (channel !== null && event.data.channels.includes(channel)) feed.arrive(event.data.post);
    }
  };

  readonly onresync = (): void => {
    for (const feed of this.#feeds.values()) if (feed.channel(this.#team) !== null) void feed.refresh();
  };

  keep(posts: readonly Post[]): void {
    for (const post of posts) this.#posts.set(post.id, post);
  }

  /** Forgets what was read for another reader: lists and own reactions depend on who reads. */
  showTo(reader: string | null, team: string | null = null): void {
    this.#team = team;
    if (this.#reader !== undefined && this.#reader !== reader) {
      for (const feed of this.#feeds.values()) feed.first.reset();
      this.#posts.clear();
      this.#fromEvents.clear();
      this.#wishes.clear();
      this.#failures.clear();
    }
    this.#reader = reader;
  }

  /** Where the stream is now; `null` without a connection. */
  async position(): Promise<number | null> {
    try {
      const init = { params: { query: { limit: 1 } } };
      const list = await this.#api.call((client) => client.GET('/api/locker-room', init));
      return list.streamPosition;
    } catch (error) {
      failureOf(error);
      return null;
    }
  }

  /** Reads a post anew. */
  async read(id: string, signal: AbortSignal): Promise<Post> {
    const init = { params: { path: { id } }, signal };
    const answer = await this.#api.call((client) => client.GET('/api/locker-room/{id}', init));
    this.keep([answer.post]);
    return withAgeOf(answer, answer.post);
  }

  /** Sets the reader's reaction, at once on the screen. One request runs for a post, and the newest wish is next. */
  async react(id: string, kind: Reaction | null): Promise<void> {
    this.#wishes.set(id, { kind });
    this.#failures.delete(id);
    if (this.#sending.has(id)) return;
    this.#sending.add(id);
    try {
      for (let wish = this.#wishes.get(id); wish; wish = this.#wishes.get(id)) {
        const post = await this.#sendReaction(id, wish.kind);
        this.keep([post]);
        if (this.#wishes.get(id) === wish) this.#wishes.delete(id);
      }
    } catch (error) {
      const failure = failureOf(error);
      this.#wishes.delete(id);
      this.#failures.set(id, failure);
      this.#onRollback(failure);
    } finally {
      this.#sending.delete(id);
    }
  }

  /** Sends a post and puts it first where it belongs. */
  async publish({ key, body, picture }: Draft): Promise<Post> {
    const attached = picture ? await this.#upload(key, picture) : {};
    const init = { params: { header: { 'Idempotency-Key': key } }, body: { body, ...attached } };
    const { post } = await this.#api.call((client) => client.POST('/api/locker-room', init));
    this.add(post);
    return post;
  }

  /** Puts the reader's own new post first where it belongs. */
  add(post: Post): void {
    this.keep([post]);
    this.feed('all').prepend(post.id);
    this.feed('following').prepend(post.id);
  }

  /** Replaces the text of an own post. */
  async edit(id: string, body: string): Promise<void> {
    const init = { params: { path: { id } }, body: { body } };
    const { post } = await this.#api.call((client) => client.PATCH('/api/locker-room/{id}', init));
    this.keep([post]);
  }

  async report(id: string, reason: string): Promise<void> {
    const init = { params: { path: { id } }, body: { reason } };
    await this.#api.call((client) => client.POST('/api/locker-room/{id}/report', init));
  }

  /** The reader follows others than before, and no longer sees the fan who was blocked, if one was. */
  followOthers(blocked: string | null): void {
    this.feed('following').first.reset();
    for (const [id, post] of this.#posts) if (post.author.id === blocked) this.#forget(id);
  }

  async delete(id: string): Promise<void> {
    const init = { params: { path: { id } } };
    await this.#api.call((client) => client.DELETE('/api/locker-room/{id}', init));
    this.#forget(id);
  }

  /** Changes how many comments a post has. */
  countComments(id: string, change: number): void {
    const post = this.#posts.get(id);
    if (post) this.#posts.set(id, { ...post, commentCount: Math.max(0, post.commentCount + change) });
  }

  #forget(id: string): void {
    for (const feed of this.#feeds.values()) feed.remove(id);
    this.#posts.delete(id);
    this.#fromEvents.delete(id);
  }

  #keepFromEvent(post: Omit<Post, 'myReaction'>): void {
    this.#posts.set(post.id, { ...post, myReaction: null });
    this.#fromEvents.add(post.id);
    if (this.#fromEvents.size <= MOST_FROM_EVENTS) return;
    const named = new Set([...this.#feeds.values()].flatMap((feed) => feed.ids));
    for (const id of [...this.#fromEvents].slice(0, MOST_FROM_EVENTS / 2)) {
      if (named.has(id)) continue;
      this.#fromEvents.delete(id);
      this.#posts.delete(id);
    }
  }

  /** Sends a picture. Its key is that of the post: sending both again has no second effect. */
  async #upload(
    key: string,
    { file, alt }: NonNullable<Draft['picture']>,
  ): Promise<{ mediaId: string; imageAlt?: string }> {
    const { mediaId } = await this.#api.call((client) =>
      client.POST('/api/media', {
        params: { header: { 'Idempotency-Key': key } },
        headers: { 'Content-Type': file.type },
        body: file,
        bodySerializer: () => file,
      }),
    );
    return alt === '' ? { mediaId } : { mediaId, imageAlt: alt };
  }

  async #sendReaction(id: string, kind: Reaction | null): Promise<Post> {
    const params = { path: { id } };
    const answer = await this.#api.call((client) =>
      kind === null
        ? client.DELETE('/api/locker-room/{id}/react', { params })
        : client.POST('/api/locker-room/{id}/react', { params, body: { kind } }),
    );
    return answer.post;
  }
}

export const [useRoom, setRoom] = createContext<Room>();
