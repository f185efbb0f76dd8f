import type { Comment, Post, PublicProfile } from '$lib/api/types';

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

export function aFan(more: Partial<PublicProfile> = {}): PublicProfile {
  return {
    id: 'fan-1',
    username: 'tilda',
    displayName: 'Tilda Marsh',
    bio: 'Row 14, seat 7.',
    pictureUrl: null,
    favoriteTeam: null,
    followerCount: 7,
    followingCount: 3,
    following: false,
    followsYou: true,
    points: 195,
    rank: 12,
    level: { number: 2, name: 'Regular', from: 100, next: 300 },
    achievements: [],
    createdAt: '2026-01-05T12:00:00.000Z',
    ...more,
  };
}
