import { expect, test } from 'vitest';
import type { Post, Reaction } from '$lib/api/types';
import { shownReactions, withReaction } from './reactions';
import { aPost } from './testing';

test.each<[Reaction | null, Reaction | null, Post['reactions'], number]>([
  [null, 'like', { like: 3, fire: 1 }, 4],
  ['like', null, { like: 1, fire: 1 }, 2],
  ['like', 'fire', { like: 1, fire: 2 }, 3],
  ['like', 'like', { like: 2, fire: 1 }, 3],
  [null, 'sad', { like: 2, fire: 1, sad: 1 }, 4],
])('from %s to %s', (before, after, reactions, reactionCount) => {
  const post = aPost('1', { myReaction: before, reactions: { like: 2, fire: 1 }, reactionCount: 3 });
  const changed = withReaction(post, after);
  expect(changed).toMatchObject({ myReaction: after, reactions, reactionCount });
  expect(post.reactions).toEqual({ like: 2, fire: 1 });
});

test('reactions are shown from the most frequent, without those of no one and unknown ones', () => {
  const later: object = { later: 9 };
  const post = aPost('1', { reactions: { like: 1, sad: 0, clap: 4, laugh: 1, ...later } });
  expect(shownReactions(post).map(({ kind }) => kind)).toEqual(['clap', 'like', 'laugh']);
});

test('the own reaction is shown however rare it is', () => {
  const reactions = { like: 5, love: 4, fire: 3, clap: 2, sad: 1 };
  const kinds = (post: ReturnType<typeof aPost>): Reaction[] => shownReactions(post).map(({ kind }) => kind);
  expect(kinds(aPost('1', { reactions }))).toEqual(['like', 'love', 'fire']);
  expect(kinds(aPost('1', { reactions, myReaction: 'sad' }))).toEqual(['like', 'love', 'sad']);
  expect(kinds(aPost('1', { reactions, myReaction: 'love' }))).toEqual(['like', 'love', 'fire']);
});
