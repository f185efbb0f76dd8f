import { expect, test, vi } from 'vitest';
import { Refused } from '$lib/api/errors';
import { Deferred, FakeApi, problem } from '$lib/api/testing';
import type { Post, Reaction } from '$lib/api/types';
import { Room } from './room.svelte';
import { aPost } from './testing';

const clock = { now: () => new Date('2026-11-23T12:00:00Z') };

function room(fake: FakeApi): { room: Room; failures: string[] } {
  const failures: string[] = [];
  const note = (failure: Error): void => void failures.push(failure.message);
  return { room: new Room(fake.api, clock, note), failures };
}

const list = (posts: Post[], nextCursor: string | null = null): { body: unknown } => ({
  body: { posts, nextCursor, streamPosition: 1 },
});

test('a list is read once, and its next page is added without doubles', async () => {
  const fake = new FakeApi().on('GET /api/locker-room', (request) =>
    new URL(request.url).searchParams.has('cursor')
      ? list([aPost('2'), aPost('3')])
      : list([aPost('1'), aPost('2')], 'next'),
  );
  const { room: it } = room(fake);
  const feed = it.feed('following');
  feed.open();
  feed.open();
  await vi.waitFor(() => expect(feed.first.value).not.toBeNull());
  await Promise.all([feed.more(), feed.more()]);
  expect(feed.first.value?.ids).toEqual(['1', '2', '3']);
  await feed.more();
  expect(fake.requests.map(({ query }) => query.toString())).toEqual([
    'scope=following',
    'scope=following&cursor=next',
  ]);
});

test('a list ends at as many posts as a page can hold', async () => {
  let read = 0;
  const fake = new FakeApi().on('GET /api/locker-room', () => {
    read += 1;
    return list(
      Array.from({ length: 100 }, (_, place) => aPost(`${String(read)}-${String(place)}`)),
      'next',
    );
  });
  const feed = room(fake).room.feed('all');
  await feed.first.load();
  for (let page = 0; page < 5; page += 1) await feed.more();
  expect(feed.first.value?.ids).toHaveLength(300);
  expect(read).toBe(3);
});

test('a failed page leaves the list as it is', async () => {
  const fake = new FakeApi().on('GET /api/locker-room', (request) =>
    new URL(request.url).searchParams.has('cursor')
      ? problem(503, 'unavailable')
      : list([aPost('1')], 'next'),
  );
  const feed = room(fake).room.feed('all');
  await feed.first.load();
  await feed.more();
  expect(feed.first.value?.ids).toEqual(['1']);
  expect(feed.further.failure).toBeInstanceOf(Refused);
  expect(feed.further.isRunning).toBe(false);
});

test('a reaction shows at once and keeps what the service answers', async () => {
  const answer = new Deferred<{ body: unknown }>();
  const fake = new FakeApi().on('POST /api/locker-room/1/react', () => answer.promise);
  const { room: it } = room(fake);
  it.keep([aPost('1', { reactions: { like: 2 }, reactionCount: 2 })]);
  const done = it.react('1', 'like');
  expect(it.post('1')).toMatchObject({ myReaction: 'like', reactions: { like: 3 }, reactionCount: 3 });
  answer.resolve({
    body: { post: aPost('1', { myReaction: 'like', reactions: { like: 7 }, reactionCount: 7 }) },
  });
  await done;
  expect(it.post('1')).toMatchObject({ myReaction: 'like', reactions: { like: 7 } });
});

test('a refused reaction is taken back, and events in between are kept', async () => {
  const answer = new Deferred<ReturnType<typeof problem>>();
  const fake = new FakeApi().on('POST /api/locker-room/1/react', () => answer.promise);
  const { room: it, failures } = room(fake);
  it.keep([aPost('1')]);
  const done = it.react('1', 'fire');
  it.keep([aPost('1', { reactions: { love: 5 }, reactionCount: 5 })]);
  expect(it.post('1')?.reactions).toEqual({ love: 5, fire: 1 });
  answer.resolve(problem(429, 'rate_limited'));
  await done;
  expect(it.post('1')).toMatchObject({ myReaction: null, reactions: { love: 5 }, reactionCount: 5 });
  expect(failures).toEqual(['429 rate_limited']);
  expect(it.failure('1')).toBeInstanceOf(Refused);
});

test('while one reaction is sent, only the newest wish waits', async () => {
  const first = new Deferred<{ body: unknown }>();
  const fake = new FakeApi()
    .on('POST /api/locker-room/1/react', async (request) => {
      const { kind } = (await request.json()) as { kind: Reaction };
      return kind === 'like' ? first.promise : { body: { post: aPost('1', { myReaction: kind }) } };
    })
    .on('DELETE /api/locker-room/1/react', () => ({ body: { post: aPost('1') } }));
  const { room: it } = room(fake);
  it.keep([aPost('1')]);
  const done = it.react('1', 'like');
  void it.react('1', null);
  void it.react('1', 'clap');
  first.resolve({ body: { post: aPost('1', { myReaction: 'like' }) } });
  await done;
  expect(fake.requests.map(({ body }) => body)).toEqual([{ kind: 'like' }, { kind: 'clap' }]);
  expect(it.post('1')?.myReaction).toBe('clap');
});

test('a new post comes first, under its key', async () => {
  const keys: (string | null)[] = [];
  const fake = new FakeApi()
    .on('GET /api/locker-room', () => list([aPost('1')]))
    .on('POST /api/locker-room', (request) => {
      keys.push(request.headers.get('idempotency-key'));
      return { status: 201, body: { post: aPost('2') } };
    });
  const { room: it } = room(fake);
  await it.feed('all').first.load();
  await it.publish({ key: 'key-1', body: 'Hello' });
  expect(it.feed('all').first.value?.ids).toEqual(['2', '1']);
  expect(keys).toEqual(['key-1']);
});

