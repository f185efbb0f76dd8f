import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { Claim } from '$lib/api/types';
import { enOwn } from '$lib/i18n/en-own';
import type { LiveEvent } from '$lib/live/events';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World } from '../../../tests/world';
import ClaimPage from './ClaimPage.svelte';
import OwnRewardsPage from './OwnRewardsPage.svelte';
import { aClaim } from './testing';

const { claims: t } = enOwn;
const LIST = 'GET /api/user/rewards';
const ONE = 'GET /api/user/rewards/claim-1';
const USE = 'POST /api/user/rewards/claim-1/use';
const CODE = '7K2M-9QTX-04HD-PZ3V';
const AT = '2026-11-23T12:01:00.000Z';
const props = { params: { id: 'claim-1' } };
const kept = { 'terrace-read-at': '2026-11-22T08:00:00.000Z' };

afterEach(() => history.replaceState(null, '', '/'));

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  return world;
}

const page = (claims: Claim[], nextCursor: string | null = null): object => ({ claims, nextCursor });

const changed = (status: Claim['status']): LiveEvent => ({
  name: 'claim.changed',
  data: { channels: ['me'], claimId: 'claim-1', status, changedAt: AT },
});

/* --- all claims ------------------------------------------------------------------ */

test('the own rewards load, fail, and are read again, without their codes', async () => {
  const world = await signedIn();
  const used = aClaim({ id: 'claim-2', reward: null, status: 'used', usedAt: AT });
  await readsAgain(world, LIST, page([aClaim(), used]), t.failedTitle, () => world.show(OwnRewardsPage, {}));
  const toUse = screen.getByRole('heading', { name: `${t.toUse} 1` }).closest('section');
  const link = within(toUse ?? document.body).getByRole('link', { name: /Ten percent off/ });
  expect(link.getAttribute('href')).toBe('/my-rewards/claim-1');
  const others = screen.getByRole('heading', { name: `${t.others} 1` }).closest('section');
  expect(others?.textContent).toContain(t.unknown);
  expect(document.body.textContent).not.toContain(CODE);
});

test('a fan without claims is led to the rewards', async () => {
  const world = await signedIn();
  world.fake.on(LIST, () => ({ body: page([]) }));
  world.show(OwnRewardsPage, {});
  await screen.findByRole('heading', { name: t.emptyTitle });
  expect(screen.getByRole('link', { name: t.emptyAction }).getAttribute('href')).toBe('/rewards');
});

test('own rewards that were kept show their age', async () => {
  const world = await signedIn();
  world.fake.on(LIST, () => ({ body: page([aClaim()]), headers: kept }));
  world.show(OwnRewardsPage, {});
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain(world.texts.moment(new Date(kept['terrace-read-at'])));
  expect(screen.getByRole('link', { name: /Ten percent off/ })).toBeTruthy();
});

test('a claim that is used elsewhere moves in the list, below which older ones follow', async () => {
  const world = await signedIn();
  let claim = aClaim();
  const older = aClaim({ id: 'claim-0', reward: { name: 'A drink', imageUrl: null }, status: 'expired' });
  world.fake.on(LIST, ({ url }) => ({
    body: new URL(url).searchParams.has('cursor') ? page([older]) : page([claim], 'next'),
  }));
  world.show(OwnRewardsPage, {});
  await userEvent.click(await screen.findByRole('button', { name: t.more }));
  await screen.findByRole('link', { name: /A drink/ });
  claim = aClaim({ status: 'used', usedAt: AT });
  world.own.publish(changed('used'));
  await screen.findByRole('heading', { name: `${t.others} 2` });
  expect(screen.queryByRole('heading', { name: `${t.toUse} 1` })).toBeNull();
});

test('the own rewards ask guests to sign in', async () => {
  await asksGuests(OwnRewardsPage, {});
});

/* --- one claim ------------------------------------------------------------------- */

async function open(claim: Claim): Promise<World> {
  const world = await signedIn();
  world.fake.on(ONE, () => ({ body: { claim } }));
  world.show(ClaimPage, props);
  await screen.findByRole('heading', { name: claim.reward?.name ?? t.unknown, level: 1 });
  return world;
}

test('a claim loads, fails, and is read again', async () => {
  const world = await signedIn();
  await readsAgain(world, ONE, { claim: aClaim() }, t.claimFailed, () => world.show(ClaimPage, props));
  expect(screen.getByRole('heading', { name: t.status.issued })).toBeTruthy();
  expect(screen.getByText(t.cost('40 coins'))).toBeTruthy();
});

