import type { Post, Reaction } from '$lib/api/types';

export const REACTIONS: readonly Reaction[] = ['like', 'love', 'fire', 'clap', 'laugh', 'sad'];

/** The post as it is once the reader's reaction is `kind`. */
export function withReaction(post: Post, kind: Reaction | null): Post {
  const before = post.myReaction;
  if (before === kind) return post;
  const reactions = { ...post.reactions };
  if (before !== null) reactions[before] = Math.max(0, (reactions[before] ?? 0) - 1);
  if (kind !== null) reactions[kind] = (reactions[kind] ?? 0) + 1;
  const change = (kind === null ? 0 : 1) - (before === null ? 0 : 1);
  return { ...post, reactions, myReaction: kind, reactionCount: Math.max(0, post.reactionCount + change) };
}

/** How many kinds stand below a post. */
const SHOWN = 3;

/**
 * The kinds that stand below a post, the most frequent first; ties in the order in which they are offered. The reader's own
 * is always among them.
 */
export function shownReactions(post: Post): { kind: Reaction; count: number }[] {
  const all = REACTIONS.map((kind) => ({ kind, count: post.reactions[kind] ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.count - one.count);
  const first = all.slice(0, SHOWN);
  const missing = all.slice(SHOWN).filter(({ kind }) => kind === post.myReaction);
  return missing.length === 0 ? first : [...first.slice(0, -1), ...missing];
}
