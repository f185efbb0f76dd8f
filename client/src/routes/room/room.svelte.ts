import { createContext } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import type { Api } from '$lib/api/client';
import { failureOf, type Failure } from '$lib/api/errors';
import type { Clock } from '$lib/api/resource.svelte';
import type { Post } from '$lib/api/types';
import { Feed, SCOPES, type Scope } from './feed.svelte';
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
export class Room {
  readonly #posts = new SvelteMap<string, Post>();
  readonly #wishes = new SvelteMap<string, Wish>();
  readonly #failures = new SvelteMap<string, Failure>();
  readonly #sending = new Set<string>();
  #reader: string | null | undefined;
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

  keep(posts: readonly Post[]): void {
    for (const post of posts) this.#posts.set(post.id, post);
  }

  /** Forgets what was read for another reader: lists and own reactions depend on who reads. */
  showTo(reader: string | null): void {
    if (this.#reader !== undefined && this.#reader !== reader) {
      for (const scope of SCOPES) this.#feeds[scope].first.reset();
      this.#posts.clear();
      this.#wishes.clear();
      this.#failures.clear();
    }
    this.#reader = reader;
  }

  /** Reads a post anew. */
  async read(id: string, signal: AbortSignal): Promise<Post> {
    const init = { params: { path: { id } }, signal };
    const { post } = await this.#api.call((client) => client.GET('/api/locker-room/{id}', init));
    this.keep([post]);
    return post;
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
    this.keep([post]);
    this.#feeds.all.prepend(post.id);
    this.#feeds.following.prepend(post.id);
    return post;
  }

  async delete(id: string): Promise<void> {
    const init = { params: { path: { id } } };
    await this.#api.call((client) => client.DELETE('/api/locker-room/{id}', init));
    for (const scope of SCOPES) this.#feeds[scope].remove(id);
    this.#posts.delete(id);
  }

  /** Changes how many comments a post has. */
  countComments(id: string, change: number): void {
    const post = this.#posts.get(id);
    if (post) this.#posts.set(id, { ...post, commentCount: Math.max(0, post.commentCount + change) });
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
