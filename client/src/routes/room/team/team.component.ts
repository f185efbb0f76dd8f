import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { Team } from '$lib/api/types';
import { enFans } from '$lib/i18n/en-fans';
import { readsAgain } from '../../../../tests/states';
import { World, ada } from '../../../../tests/world';
import TeamPage from './TeamPage.svelte';

const { people, teamPage: t } = enFans;
const ajax: Team = {
  id: 'ajax',
  key: 'ajax',
  name: 'Ajax Amsterdam',
  shortName: 'Ajax',
  leagueId: 'l1',
  colors: ['#d2122e', '#ffffff'],
  crestUrl: null,
  followerCount: 9,
};
const props = { params: { id: 'ajax' } };

/** What the page of a club reads beside the club: no one has posted or scored, and the reader follows no club. */
function besideTeam(world: World): World {
  world.fake
    .on('GET /api/user/following', () => ({ body: { following: [], teams: [], total: 0, nextCursor: null } }))
    .on('GET /api/locker-room', () => ({ body: { posts: [], nextCursor: null, streamPosition: 1 } }))
    .on('GET /api/leaderboard', () => ({
      body: { leaderboard: { id: 'b1', kind: 'team', teamId: 'ajax', name: 'Ajax' }, entries: [], me: null },
    }));
  return world;
}

async function openTeam(): Promise<World> {
  const world = besideTeam(new World());
  await world.signIn();
  world.fake.on('GET /api/teams/ajax', () => ({ body: { team: ajax } }));
  world.show(TeamPage, props);
  await screen.findByRole('heading', { name: ajax.name, level: 1 });
  return world;
}

const followButton = (pressed: boolean): Promise<HTMLElement> =>
  screen.findByRole('button', {
    name: `${pressed ? people.following : people.follow} ${ajax.name}`,
    pressed,
  });

test('a club loads, fails, and is read again; without posts and points it says so', async () => {
  const world = besideTeam(new World());
  await world.signIn();
  await readsAgain(world, 'GET /api/teams/ajax', { team: ajax }, t.failed, () => world.show(TeamPage, props));
  expect(screen.getByText('9')).toBeTruthy();
  expect(await screen.findByText(t.boardEmpty)).toBeTruthy();
  expect(await screen.findByRole('heading', { name: t.empty })).toBeTruthy();
  expect(screen.getByRole('link', { name: t.wholeBoard }).getAttribute('href')).toBe('/table?board=b1');
  const { query } = world.fake.requests.find(({ name }) => name === 'GET /api/locker-room') ?? {};
  expect([query?.get('scope'), query?.get('teamId')]).toEqual(['team', 'ajax']);
});

test('a follow counts at once, and is taken back where the service refuses it', async () => {
  const world = await openTeam();
  const answer = new Deferred<ReturnType<typeof problem>>();
  world.fake.on('POST /api/user/follow', () => answer.promise);
  await userEvent.click(await followButton(false));
  await followButton(true);
  expect(screen.getByText('10')).toBeTruthy();
  answer.resolve(problem(429, 'rate_limited'));
  await followButton(false);
  expect(screen.getByText('9')).toBeTruthy();
  expect(world.fake.requests.at(-1)?.body).toEqual({ teamId: 'ajax' });
});

test('a club that the reader follows already is counted as it was read', async () => {
  const world = besideTeam(new World());
  await world.signIn();
  world.fake
    .on('GET /api/teams/ajax', () => ({ body: { team: ajax } }))
    .on('GET /api/user/following', () => ({
      body: { following: [], teams: [{ team: ajax, since: ada.createdAt }], total: 0, nextCursor: null },
    }))
    .on('DELETE /api/user/follow', () => ({ body: { following: false, followerCount: 8 } }));
  world.show(TeamPage, props);
  await userEvent.click(await followButton(true));
  await followButton(false);
  expect(screen.getByText('8')).toBeTruthy();
});

test('the own club is named so, and another one can be chosen', async () => {
  const world = await openTeam();
  expect(screen.getByRole('link', { name: t.choose }).getAttribute('href')).toBe('/choose-team');
  world.session.replace({ ...ada, favoriteTeam: ajax });
  expect(await screen.findByText(t.yours)).toBeTruthy();
  expect(screen.queryByRole('link', { name: t.choose })).toBeNull();
});

test('a club that does not exist is said to be gone', async () => {
  const world = besideTeam(new World());
  await world.signIn();
  world.fake.on('GET /api/teams/ajax', () => problem(404, 'not_found'));
  world.show(TeamPage, props);
  expect((await screen.findByRole('alert')).textContent).toContain(world.texts.t.failure.not_found);
});
