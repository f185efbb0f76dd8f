import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { PublicProfile, Recommended, User } from '$lib/api/types';
import { enFans } from '$lib/i18n/en-fans';
import { enPages } from '$lib/i18n/en-pages';
import { asksGuests, readsAgain } from '../../../../tests/states';
import { World, ada } from '../../../../tests/world';
import BlocksPage from './BlocksPage.svelte';
import FanPage from './FanPage.svelte';
import FansPage from './FansPage.svelte';
import FollowListPage from './FollowListPage.svelte';

const { people: t } = enFans;
const SINCE = '2026-11-01T12:00:00.000Z';

afterEach(() => history.replaceState(null, '', '/'));

const aFan = (id: string): User => ({ id, username: id, displayName: `Fan ${id}`, pictureUrl: null });

const aProfile = (more: Partial<PublicProfile> = {}): PublicProfile => ({
  ...aFan('tilda'),
  bio: '',
  favoriteTeam: null,
  followerCount: 7,
  followingCount: 3,
  following: false,
  followsYou: false,
  points: null,
  rank: null,
  level: null,
  achievements: [],
  createdAt: SINCE,
  ...more,
});

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  return world;
}

const followButton = (name: string, pressed: boolean): Promise<HTMLElement> =>
  screen.findByRole('button', { name: `${pressed ? t.following : t.follow} ${name}`, pressed });

/* --- whom to follow -------------------------------------------------------------- */

const suggestions = (...ids: string[]): { users: Recommended[] } => ({
  users: ids.map((id) => ({ user: aFan(id), mutualCount: 2, reason: '', reasonKind: 'followed_by' })),
});

test('the suggestions load, fail, and are read again with their reasons', async () => {
  const world = await signedIn();
  await readsAgain(world, 'GET /api/user/recommended', suggestions('tilda'), t.recommendedFailed, () =>
    world.show(FansPage, {}),
  );
  const row = screen.getByRole('listitem');
  expect(row.textContent).toContain(t.reasons.followed_by(2, '2'));
  expect(within(row).getByRole('link').getAttribute('href')).toBe('/fans/tilda');
});

test('a follow shows at once, and is taken back where the service refuses it', async () => {
  const world = await signedIn();
  const answer = new Deferred<ReturnType<typeof problem>>();
  world.fake
    .on('GET /api/user/recommended', () => ({ body: suggestions('tilda') }))
    .on('POST /api/user/follow', () => answer.promise);
  world.show(FansPage, {});
  await userEvent.click(await followButton('Fan tilda', false));
  await followButton('Fan tilda', true);
  answer.resolve(problem(429, 'rate_limited'));
  await followButton('Fan tilda', false);
  expect(world.fake.requests.at(-1)?.body).toEqual({ userId: 'tilda' });
});

test('a suggestion is dismissed once the service knows', async () => {
  const world = await signedIn();
  let isBusy = true;
  world.fake
    .on('GET /api/user/recommended', () => ({ body: suggestions('tilda', 'bob') }))
    .on('DELETE /api/user/recommended/tilda', () => (isBusy ? problem(503, 'unavailable') : { status: 204 }));
  world.show(FansPage, {});
  const dismiss = await screen.findByRole('button', { name: t.dismiss('Fan tilda') });
  await userEvent.click(dismiss);
  await waitFor(() => expect(world.announcer.assertive).toBe(world.texts.t.failure.unavailable));
  expect(screen.getAllByRole('listitem')).toHaveLength(2);
  isBusy = false;
  await userEvent.click(dismiss);
  await waitFor(() => expect(world.announcer.polite).toBe(t.dismissed('Fan tilda')));
  expect(screen.getAllByRole('listitem').map((row) => row.textContent)).toEqual([
    expect.stringContaining('Fan bob'),
  ]);
});

test('without suggestions the room is offered', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/user/recommended', () => ({ body: suggestions() }));
  world.show(FansPage, {});
  await screen.findByRole('heading', { name: t.recommendedEmpty });
  expect(screen.getByRole('link', { name: world.texts.t.state.toRoom }).getAttribute('href')).toBe('/room');
});

/* --- a fan ------------------------------------------------------------------------ */