test('another reader gets lists of their own', async () => {
  const fake = new FakeApi().on('GET /api/locker-room', () => list([aPost('1', { myReaction: 'like' })]));
  const { room: it } = room(fake);
  it.showTo(null);
  await it.feed('all').first.load();
  it.showTo(null);
  expect(it.post('1')).not.toBeNull();
  it.showTo('fan-1');
  expect(it.post('1')).toBeNull();
  expect(it.feed('all').first.state).toEqual({ kind: 'loading' });
  it.feed('all').open();
  await vi.waitFor(() => expect(it.feed('all').first.value?.ids).toEqual(['1']));
});

test('a deleted post leaves every list', async () => {
  const fake = new FakeApi()
    .on('GET /api/locker-room', () => list([aPost('1'), aPost('2')]))
    .on('DELETE /api/locker-room/1', () => ({ status: 204 }));
  const { room: it } = room(fake);
  await it.feed('all').first.load();
  await it.delete('1');
  expect(it.feed('all').first.value?.ids).toEqual(['2']);
  expect(it.post('1')).toBeNull();
});

test('a list that is read again leaves what is shown in its place', async () => {
  let posts = [aPost('1')];
  const fake = new FakeApi().on('GET /api/locker-room', () => list(posts, 'next'));
  const { room: it } = room(fake);
  const feed = it.feed('all');
  await feed.first.load();
  posts = [aPost('2'), aPost('1', { body: 'Edited' })];
  await feed.refresh();
  expect(feed.first.value?.ids).toEqual(['1']);
  expect([feed.arrivedCount, it.post('1')?.body]).toEqual([1, 'Edited']);
  await feed.showArrived();
  expect(feed.first.value?.ids).toEqual(['2', '1']);
  posts = [aPost('9'), aPost('8')];
  it.onresync();
  await vi.waitFor(() => expect(feed.arrivedCount).toBe(2));
  expect(feed.first.value?.ids).toEqual(['2', '1']);
  await feed.showArrived();
  expect(feed.first.value?.ids).toEqual(['9', '8']);
  expect(feed.arrivedCount).toBe(0);
});

test('a new post reaches the lists of its channels', async () => {
  const fake = new FakeApi().on('GET /api/locker-room', () => list([aPost('1')]));
  const { room: it } = room(fake);
  it.showTo('fan-1:team-1', 'team-1');
  for (const scope of ['all', 'team'] as const) await it.feed(scope).first.load();
  expect(it.channels).toEqual(['room', 'room:team:team-1']);
  const told = (id: string, channels: string[]): void =>
    it.onevent({ name: 'post.created', data: { post: aPost(id), channels } });
  told('2', ['room']);
  told('3', ['room', 'room:team:team-1']);
  expect(it.feed('all').arrivedCount).toBe(2);
  expect(it.feed('team').arrivedCount).toBe(1);
  it.onevent({ name: 'post.deleted', data: { postId: '3', channels: ['room'] } });
  expect(it.feed('all').arrivedCount).toBe(1);
  expect(it.feed('team').arrivedCount).toBe(0);
  expect(it.post('3')).toBeNull();
});

test('each list follows its channel, and one without a channel is read again when it is shown again', async () => {
  let posts = [aPost('1')];
  const fake = new FakeApi().on('GET /api/locker-room', () => list(posts));
  const { room: it } = room(fake);
  it.showTo('fan-9', 'club');
  const feeds = {
    all: it.feed('all'),
    team: it.feed('team'),
    other: it.feed({ teamId: 'other' }),
    tag: it.feed({ tag: 'derby' }),
    trending: it.feed('trending'),
  };
  await Promise.all(Object.values(feeds).map((feed) => feed.first.load()));
  expect(it.channels).toEqual(['room', 'room:team:club', 'room:team:other']);

  it.onevent({ name: 'post.created', data: { post: aPost('2'), channels: ['room', 'room:team:other'] } });
  const waiting = (): number[] => Object.values(feeds).map(({ arrivedCount }) => arrivedCount);
  expect(waiting()).toEqual([1, 0, 1, 0, 0]);

  posts = [aPost('3'), ...posts];
  fake.requests.length = 0;
  await Promise.all(Object.values(feeds).map((feed) => feed.revisit()));
  expect(waiting()).toEqual([1, 0, 1, 1, 0]);
  expect(feeds.tag.first.value?.ids).toEqual(['1']);
  expect(fake.requests.map(({ query }) => query.toString())).toEqual(['tag=derby']);
});

test('of many posts that come by events those stay that a list names', async () => {
  const fake = new FakeApi().on('GET /api/locker-room', () => list([aPost('listed')]));
  const { room: it } = room(fake);
  const feed = it.feed('all');
  await feed.first.load();
  const told = (id: string): void =>
    it.onevent({ name: 'post.created', data: { post: aPost(id), channels: ['room'] } });
  told('shown');
  await feed.showArrived();
  for (let post = 0; post < 1_000; post += 1) told(String(post));
  expect(['listed', 'shown', '0', '498', '499', '999'].map((id) => it.post(id) !== null)).toEqual([
    true,
    true,
    false,
    false,
    true,
    true,
  ]);
  expect(feed.ids.every((id) => it.post(id) !== null)).toBe(true);
});
