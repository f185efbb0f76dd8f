import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { problem } from '$lib/api/testing';
import type { AlbumEntry, Purchase, UserPack } from '$lib/api/types';
import { enPages } from '$lib/i18n/en-pages';
import { enPlay } from '$lib/i18n/en-play';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World, ada } from '../../../tests/world';
import AlbumPage from './AlbumPage.svelte';
import CopyPage from './CopyPage.svelte';
import OwnPacksPage from './OwnPacksPage.svelte';
import PurchasePage from './PurchasePage.svelte';
import { aCopy, aPurchase, anEntry, anOpening } from './testing';

const { packs: t, purchase: p, album: a } = enPlay;

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  world.session.replace({ ...ada, balances: { coins: 25, points: 0 } });
  return world;
}

// Where a page came without encryption, no draw is computed again.
beforeEach(() => void vi.stubGlobal('isSecureContext', false));

afterEach(() => history.replaceState(null, '', '/'));

/* --- own packs ----------------------------------------------------------------- */

function ownPacks(world: World, copies: UserPack[], purchases: Purchase[] = []): void {
  world.fake
    .on('GET /api/user/packs', () => ({ body: { packs: copies, nextCursor: null } }))
    .on('GET /api/user/purchases', () => ({ body: { purchases, nextCursor: null } }));
}

test('own packs load, fail, and are read again', async () => {
  const world = await signedIn();
  ownPacks(world, []);
  const body = { packs: [aCopy()], nextCursor: null };
  await readsAgain(world, 'GET /api/user/packs', body, t.mineFailed, () => world.show(OwnPacksPage, {}));
  const open = screen.getByRole('link', { name: t.open, description: 'Away days' });
  expect(open.getAttribute('href')).toBe('/packs/pack-1/copies/copy-1');
});

test('own packs are those to pay, to open and opened; one that was taken back leads nowhere', async () => {
  const world = await signedIn();
  const copies = [
    aCopy(),
    aCopy({ id: 'copy-2', status: 'opened', openedAt: '2026-11-23T12:00:00.000Z' }),
    aCopy({ id: 'copy-3', status: 'revoked' }),
  ];
  ownPacks(world, copies, [aPurchase(), aPurchase({ id: 'purchase-2', status: 'completed' })]);
  world.show(OwnPacksPage, {});
  await screen.findByRole('heading', { name: new RegExp(`^${t.sealed} 1`) });
  expect(screen.getByRole('heading', { name: new RegExp(`^${t.opened} 2`) })).toBeTruthy();
  expect(screen.getByRole('heading', { name: t.pending })).toBeTruthy();
  const ways = screen.getAllByRole('link', { description: 'Away days' });
  expect(ways.map((way) => way.getAttribute('href'))).toEqual([
    '/purchases/purchase-1',
    '/packs/pack-1/copies/copy-1',
    '/packs/pack-1/copies/copy-2',
  ]);
  expect(screen.getByText(t.revoked)).toBeTruthy();
});

test('a fan without packs is led to those on sale', async () => {
  const world = await signedIn();
  ownPacks(world, []);
  world.show(OwnPacksPage, {});
  await screen.findByRole('heading', { name: t.mineEmptyTitle });
  expect(screen.getByRole('link', { name: t.get }).getAttribute('href')).toBe('/packs');
});

/* --- a copy -------------------------------------------------------------------- */

const copyProps = { params: { id: 'pack-1', copyId: 'copy-1' } };

test('a copy loads, fails, and is read again', async () => {
  const world = await signedIn();
  const body = { packs: [aCopy()], nextCursor: null };
  await readsAgain(world, 'GET /api/user/packs', body, t.copyFailed, () => world.show(CopyPage, copyProps));
  expect(screen.getByText('f00d')).toBeTruthy();
  expect(screen.getByRole('button', { name: t.openIt })).toBeTruthy();
});

test('an opening that is refused says so; the next one shows and announces the cards', async () => {
  const world = await signedIn();
  const seeds: unknown[] = [];
  let isBusy = true;
  world.fake
    .on('GET /api/user/packs', () => ({ body: { packs: [aCopy()], nextCursor: null } }))
    .on('POST /api/packs/pack-1/open', () => {
      seeds.push(world.fake.requests.at(-1)?.body);
      return isBusy ? problem(503, 'unavailable') : { body: anOpening('common', 'epic') };
    });
  world.show(CopyPage, copyProps);
  await userEvent.click(await screen.findByRole('button', { name: t.openIt }));
  expect((await screen.findByRole('alert')).textContent).toContain(t.maybeOpened);
  isBusy = false;
  await userEvent.click(screen.getByRole('button', { name: t.openIt }));
  expect(await screen.findByRole('heading', { name: t.rarity.epic, level: 1 })).toBeTruthy();
  expect(screen.getAllByRole('listitem').map((row) => row.querySelector('.name')?.textContent)).toEqual([
    'Card 0',
    'Card 1',
  ]);
  expect(world.announcer.polite).toBe(t.announce('Card 0 and Card 1'));
  expect(seeds[1]).toEqual(seeds[0]);
});

