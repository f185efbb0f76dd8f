import type { Post } from '$lib/api/types';

export const REACTIONS = ['like', 'love', 'fire', 'clap', 'laugh', 'sad'] as const;

export type Reaction = (typeof REACTIONS)[number];

export function isReaction(kind: string | null | undefined): kind is Reaction {
  return REACTIONS.some((known) => known === kind);
}

/** The reader's own reaction to a post. */
export function ownReaction(post: Post): Reaction | null {
  return isReaction(post.myReaction) ? post.myReaction : null;
}

/** The post as it is once the reader's reaction is `kind`. */
export function withReaction(post: Post, kind: Reaction | null): Post {
  const before = ownReaction(post);
  if (before === kind) return post;
  const reactions: Record<string, number> = { ...post.reactions };
  if (before !== null) reactions[before] = Math.max(0, (reactions[before] ?? 0) - 1);
  if (kind !== null) reactions[kind] = (reactions[kind] ?? 0) + 1;
  const change = (kind === null ? 0 : 1) - (before === null ? 0 : 1);
  return { ...post, reactions, myReaction: kind, reactionCount: Math.max(0, post.reactionCount + change) };
}

/** The kinds that a post has, the most frequent first; ties in the order in which they are offered. */
export function shownReactions(post: Post): { kind: Reaction; count: number }[] {
  const counts: Record<string, number> = post.reactions;
  return REACTIONS.map((kind) => ({ kind, count: counts[kind] ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.count - one.count);
}
