import { expect, test } from 'vitest';
import type { Comment } from '$lib/api/types';
import type { LiveEvent } from '$lib/live/events';
import { afterCommentEvent } from './comments.svelte';
import { renewed, type FeedPage } from './feed.svelte';
import { afterEvent, postOf } from './post-events';
import { aPost } from './testing';

const channels = ['room'];
const streamed = aPost('1', { body: 'Edited' });

test.each<[LiveEvent, Partial<ReturnType<typeof aPost>>]>([
  [{ name: 'post.edited', data: { post: streamed, channels } }, { body: 'Edited' }],
  [
    { name: 'reaction.changed', data: { postId: '1', reactions: { sad: 2 }, reactionCount: 2, channels } },
    { reactions: { sad: 2 }, reactionCount: 2 },
  ],
  [
    { name: 'comment.deleted', data: { postId: '1', commentId: 'c', commentCount: 4, channels } },
    { commentCount: 4 },
  ],
  [{ name: 'board.reset', data: { seasonId: 's', channels } }, {}],
])('%j changes a post and leaves the own reaction', (event, change) => {
  const post = aPost('1', { myReaction: 'fire' });
  expect(afterEvent(post, event)).toEqual({ ...post, ...change });
});

test('an event is about one post or none', () => {
  expect(postOf({ name: 'post.edited', data: { post: streamed, channels } })).toBe('1');
  expect(postOf({ name: 'post.deleted', data: { postId: '2', channels } })).toBe('2');
  expect(postOf({ name: 'resync', data: { channels } })).toBeNull();
});

const feed = (ids: string[], nextCursor: string | null = 'next', position = 1): FeedPage => ({
  ids,
  nextCursor,
  isFallback: false,
  position,
});

test.each<[string, FeedPage, FeedPage, string[], string[], boolean]>([
  ['new posts wait', feed(['2', '1']), feed(['4', '3', '2']), ['2', '1'], ['4', '3'], false],
  ['deleted ones go', feed(['3', '2', '1']), feed(['3', '1']), ['3', '1'], [], false],
  ['older ones stay', feed(['3', '2', '1']), feed(['3', '2']), ['3', '2', '1'], [], false],
  ['a whole list leaves none', feed(['3', '2', '1']), feed(['3'], null), ['3'], [], false],
  ['many new posts leave a gap', feed(['1']), feed(['9', '8']), ['1'], ['9', '8'], true],
  ['an empty list is filled', feed([], null), feed(['1']), ['1'], [], false],
])('a list that is read again: %s', (_name, shown, read, ids, arrived, isGap) => {
  const next = renewed(shown, { ...read, position: 7 });
  expect(next.page.ids).toEqual(ids);
  expect([next.arrived, next.isGap, next.page.position]).toEqual([arrived, isGap, 7]);
});

const author = { id: 'fan-1', username: 'tilda', displayName: 'Tilda Marsh', pictureUrl: null };
const comment: Comment = {
  id: 'c1',
  postId: '1',
  author,
  body: 'Well said',
  createdAt: '2026-11-23T12:00:00.000Z',
  editedAt: null,
  mentions: [],
  likeCount: 0,
  liked: true,
  replyTo: null,
};
const plain = { ...comment, liked: false };
const created = (id: string, postId = '1'): LiveEvent => ({
  name: 'comment.created',
  data: { comment: { ...plain, id, postId }, commentCount: 2, channels },
});

test('comments are added once, at the end if it is shown, and to their post', () => {
  const page = { comments: [comment], nextCursor: null };
  const next = afterCommentEvent(page, '1', created('c2'));
  expect(next.comments.map(({ id, liked }) => [id, liked])).toEqual([
    ['c1', true],
    ['c2', false],
  ]);
  expect(afterCommentEvent(next, '1', created('c2'))).toEqual(next);
  expect(afterCommentEvent(page, '1', created('c1'))).toEqual(page);
  expect(afterCommentEvent(page, '1', created('c2', '7'))).toBe(page);
  const partial = { ...page, nextCursor: 'next' };
  expect(afterCommentEvent(partial, '1', created('c2'))).toEqual(partial);
});

test('comments are liked, edited and deleted', () => {
  const page = { comments: [comment], nextCursor: null };
  const liked = { postId: '1', commentId: 'c1', likeCount: 5, channels };
  expect(afterCommentEvent(page, '1', { name: 'comment.liked', data: liked }).comments[0]).toMatchObject({
    likeCount: 5,
    liked: true,
  });
  const edited = { comment: { ...plain, body: 'Better said' }, channels };
  expect(afterCommentEvent(page, '1', { name: 'comment.edited', data: edited }).comments[0]).toMatchObject({
    body: 'Better said',
    liked: true,
  });
  const deleted = { postId: '1', commentId: 'c1', commentCount: 0, channels };
  expect(afterCommentEvent(page, '1', { name: 'comment.deleted', data: deleted }).comments).toEqual([]);
});