test('an opened copy shows its cards again, and one that was taken back can’t be opened', async () => {
  const world = await signedIn();
  let copy = aCopy({ status: 'revoked' });
  world.fake
    .on('GET /api/user/packs', () => ({ body: { packs: [copy], nextCursor: null } }))
    .on('POST /api/packs/pack-1/open', () => ({ body: anOpening('rare') }));
  world.show(CopyPage, copyProps);
  expect(await screen.findByText(t.revoked)).toBeTruthy();
  expect(screen.queryByRole('button', { name: t.openIt })).toBeNull();
  copy = aCopy({ status: 'opened' });
  world.show(CopyPage, copyProps);
  expect(await screen.findByRole('heading', { name: t.rarity.rare, level: 1 })).toBeTruthy();
});

/* --- a purchase ---------------------------------------------------------------- */

const purchaseProps = { params: { id: 'purchase-1' } };

async function openPurchase(purchase: Purchase): Promise<World> {
  const world = await signedIn();
  world.fake.on('GET /api/user/purchases/purchase-1', () => ({ body: { purchase } }));
  world.show(PurchasePage, purchaseProps);
  await screen.findByRole('heading', { name: p[purchase.status] });
  return world;
}

/** Gives the purchase up, and says so in the dialog. */
async function giveUp(): Promise<void> {
  const [button] = screen.getAllByRole('button', { name: p.giveUp });
  if (button) await userEvent.click(button);
  const dialog = await screen.findByRole('dialog', { name: p.giveUpTitle });
  await userEvent.click(within(dialog).getByRole('button', { name: p.giveUp }));
}

test('a purchase loads, fails, and is read again', async () => {
  const world = await signedIn();
  const path = 'GET /api/user/purchases/purchase-1';
  await readsAgain(world, path, { purchase: aPurchase() }, p.failedTitle, () =>
    world.show(PurchasePage, purchaseProps),
  );
  expect(screen.getByRole('link', { name: p.pay }).getAttribute('href')).toBe('https://pay.test/1');
});

test('a payment that is not confirmed yet is said so', async () => {
  const world = await openPurchase(aPurchase());
  world.fake.on('PUT /api/packs/pack-1/purchase', () => problem(409, 'payment_pending'));
  await userEvent.click(screen.getByRole('button', { name: p.checkAgain }));
  expect((await screen.findByRole('alert')).textContent).toContain(enPages.failure.payment_pending);
});

test('a purchase is given up after a question', async () => {
  const world = await openPurchase(aPurchase());
  world.fake.on('DELETE /api/user/purchases/purchase-1', () => ({
    body: { purchase: aPurchase({ status: 'cancelled', checkoutUrl: null }) },
  }));
  await giveUp();
  expect(await screen.findByRole('heading', { name: p.cancelled })).toBeTruthy();
  expect(screen.getByRole('link', { name: p.again }).getAttribute('href')).toBe('/packs/pack-1');
  expect(world.announcer.polite).toBe(p.givenUp);
});

test('a purchase that is paid meanwhile can’t be given up, and says why', async () => {
  const world = await openPurchase(aPurchase());
  world.fake.on('DELETE /api/user/purchases/purchase-1', () => problem(409, 'already_paid'));
  await giveUp();
  expect((await screen.findByRole('alert')).textContent).toContain(enPages.failure.already_paid);
});

test('a completed purchase leads to the packs to open, and reads the balances again', async () => {
  const world = await openPurchase(aPurchase({ status: 'completed', checkoutUrl: null }));
  expect(screen.getByRole('link', { name: t.openIt }).getAttribute('href')).toBe('/my-packs');
  await waitFor(() => expect(world.session.fan?.balances.coins).toBe(0));
});

/* --- the album ----------------------------------------------------------------- */

const album = (...entries: AlbumEntry[]): object => ({ collectibles: entries, nextCursor: null });
const cards = [anEntry('a', 'common', 2), anEntry('b', 'common', 0), anEntry('c', 'legendary', 1)];

test('the album loads, fails, and is read again', async () => {
  const world = await signedIn();
  await readsAgain(world, 'GET /api/collectibles', album(...cards), a.failedTitle, () =>
    world.show(AlbumPage, {}),
  );
  const progress = screen.getByRole('progressbar', { name: a.of('3') });
  expect(progress.getAttribute('aria-valuenow')).toBe('2');
  expect(screen.getByText(a.missing('1'))).toBeTruthy();
  expect(screen.getByText(a.copies('2'))).toBeTruthy();
  expect(screen.getByRole('img', { name: a.unknown('Common', '2') })).toBeTruthy();
});

test('the album can be narrowed to a rarity', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/collectibles', () => ({ body: album(...cards) }));
  world.show(AlbumPage, {});
  await screen.findAllByText('Card a');
  await userEvent.click(screen.getByRole('link', { name: t.rarity.legendary }));
  await waitFor(() => expect(screen.queryAllByText('Card a')).toEqual([]));
  expect(screen.getAllByText('Card c')).not.toEqual([]);
  expect(world.router.query.get('rarity')).toBe('legendary');
});

test('an album without cards leads to the packs', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/collectibles', () => ({ body: album() }));
  world.show(AlbumPage, {});
  expect(await screen.findByRole('heading', { name: a.emptyTitle })).toBeTruthy();
});

test('what belongs to an account asks guests to sign in', async () => {
  await asksGuests(OwnPacksPage, {});
});

test('a copy asks guests to sign in', async () => {
  await asksGuests(CopyPage, copyProps);
});

test('a purchase asks guests to sign in', async () => {
  await asksGuests(PurchasePage, purchaseProps);
});

test('the album asks guests to sign in', async () => {
  await asksGuests(AlbumPage, {});
});
