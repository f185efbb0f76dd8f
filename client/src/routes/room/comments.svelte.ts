import type { Api } from '$lib/api/client';
import { failureOf, type Failure } from '$lib/api/errors';
import { Resource } from '$lib/api/resource.svelte';
import type { Comment } from '$lib/api/types';
import type { Draft, Room } from './room.svelte';

export interface CommentPage {
  comments: Comment[];
  nextCursor: string | null;
}

/** The comments of one post, the oldest first. */
export class Comments {
  readonly list: Resource<CommentPage>;
  #isReadingMore = $state(false);
  #moreFailure = $state.raw<Failure | null>(null);
  readonly #api: Api;
  readonly #room: Room;
  readonly #id: string;

  constructor(api: Api, room: Room, postId: string) {
    this.#api = api;
    this.#room = room;
    this.#id = postId;
    this.list = new Resource((signal) => this.#read(null, signal));
  }

  get isReadingMore(): boolean {
    return this.#isReadingMore;
  }

  get moreFailure(): Failure | null {
    return this.#moreFailure;
  }

  async more(): Promise<void> {
    const cursor = this.list.value?.nextCursor ?? null;
    if (this.#isReadingMore || cursor === null) return;
    this.#isReadingMore = true;
    this.#moreFailure = null;
    try {
      const next = await this.#read(cursor);
      this.list.update((page) => merged(page, next));
    } catch (error) {
      this.#moreFailure = failureOf(error);
    } finally {
      this.#isReadingMore = false;
    }
  }

  async send({ key, body }: Draft): Promise<void> {
    const params = { path: { id: this.#id }, header: { 'Idempotency-Key': key } };
    const { comment } = await this.#api.call((client) =>
      client.POST('/api/locker-room/{id}/comments', { params, body: { body } }),
    );
    this.list.update((page) => merged(page, { comments: [comment], nextCursor: page.nextCursor }));
    this.#room.countComments(this.#id, 1);
  }

  async delete(commentId: string): Promise<void> {
    const params = { path: { id: this.#id, commentId } };
    await this.#api.call((client) => client.DELETE('/api/locker-room/{id}/comments/{commentId}', { params }));
    this.list.update(({ comments, nextCursor }) => ({
      comments: comments.filter((comment) => comment.id !== commentId),
      nextCursor,
    }));
    this.#room.countComments(this.#id, -1);
  }

  async #read(cursor: string | null, signal?: AbortSignal): Promise<CommentPage> {
    const params = { path: { id: this.#id }, query: cursor === null ? {} : { cursor } };
    const list = await this.#api.call((client) =>
      client.GET('/api/locker-room/{id}/comments', { params, ...(signal ? { signal } : {}) }),
    );
    return { comments: list.comments, nextCursor: list.nextCursor ?? null };
  }
}

/** Both pages, each comment once. One's own new comment may come again with the page that it belongs to. */
export function merged(page: CommentPage, next: CommentPage): CommentPage {
  const added = new Set(next.comments.map((comment) => comment.id));
  const kept = page.comments.filter((comment) => !added.has(comment.id));
  return { comments: [...kept, ...next.comments], nextCursor: next.nextCursor };
}
