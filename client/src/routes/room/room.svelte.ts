import { createContext } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import { withAgeOf } from '$lib/api/age';
import type { Api } from '$lib/api/client';
import { failureOf, type Failure } from '$lib/api/errors';
import type { Clock } from '$lib/api/resource.svelte';
import type { Post } from '$lib/api/types';
import type { LiveEvent } from '$lib/live/events';
import type { View } from '$lib/live/live';
import { Feed, SCOPES, type Scope } from './feed.svelte';
import { afterEvent, postOf } from './post-events';
import { withReaction, type Reaction } from './reactions';

/** A text that is to be sent; the key makes sending it again harmless. */
export interface Draft {
  key: string;
  body: string;
}

/** A reaction that the service has not confirmed yet. */
interface Wish {
  kind: Reaction | null;
}

/** The posts of the locker room: the service's rows, and beside them what the reader wishes and is not confirmed. */
export class Room implements View {
  readonly #posts = new SvelteMap<string, Post>();
  readonly #wishes = new SvelteMap<string, Wish>();
  readonly #failures = new SvelteMap<string, Failure>();
  readonly #sending = new Set<string>();
  #reader: string | null | undefined;
  /** The club whose posts the list of the club follows. */
  #team: string | null = null;
  readonly #feeds: Record<Scope, Feed>;
  readonly #api: Api;
  readonly #onRollback: (failure: Failure) => void;

  constructor(api: Api, clock: Clock, onRollback: (failure: Failure) => void) {
    this.#api = api;
    this.#onRollback = onRollback;
    const feed = (scope: Scope): Feed => new Feed(api, clock, scope, (posts) => this.keep(posts));
    this.#feeds = { all: feed('all'), following: feed('following'), team: feed('team') };
  }

  feed(scope: Scope): Feed {
    return this.#feeds[scope];
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
    const opened = SCOPES.filter((scope) => this.#feeds[scope].first.value !== null);
    return ['room', ...opened.map((scope) => this.#channel(scope)).filter((channel) => channel !== 'room')];
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
    if (!known) this.#posts.set(id, { ...event.data.post, myReaction: null });
    for (const scope of SCOPES) {
      if (event.data.channels.includes(this.#channel(scope))) this.#feeds[scope].arrive(event.data.post);
    }
  };

  readonly onresync = (): void => {
    for (const scope of SCOPES) void this.#feeds[scope].refresh();
  };

  keep(posts: readonly Post[]): void {
    for (const post of posts) this.#posts.set(post.id, post);
  }

  /** Forgets what was read for another reader: lists and own reactions depend on who reads. */
  showTo(reader: string | null, team: string | null = null): void {
    this.#team = team;
    if (this.#reader !== undefined && this.#reader !== reader) {
      for (const scope of SCOPES) this.#feeds[scope].first.reset();
      this.#posts.clear();
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
  async publish({ key, body }: Draft): Promise<Post> {
    const init = { params: { header: { 'Idempotency-Key': key } }, body: { body } };
    const { post } = await this.#api.call((client) => client.POST('/api/locker-room', init));
    this.add(post);
    return post;
  }

  /** Puts the reader's own new post first where it belongs. */
  add(post: Post): void {
    this.keep([post]);
    this.#feeds.all.prepend(post.id);
    this.#feeds.following.prepend(post.id);
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
    for (const scope of SCOPES) this.#feeds[scope].remove(id);
    this.#posts.delete(id);
  }

  #channel(scope: Scope): string {
    if (scope === 'following') return 'room:following';
    return scope === 'team' && this.#team !== null ? `room:team:${this.#team}` : 'room';
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