test('a claim asks guests to sign in', async () => {
  await asksGuests(ClaimPage, props);
});

test('without a connection the code is there, with its age', async () => {
  const world = await signedIn();
  world.fake.on(ONE, () => ({ body: { claim: aClaim() }, headers: kept }));
  world.show(ClaimPage, props);
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain(world.texts.moment(new Date(kept['terrace-read-at'])));
  await userEvent.click(screen.getByRole('button', { name: t.showCode }));
  expect(screen.getByText(CODE)).toBeTruthy();
});

test('the code is shown when it is wanted, copied, and hidden again', async () => {
  const user = userEvent.setup();
  const world = await open(aClaim());
  expect(screen.queryByText(CODE)).toBeNull();
  await user.click(screen.getByRole('button', { name: t.showCode }));
  expect(screen.getByText(CODE)).toBeTruthy();
  await user.click(screen.getByRole('button', { name: t.copyCode }));
  await waitFor(() => expect(world.announcer.polite).toBe(enOwn.copied));
  expect(await navigator.clipboard.readText()).toBe(CODE);
  const hide = screen.getByRole('button', { name: t.hideCode });
  expect(hide.getAttribute('aria-expanded')).toBe('true');
  await user.click(hide);
  expect(screen.queryByText(CODE)).toBeNull();
});

/** Says that it is used, and confirms that in the dialog. */
async function use(): Promise<HTMLElement> {
  await userEvent.click(screen.getByRole('button', { name: t.use }));
  const dialog = await screen.findByRole('dialog', { name: t.useTitle });
  await userEvent.click(within(dialog).getByRole('button', { name: t.useNow }));
  return dialog;
}

test('a claim is used after a question, once', async () => {
  const world = await open(aClaim());
  const answer = new Deferred<{ body: object }>();
  world.fake.on(USE, () => answer.promise);
  const dialog = await use();
  await userEvent.click(within(dialog).getByRole('button', { name: t.useNow }));
  answer.resolve({ body: { claim: aClaim({ status: 'used', usedAt: AT }) } });
  expect(await screen.findByRole('heading', { name: t.status.used })).toBeTruthy();
  expect(world.fake.requests.filter(({ name }) => name === USE)).toHaveLength(1);
  expect(world.announcer.polite).toBe(t.news.used);
  expect(screen.queryByRole('button', { name: t.showCode })).toBeNull();
  expect(screen.queryByRole('button', { name: t.use })).toBeNull();
});

test.each([
  ['claim_used', 'used'],
  ['claim_expired', 'expired'],
  ['claim_revoked', 'revoked'],
] as const)('a use that is refused with %s says why, and shows what it is now', async (code, status) => {
  const world = await open(aClaim());
  world.fake.on(USE, () => problem(409, code));
  world.fake.on(ONE, () => ({ body: { claim: aClaim({ status }) } }));
  await use();
  expect((await screen.findByRole('alert')).textContent).toBe(enOwn.failure[code]);
  expect(screen.getByRole('heading', { name: t.status[status] })).toBeTruthy();
});

test.each(['used', 'revoked', 'expired'] as const)(
  'a claim that is %s elsewhere is said so',
  async (status) => {
    const world = await open(aClaim());
    world.fake.on(ONE, () => ({
      body: {
        claim: aClaim({ status, returned: status === 'revoked', usedAt: status === 'used' ? AT : null }),
      },
    }));
    world.own.publish(changed(status));
    expect(await screen.findByRole('heading', { name: t.status[status] })).toBeTruthy();
    expect(world.announcer.polite).toBe(t.news[status]);
    if (status === 'revoked') expect(screen.getByText(t.returned('40 coins'))).toBeTruthy();
  },
);

test('a claim of goods says what they were, and has no code', async () => {
  await open(
    aClaim({ status: 'used', code: null, cost: null, goods: [{ kind: 'coins', amount: 25, id: null }] }),
  );
  expect(screen.getByRole('heading', { name: t.status.given })).toBeTruthy();
  expect(screen.getByText(t.got('25 coins'))).toBeTruthy();
  expect(screen.getByRole('link', { name: t.see }).getAttribute('href')).toBe('/balances');
  expect(screen.queryByRole('button', { name: t.showCode })).toBeNull();
});
