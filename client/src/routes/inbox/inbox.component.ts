import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { InboxRow } from '$lib/api/types';
import { enHome } from '$lib/i18n/en-home';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World, ada } from '../../../tests/world';
import InboxPage from './InboxPage.svelte';
import { aRow, aUser } from './testing';

const t = enHome.inbox;
const LIST = 'GET /api/notifications';
const MARK = 'POST /api/notifications/read';

function page(notifications: InboxRow[], nextCursor: string | null = null): object {
  const unread = notifications.filter(({ readAt }) => readAt === null).length;
  return { notifications, unread, nextCursor, streamPosition: 70 };
}

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  return world;
}

/** The rows that are marked as new. */
function unread(): string[] {
  const items = screen.getAllByRole('listitem');
  return items
    .filter((item) => within(item).queryByText(t.isNew))
    .map((item) => within(item).getByRole('link').getAttribute('href') ?? '');
}

const read = '2026-11-23T13:00:00.000Z';

test('notifications load, fail, and are read again with who caused them', async () => {
  const world = await signedIn();
  const actors = ['Ben', 'Cal', 'Dee'].map(aUser);
  const rows = [aRow('1', { kind: 'reaction', actors, actorCount: 5 }), aRow('2', { readAt: read })];
  await readsAgain(world, LIST, page(rows), t.failedTitle, () => world.show(InboxPage, {}));
  const first = screen.getByRole('link', { name: /reacted to your post/ });
  expect(first.textContent).toContain('Ben, Cal, Dee, and 2 other fans');
  expect(first.textContent).toContain('Post 1');
  expect(unread()).toEqual(['/posts/1']);
  expect(world.session.fan?.unreadNotifications).toBe(1);
});

test('without notifications the room is offered', async () => {
  const world = await signedIn();
  world.fake.on(LIST, () => ({ body: page([]) }));
  world.show(InboxPage, {});
  await screen.findByRole('heading', { name: t.emptyTitle });
  expect(screen.getByRole('link', { name: t.emptyAction }).getAttribute('href')).toBe('/room');
  expect(screen.queryByRole('button', { name: t.readAll })).toBeNull();
});

test('notifications from earlier are shown with their age', async () => {
  const world = await signedIn();
  const headers = { 'terrace-read-at': new Date().toISOString() };
  world.fake.on(LIST, () => ({ body: page([aRow('1')]), headers }));
  world.show(InboxPage, {});
  expect((await screen.findByRole('alert')).textContent).toMatch(/This is from \d\d:\d\d/);
  expect(screen.getByRole('link', { name: /commented on your post/ })).toBeTruthy();
});

test('the notifications ask guests to sign in', async () => {
  await asksGuests(InboxPage, {});
});

test('a notification is marked as read at once', async () => {
  const world = await signedIn();
  const answer = new Deferred<{ body: unknown }>();
  world.fake.on(LIST, () => ({ body: page([aRow('1'), aRow('2')]) })).on(MARK, () => answer.promise);
  world.show(InboxPage, {});
  const [button] = await screen.findAllByRole('button', { name: /^Mark as read/ });
  if (button) await userEvent.click(button);
  expect(unread()).toEqual(['/posts/2']);
  answer.resolve({ body: { unread: 1 } });
  await waitFor(() => expect(world.session.fan?.unreadNotifications).toBe(1));
  expect(world.fake.requests.at(-1)?.body).toEqual({ ids: ['1'] });
  expect(unread()).toEqual(['/posts/2']);
});

test('a notification that could not be marked is unread again, and the reason is said', async () => {
  const world = await signedIn();
  world.fake.on(LIST, () => ({ body: page([aRow('1')]) })).on(MARK, () => problem(429, 'rate_limited'));
  world.show(InboxPage, {});
  await userEvent.click(await screen.findByRole('button', { name: /^Mark as read/ }));
  await waitFor(() => expect(world.announcer.assertive).toContain(world.texts.t.failure.rate_limited));
  expect(unread()).toEqual(['/posts/1']);
});

test('all that was there is marked as read, up to the position of the list', async () => {
  const world = await signedIn();
  let rows = [aRow('1'), aRow('2')];
  world.fake
    .on(LIST, () => ({ body: page(rows) }))
    .on(MARK, () => {
      rows = rows.map((row) => ({ ...row, readAt: read }));
      return { body: { unread: 0 } };
    });
  world.show(InboxPage, {});
  await userEvent.click(await screen.findByRole('button', { name: t.readAll }));
  await waitFor(() => expect(screen.queryByRole('button', { name: t.readAll })).toBeNull());
  expect(world.fake.requests.find(({ name }) => name === MARK)?.body).toEqual({ upTo: 70 });
  expect(unread()).toEqual([]);
  expect(world.announcer.polite).toBe(t.allRead);
});

/** A fan's inbox of two pages, as it is shown. */
async function opened(): Promise<World> {
  const world = await signedIn();
  const first = [aRow('2'), aRow('1', { readAt: read })];
  world.fake.on(LIST, ({ url }) =>
    new URL(url).searchParams.has('cursor')
      ? { body: page([aRow('0', { readAt: read })]) }
      : { body: page(first, 'next') },
  );
  world.show(InboxPage, {});
  await userEvent.click(await screen.findByRole('button', { name: t.more }));
  await screen.findByText(t.end);
  return world;
}

/** The rows that are shown, from above. */
function shown(): (string | null)[] {
  return screen.getAllByRole('listitem').map((item) => within(item).getByRole('link').getAttribute('href'));
}

const channels = ['me'];

test('what comes meanwhile appears at its place, and a group that changed is new again', async () => {
  const world = await opened();
  const notification = aRow('3', { createdAt: '2026-11-23T14:00:00.000Z' });
  const created = { channels, unread: 2, streamPosition: 80 };
  world.own.publish({ name: 'notification.created', data: { ...created, notification } });
  await waitFor(() => expect(shown()).toEqual(['/posts/3', '/posts/2', '/posts/1', '/posts/0']));
  const changed = aRow('0', { kind: 'reaction', actorCount: 9 });
  world.own.publish({ name: 'notification.created', data: { ...created, notification: changed } });
  await waitFor(() => expect(unread()).toEqual(['/posts/3', '/posts/2', '/posts/0']));
  expect(shown()).toHaveLength(4);
  // What came is marked with all the others.
  world.fake.on(MARK, () => ({ body: { unread: 0 } }));
  await userEvent.click(screen.getByRole('button', { name: t.readAll }));
  await waitFor(() =>
    expect(world.fake.requests.find(({ name }) => name === MARK)?.body).toEqual({ upTo: 80 }),
  );
});

test('what is read in another tab is read here', async () => {
  const world = await opened();
  const ofTab = { channels, unread: 0, upTo: null, ids: ['2'] };
  world.own.publish({ name: 'notification.read', data: ofTab });
  await waitFor(() => expect(unread()).toEqual([]));
  world.fake.on(LIST, () => ({ body: page([aRow('2', { readAt: read }), aRow('1')], 'next') }));
  world.own.publish({ name: 'notification.read', data: { ...ofTab, upTo: 90, ids: [] } });
  await waitFor(() => expect(unread()).toEqual(['/posts/1']));
  // The rows below those that were read again stay.
  await waitFor(() => expect(shown()).toEqual(['/posts/2', '/posts/1', '/posts/0']));
  expect(world.session.fan).toMatchObject({ id: ada.id, unreadNotifications: 1 });
});