const fanProps = { params: { username: 'tilda' } };
const PROFILE = 'GET /api/users/by-name/tilda';

/** What a fan's page reads beside the profile: nothing is posted, and the collection is hidden. */
function besideProfile(world: World, id = 'tilda'): void {
  world.fake
    .on(`GET /api/users/${id}/collectibles`, () => problem(403, 'forbidden'))
    .on(`GET /api/users/${id}/posts`, () => ({ body: { posts: [], nextCursor: null, streamPosition: 1 } }));
}

async function openFan(profile: PublicProfile): Promise<World> {
  const world = await signedIn();
  besideProfile(world, profile.id);
  world.fake.on(PROFILE, () => ({ body: profile }));
  world.show(FanPage, fanProps);
  await screen.findByRole('heading', { name: t.noPosts });
  return world;
}

test('a profile loads, fails, and is read again', async () => {
  const world = await signedIn();
  besideProfile(world);
  const achievements = [{ key: 'a', title: 'First words', description: 'A post', unlockedAt: SINCE }];
  const profile = aProfile({ points: 120, rank: 4, followsYou: true, achievements });
  await readsAgain(world, PROFILE, profile, t.failedTitle, () => world.show(FanPage, fanProps));
  expect(screen.getByRole('heading', { name: 'Fan tilda', level: 1 })).toBeTruthy();
  expect(screen.getByText(t.points).nextElementSibling?.textContent).toBe('120');
  expect(screen.getByText(t.followsYou)).toBeTruthy();
  expect(screen.getByText('First words')).toBeTruthy();
  expect(await screen.findByText(t.noPostsText('Fan tilda'))).toBeTruthy();
  // A collection that is hidden is no failure of the page.
  expect(screen.queryByRole('heading', { name: t.collection })).toBeNull();
});

test('a fan whom no one knows is said to be gone', async () => {
  const world = await signedIn();
  world.fake.on(PROFILE, () => problem(404, 'not_found'));
  world.show(FanPage, fanProps);
  expect((await screen.findByRole('alert')).textContent).toContain(world.texts.t.failure.not_found);
});

test('a follow counts at once', async () => {
  const world = await openFan(aProfile());
  const answer = new Deferred<{ body: unknown }>();
  world.fake.on('POST /api/user/follow', () => answer.promise);
  await userEvent.click(await followButton('Fan tilda', false));
  expect(await screen.findByRole('link', { name: `${t.followers}, 8` })).toBeTruthy();
  answer.resolve({ body: { following: true, followerCount: 8 } });
  await followButton('Fan tilda', true);
});

test('a fan is blocked after a question, and a block that is refused says why', async () => {
  const world = await openFan(aProfile());
  world.fake.on('POST /api/user/block', () => problem(503, 'unavailable'));
  await userEvent.click(screen.getByRole('button', { name: t.block }));
  const dialog = await screen.findByRole('dialog', { name: t.blockTitle('Fan tilda') });
  expect(document.activeElement?.textContent).toContain(enPages.dialog.cancel);
  await userEvent.click(within(dialog).getByRole('button', { name: t.block }));
  await waitFor(() => expect(world.announcer.assertive).toBe(world.texts.t.failure.unavailable));
  expect(world.router.path).not.toBe('/blocks');
});

test('the own profile offers no follow and no block', async () => {
  await openFan(aProfile({ id: ada.id }));
  expect(screen.getByRole('link', { name: t.editProfile }).getAttribute('href')).toBe('/account');
  expect(screen.queryByRole('button', { name: t.block })).toBeNull();
  expect(screen.queryByRole('button', { pressed: false })).toBeNull();
});

/* --- who follows whom -------------------------------------------------------------- */

const followers = (ids: string[], nextCursor: string | null = null): object => ({
  followers: ids.map((id) => ({ user: aFan(id), following: id === 'bob', followsBack: false, since: SINCE })),
  total: 2,
  nextCursor,
});

async function withProfile(): Promise<World> {
  const world = await signedIn();
  world.fake.on(PROFILE, () => ({ body: aProfile() }));
  return world;
}

const listProps = { username: 'tilda', direction: 'followers' } as const;

