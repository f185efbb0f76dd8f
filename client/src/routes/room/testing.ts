import type { Comment, Post } from '$lib/api/types';

export function aPost(id: string, more: Partial<Post> = {}): Post {
  return {
    id,
    author: { id: 'fan-1', username: 'tilda', displayName: 'Tilda Marsh', pictureUrl: null },
    body: `Post ${id}`,
    mentions: [],
    team: null,
    teamId: null,
    image: null,
    imageUrl: null,
    editedAt: null,
    commentCount: 0,
    reactionCount: 0,
    reactions: {},
    myReaction: null,
    createdAt: '2026-11-23T12:00:00.000Z',
    ...more,
  };
}

export function aComment(id: string, more: Partial<Comment> = {}): Comment {
  return {
    id,
    postId: '1',
    author: { id: 'fan-1', username: 'tilda', displayName: 'Tilda Marsh', pictureUrl: null },
    replyTo: null,
    body: `Comment ${id}`,
    mentions: [],
    likeCount: 0,
    liked: false,
    editedAt: null,
    createdAt: '2026-11-23T12:00:00.000Z',
    ...more,
  };
}
