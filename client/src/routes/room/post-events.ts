import type { Post } from '$lib/api/types';
import type { LiveEvent } from '$lib/live/events';

/** Which post an event is about. */
export function postOf({ data }: LiveEvent): string | null {
  if ('post' in data) return data.post.id;
  if ('comment' in data) return data.comment.postId;
  return 'postId' in data ? data.postId : null;
}

/** The post after an event; the reader's own reaction stays, for the stream is not of one reader. */
export function afterEvent(post: Post, { name, data }: LiveEvent): Post {
  if (name === 'post.created' || name === 'post.edited') return { ...data.post, myReaction: post.myReaction };
  if (name === 'comment.created' || name === 'comment.deleted') {
    return { ...post, commentCount: data.commentCount };
  }
  if (name !== 'reaction.changed') return post;
  return { ...post, reactions: data.reactions, reactionCount: data.reactionCount };
}