test('the followers load, fail, and are read again', async () => {
  const world = await withProfile();
  await readsAgain(world, 'GET /api/user/followers', followers(['bob', 'cleo']), t.listFailed, () =>
    world.show(FollowListPage, listProps),
  );
  expect(screen.getByRole('heading', { name: t.followersOf('Fan tilda'), level: 1 })).toBeTruthy();
  expect(screen.getByRole('heading', { name: t.total(2, '2') })).toBeTruthy();
  await followButton('Fan bob', true);
  await followButton('Fan cleo', false);
});

test('a list of fans goes on', async () => {
  const world = await withProfile();
  world.fake.on('GET /api/user/followers', ({ url }) => {
    const { searchParams } = new URL(url);
    expect(searchParams.get('userId')).toBe('tilda');
    return { body: searchParams.has('cursor') ? followers(['cleo']) : followers(['bob'], 'next') };
  });
  world.show(FollowListPage, listProps);
  await userEvent.click(await screen.findByRole('button', { name: t.moreFans }));
  expect(await screen.findByRole('link', { name: /Fan cleo/ })).toBeTruthy();
  expect(screen.getByRole('link', { name: /Fan bob/ })).toBeTruthy();
  expect(screen.queryByRole('button', { name: t.moreFans })).toBeNull();
});

test('whom a fan follows are clubs and fans', async () => {
  const world = await withProfile();
  const team = {
    id: 'team-1',
    key: 'ajax',
    name: 'Ajax',
    shortName: 'Ajax',
    leagueId: 'l1',
    colors: [],
    crestUrl: null,
    followerCount: 9,
  };
  world.fake.on('GET /api/user/following', () => ({
    body: { following: [], teams: [{ team, since: SINCE }], total: 0, nextCursor: null },
  }));
  world.show(FollowListPage, { username: 'tilda', direction: 'following' });
  expect((await screen.findByRole('link', { name: /Ajax/ })).getAttribute('href')).toBe('/teams/team-1');
  expect(screen.queryByRole('heading', { name: t.noFollowed })).toBeNull();
});

test('a fan without followers leads to whom to follow', async () => {
  const world = await withProfile();
  world.fake.on('GET /api/user/followers', () => ({ body: { followers: [], total: 0, nextCursor: null } }));
  world.show(FollowListPage, listProps);
  await screen.findByRole('heading', { name: t.noFollowers });
  expect(screen.getByRole('link', { name: t.recommended }).getAttribute('href')).toBe('/fans');
});

/* --- whom the reader blocks -------------------------------------------------------- */

const blocks = (...ids: string[]): object => ({
  blocks: ids.map((id) => ({ user: aFan(id), since: SINCE })),
  nextCursor: null,
});

test('the blocked fans load, fail, and are read again', async () => {
  const world = await signedIn();
  await readsAgain(world, 'GET /api/user/blocks', blocks('tilda'), t.blocksFailed, () =>
    world.show(BlocksPage, {}),
  );
  expect(screen.getByRole('button', { name: `${t.unblock} Fan tilda` })).toBeTruthy();
});

test('a fan is unblocked once the service knows', async () => {
  const world = await signedIn();
  let isBusy = true;
  world.fake
    .on('GET /api/user/blocks', () => ({ body: blocks('tilda') }))
    .on('DELETE /api/user/block', () =>
      isBusy ? problem(503, 'unavailable') : { body: { blocked: false } },
    );
  world.show(BlocksPage, {});
  const unblock = await screen.findByRole('button', { name: `${t.unblock} Fan tilda` });
  await userEvent.click(unblock);
  await waitFor(() => expect(world.announcer.assertive).toBe(world.texts.t.failure.unavailable));
  expect(unblock.isConnected).toBe(true);
  isBusy = false;
  await userEvent.click(unblock);
  expect(await screen.findByRole('heading', { name: t.blocksEmpty })).toBeTruthy();
  expect(world.announcer.polite).toBe(t.unblocked('Fan tilda'));
});

test('suggestions ask guests to sign in', async () => {
  await asksGuests(FansPage, {});
});

test('lists of followers ask guests to sign in', async () => {
  await asksGuests(FollowListPage, listProps);
});

test('blocked fans ask guests to sign in', async () => {
  await asksGuests(BlocksPage, {});
});
