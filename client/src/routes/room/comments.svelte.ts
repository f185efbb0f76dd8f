import type { Api } from '$lib/api/client';
import { withAgeOf } from '$lib/api/age';
import type { Failure } from '$lib/api/errors';
import { More, pageQuery, type Paged } from '$lib/api/more.svelte';
import { Resource } from '$lib/api/resource.svelte';
import type { Comment } from '$lib/api/types';
import type { LiveEvent } from '$lib/live/events';
import type { View } from '$lib/live/live';
import { Wishes } from '$lib/wishes.svelte';
import type { Draft, Room } from './room.svelte';

interface CommentPage {
  comments: Comment[];
  nextCursor: string | null;
}

/** The comments of one post, the oldest first. */
export class Comments implements View, Paged {
  readonly channels = ['room'];
  readonly list: Resource<CommentPage>;
  readonly further: More<CommentPage>;
  readonly #api: Api;
  readonly #room: Room;
  readonly #id: string;
  readonly #likes: Wishes<boolean>;
  /** Comments that the post's count contains since an event said so. */
  readonly #counted = new Set<string>();

  constructor(api: Api, room: Room, postId: string, onRollback: (failure: Failure) => void) {
    this.#api = api;
    this.#room = room;
    this.#id = postId;
    this.list = new Resource((signal) => this.#read(null, signal));
    this.further = new More(this.list);
    this.#likes = new Wishes((id, isLiked) => this.#sendLike(id, isLiked), onRollback);
  }

  more(): Promise<void> {
    return this.further.read((cursor) => this.#read(cursor), merged);
  }

  readonly onevent = (event: LiveEvent): void => {
    this.#count(event);
    this.list.update((page) => afterCommentEvent(page, this.#id, event));
  };

  readonly onresync = (): void => void this.list.load();

  /** The comment with a like that is not confirmed yet. */
  shown(comment: Comment): Comment {
    const liked = this.#likes.over(comment.id, comment.liked);
    if (liked === comment.liked) return comment;
    return { ...comment, liked, likeCount: Math.max(0, comment.likeCount + (liked ? 1 : -1)) };
  }

  like(commentId: string, isLiked: boolean): Promise<void> {
    return this.#likes.set(commentId, isLiked);
  }

  /** Sends a comment, to the post or in reply to another comment. */
  async send({ key, body }: Draft, replyTo: string | null = null): Promise<void> {
    const params = { path: { id: this.#id }, header: { 'Idempotency-Key': key } };
    const { comment } = await this.#api.call((client) =>
      client.POST('/api/locker-room/{id}/comments', {
        params,
        body: replyTo === null ? { body } : { body, replyTo },
      }),
    );
    this.list.update((page) => merged(page, { comments: [comment], nextCursor: page.nextCursor }));
    if (!this.#counted.has(comment.id)) this.#room.countComments(this.#id, 1);
  }

  async edit(commentId: string, body: string): Promise<void> {
    const params = { path: { id: this.#id, commentId } };
    const { comment } = await this.#api.call((client) =>
      client.PATCH('/api/locker-room/{id}/comments/{commentId}', { params, body: { body } }),
    );
    this.#replace(comment);
  }

  async report(commentId: string, reason: string): Promise<void> {
    const params = { path: { id: this.#id, commentId } };
    await this.#api.call((client) =>
      client.POST('/api/locker-room/{id}/comments/{commentId}/report', { params, body: { reason } }),
    );
  }

  async delete(commentId: string): Promise<void> {
    this.#counted.delete(commentId);
    const params = { path: { id: this.#id, commentId } };
    await this.#api.call((client) => client.DELETE('/api/locker-room/{id}/comments/{commentId}', { params }));
    this.list.update(({ comments, nextCursor }) => ({
      comments: comments.filter((comment) => comment.id !== commentId),
      nextCursor,
    }));
    if (!this.#counted.has(commentId)) this.#room.countComments(this.#id, -1);
  }

  #count({ name, data }: LiveEvent): void {
    if (name === 'comment.created') this.#counted.add(data.comment.id);
    if (name === 'comment.deleted') this.#counted.add(data.commentId);
  }

  async #sendLike(commentId: string, isLiked: boolean): Promise<void> {
    const params = { path: { id: this.#id, commentId } };
    const { comment } = await this.#api.call((client) =>
      isLiked
        ? client.POST('/api/locker-room/{id}/comments/{commentId}/like', { params })
        : client.DELETE('/api/locker-room/{id}/comments/{commentId}/like', { params }),
    );
    this.#replace(comment);
  }

  #replace(comment: Comment): void {
    this.list.update(({ comments, nextCursor }) => ({
      comments: comments.map((other) => (other.id === comment.id ? comment : other)),
      nextCursor,
    }));
  }

  async #read(cursor: string | null, signal?: AbortSignal): Promise<CommentPage> {
    const params = { path: { id: this.#id }, query: pageQuery(cursor) };
    const list = await this.#api.call((client) =>
      client.GET('/api/locker-room/{id}/comments', { params, signal: signal ?? null }),
    );
    return withAgeOf(list, { comments: list.comments, nextCursor: list.nextCursor ?? null });
  }
}

/** Both pages, each comment once. One's own new comment may come again with the page that it belongs to. */
function merged(page: CommentPage, next: CommentPage): CommentPage {
  const added = new Set(next.comments.map((comment) => comment.id));
  const kept = page.comments.filter((comment) => !added.has(comment.id));
  return { comments: [...kept, ...next.comments], nextCursor: next.nextCursor };
}

/** The comments of a post after an event. A new one is added where its place, the end, is shown. */
export function afterCommentEvent(page: CommentPage, postId: string, { name, data }: LiveEvent): CommentPage {
  if (name === 'comment.liked') {
    return changed(page, data.commentId, (before) => ({ ...before, likeCount: data.likeCount }));
  }
  if (name === 'comment.deleted') {
    return { ...page, comments: page.comments.filter(({ id }) => id !== data.commentId) };
  }
  if ((name !== 'comment.created' && name !== 'comment.edited') || data.comment.postId !== postId)
    return page;
  const { comment } = data;
  if (page.comments.some(({ id }) => id === comment.id)) {
    return changed(page, comment.id, (before) => ({ ...comment, liked: before.liked }));
  }
  if (name === 'comment.edited' || page.nextCursor !== null) return page;
  return { ...page, comments: [...page.comments, { ...comment, liked: false }] };
}

function changed(page: CommentPage, id: string, change: (comment: Comment) => Comment): CommentPage {
  return {
    ...page,
    comments: page.comments.map((comment) => (comment.id === id ? change(comment) : comment)),
  };
}

interface Thread {
  comment: Comment;
  replies: Comment[];
}

/** Comments with the replies to them. A reply to what is not on the page stands by itself. */
export function threads(comments: readonly Comment[]): Thread[] {
  const byId = new Map<string, Thread>();
  for (const comment of comments) {
    const parent = comment.replyTo == null ? undefined : byId.get(comment.replyTo);
    if (parent) parent.replies.push(comment);
    else byId.set(comment.id, { comment, replies: [] });
  }
  return [...byId.values()];
}
