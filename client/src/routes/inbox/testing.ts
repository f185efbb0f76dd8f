import type { InboxRow, User } from '$lib/api/types';

export function aUser(username: string): User {
  return {
    id: `fan-${username}`,
    username,
    displayName: username,
    pictureUrl: null,
    favoriteTeamId: null,
  } as User;
}

export function aRow(id: string, more: Partial<InboxRow> = {}): InboxRow {
  return {
    id,
    kind: 'comment',
    actors: [aUser('Ben')],
    actorCount: 1,
    subject: { kind: 'post', id: `post-${id}`, title: `Post ${id}` },
    text: 'Ben commented on your post',
    url: `/posts/${id}`,
    readAt: null,
    createdAt: '2026-11-23T12:00:00.000Z',
    ...more,
  };
}
