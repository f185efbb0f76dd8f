import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { TokenWallet, WalletBalances, WalletPage } from '$lib/api/types';
import { enOwn } from '$lib/i18n/en-own';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World } from '../../../tests/world';
import { placesOf } from './own-wallets.svelte';
import WalletsPage from './WalletsPage.svelte';

const { wallets: t } = enOwn;
const AT = '2026-11-22T12:00:00.000Z';
const ADDRESS = 'sandbox:0x52908400098527886e0f7030069857d2e4169ee7';

const aWallet = (more: Partial<TokenWallet> = {}): TokenWallet => ({
  id: 'wallet-1',
  network: 'polygon',
  address: ADDRESS,
  custody: 'provider',
  status: 'ready',
  ...more,
});
const requested = aWallet({ address: null, custody: null, status: 'requested' });

const aPage = (wallets: TokenWallet[], networks = ['polygon']): WalletPage => ({
  accounts: [],
  entries: [],
  nextCursor: null,
  wallets,
  networks,
});

const held = (amount: string, stale = false): WalletBalances => ({
  wallet: aWallet(),
  balances: [{ token: { key: 'usdc', symbol: 'USDC', decimals: 20 }, amount, asOf: AT }],
  stale,
});

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  return world;
}

test('networks are those with a wallet and those where one can be requested', () => {
  const old = aWallet({ network: 'old' });
  expect(placesOf(aPage([old], ['polygon']))).toEqual([
    { network: 'old', wallet: old, isOpen: false },
    { network: 'polygon', wallet: null, isOpen: true },
  ]);
});

test('the wallets load, fail, and are read again', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/wallets/wallet-1', () => ({ body: held('12.5') }));
  await readsAgain(world, 'GET /api/wallets', aPage([aWallet()]), t.failedTitle, () =>
    world.show(WalletsPage, {}),
  );
  expect(screen.getByText(ADDRESS)).toBeTruthy();
  expect(screen.getByText(t.custody.provider)).toBeTruthy();
  const symbol = await screen.findByText('USDC');
  expect(symbol.parentElement?.textContent).toContain('12.5');
  expect(screen.getByText(t.asOf(world.texts.moment(new Date(AT))))).toBeTruthy();
  expect(screen.queryByRole('button', { name: t.getOn('polygon') })).toBeNull();
});

test('amounts have all their places, and old ones say since when', async () => {
  const world = await signedIn();
  world.fake
    .on('GET /api/wallets', () => ({ body: aPage([aWallet()]) }))
    .on('GET /api/wallets/wallet-1', () => ({ body: held('123456789.12345678901234567891', true) }));
  world.show(WalletsPage, {});
  const symbol = await screen.findByText('USDC');
  expect(symbol.parentElement?.textContent).toContain('123,456,789.12345678901234567891');
  expect(screen.getByText(t.stale(world.texts.moment(new Date(AT))))).toBeTruthy();
});

test('what a wallet holds can fail by itself', async () => {
  const world = await signedIn();
  world.fake
    .on('GET /api/wallets', () => ({ body: aPage([aWallet()]) }))
    .on('GET /api/wallets/wallet-1', () => problem(503, 'unavailable'));
  world.show(WalletsPage, {});
  await screen.findByRole('heading', { name: t.holdsFailed });
  expect(screen.getByText(ADDRESS)).toBeTruthy();
  world.fake.on('GET /api/wallets/wallet-1', () => ({ body: { ...held('0'), balances: [] } }));
  await userEvent.click(screen.getByRole('button', { name: world.texts.t.state.retry }));
  expect(await screen.findByText(t.holdsNothing)).toBeTruthy();
});

test('without networks the page leads to the album', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/wallets', () => ({ body: aPage([], []) }));
  world.show(WalletsPage, {});
  await screen.findByRole('heading', { name: t.emptyTitle });
  expect(screen.getByRole('link', { name: 'Album' }).getAttribute('href')).toBe('/album');
});

test('a wallet is requested once at a time, and an event shows that it is ready', async () => {
  const world = await signedIn();
  let page = aPage([]);
  const answer = new Deferred<{ status: number; body: object }>();
  world.fake
    .on('GET /api/wallets', () => ({ body: page }))
    .on('GET /api/wallets/wallet-1', () => ({ body: held('1') }))
    .on('POST /api/wallets', () => answer.promise);
  world.show(WalletsPage, {});
  await userEvent.click(await screen.findByRole('button', { name: t.getOn('polygon') }));
  const waiting = await screen.findByRole('button', { name: t.getting });
  expect(waiting.getAttribute('aria-disabled')).toBe('true');
  await userEvent.click(waiting);
  page = aPage([requested]);
  answer.resolve({ status: 201, body: { wallet: requested } });
  expect(await screen.findByText(t.requested)).toBeTruthy();
  const sent = world.fake.requests.filter(({ name }) => name === 'POST /api/wallets');
  expect(sent.map(({ body }) => body)).toEqual([{ network: 'polygon' }]);
  await waitFor(() => expect(world.announcer.polite).toBe(t.asked));

  page = aPage([aWallet()]);
  world.own.publish({
    name: 'wallet.changed',
    data: { channels: ['me'], walletId: 'wallet-1', network: 'polygon', status: 'ready', changedAt: AT },
  });
  expect(await screen.findByText(ADDRESS)).toBeTruthy();
  expect(world.announcer.polite).toBe(t.isReady('polygon'));
});

test('a wallet that failed is requested again, and a refusal says why', async () => {
  const world = await signedIn();
  world.fake
    .on('GET /api/wallets', () => ({ body: aPage([aWallet({ address: null, status: 'failed' })]) }))
    .on('POST /api/wallets', () => problem(503, 'wallet_unavailable'));
  world.show(WalletsPage, {});
  await screen.findByText(t.failed);
  await userEvent.click(screen.getByRole('button', { name: t.againOn('polygon') }));
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toBe(world.texts.pages.failure.wallet_unavailable);
  // It can be asked again.
  expect(screen.getByRole('button', { name: t.againOn('polygon') })).toBeTruthy();
});

test('the address is copied, and where the browser forbids it that is said', async () => {
  const world = await signedIn();
  world.fake
    .on('GET /api/wallets', () => ({ body: aPage([aWallet()]) }))
    .on('GET /api/wallets/wallet-1', () => ({ body: held('1') }));
  const user = userEvent.setup();
  const write = vi.spyOn(navigator.clipboard, 'writeText');
  world.show(WalletsPage, {});
  const copy = await screen.findByRole('button', { name: t.copyAddress('polygon') });
  await user.click(copy);
  await waitFor(() => expect(world.announcer.polite).toBe(enOwn.copied));
  expect(write).toHaveBeenCalledWith(ADDRESS);
  write.mockRejectedValue(new DOMException('no', 'NotAllowedError'));
  await user.click(copy);
  await waitFor(() => expect(world.announcer.assertive).toBe(enOwn.notCopied));
  expect(within(document.body).getByText(ADDRESS)).toBeTruthy();
});

test('the wallets ask guests to sign in', async () => {
  await asksGuests(WalletsPage, {});
});
