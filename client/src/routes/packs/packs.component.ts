import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { Pack } from '$lib/api/types';
import { enPages } from '$lib/i18n/en-pages';
import { enPlay } from '$lib/i18n/en-play';
import { readsAgain } from '../../../tests/states';
import { World, ada } from '../../../tests/world';
import PackPage from './PackPage.svelte';
import PacksPage from './PacksPage.svelte';
import { aPack, aPurchase } from './testing';

const { packs: t } = enPlay;
const rich = { ...ada, balances: { coins: 25, points: 0 } };

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  world.session.replace(rich);
  return world;
}

afterEach(() => history.replaceState(null, '', '/'));

/* --- packs on sale ------------------------------------------------------------- */

const onSale = (...packs: Pack[]): { packs: Pack[]; nextCursor: null } => ({ packs, nextCursor: null });

test('the packs load, fail, and are read again', async () => {
  const world = await signedIn();
  await readsAgain(world, 'GET /api/packs', onSale(aPack()), t.failedTitle, () => world.show(PacksPage, {}));
  const row = screen.getByRole('listitem');
  expect(within(row).getByRole('link').getAttribute('href')).toBe('/packs/pack-1');
  expect(row.textContent).toContain('10 coins');
});

test('a pack on sale says what is left of it, and that none is', async () => {
  const world = await signedIn();
  const few = aPack({ id: 'few', name: 'Few', remaining: 3 });
  const none = aPack({ id: 'none', name: 'None', remaining: 0, available: false });
  world.fake.on('GET /api/packs', () => ({ body: onSale(few, none) }));
  world.show(PacksPage, {});
  expect((await screen.findByRole('link', { name: /Few/ })).textContent).toContain(t.remaining('3'));
  expect(screen.getByRole('link', { name: /None/ }).textContent).toContain(t.soldOut);
});

test('without packs on sale the quests are offered', async () => {
  const world = await signedIn();
  world.fake.on('GET /api/packs', () => ({ body: onSale() }));
  world.show(PacksPage, {});
  const empty = await screen.findByRole('heading', { name: t.emptyTitle });
  const action = within(empty.parentElement ?? empty).getByRole('link', { name: enPages.play.quests });
  expect(action.getAttribute('href')).toBe('/quests');
});

/* --- one pack ------------------------------------------------------------------ */

async function openPack(pack: Pack): Promise<World> {
  const world = await signedIn();
  world.fake.on('GET /api/packs/pack-1', () => ({ body: { pack } }));
  world.show(PackPage, { params: { id: 'pack-1' } });
  await screen.findByRole('heading', { name: pack.name, level: 1 });
  return world;
}

const buyButton = (): HTMLElement => screen.getByRole('button', { name: new RegExp(`^${t.buy}`) });

test('a pack loads, fails, and is read again with its odds', async () => {
  const world = await signedIn();
  await readsAgain(world, 'GET /api/packs/pack-1', { pack: aPack() }, t.packFailed, () =>
    world.show(PackPage, { params: { id: 'pack-1' } }),
  );
  const odds = screen.getByRole('table', { name: t.odds });
  const row = within(odds).getByRole('row', { name: /Common/ });
  expect(
    within(row)
      .getAllByRole('cell')
      .map((cell) => cell.textContent.trim()),
  ).toEqual(['75%', '98%']);
});

test('a pack is bought once, however often it is tapped meanwhile', async () => {
  const world = await openPack(aPack());
  expect(screen.getByText(t.after('15 coins'))).toBeTruthy();
  const answer = new Deferred<{ status: number; body: unknown }>();
  const keys: (string | null)[] = [];
  world.fake.on('POST /api/packs/pack-1/purchase', ({ headers }) => {
    keys.push(headers.get('idempotency-key'));
    return answer.promise;
  });
  world.fake.on('GET /api/user', () => ({ body: { ...rich, balances: { coins: 15, points: 0 } } }));
  await userEvent.click(buyButton());
  const running = await screen.findByRole('button', { name: new RegExp(t.buying) });
  expect(running.getAttribute('aria-disabled')).toBe('true');
  await userEvent.click(running);
  answer.resolve({ status: 201, body: { purchase: aPurchase({ status: 'completed', checkoutUrl: null }) } });
  await waitFor(() => expect(world.router.path).toBe('/my-packs'));
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  expect(world.announcer.polite).toBe(t.bought);
  expect(world.session.fan?.balances.coins).toBe(15);
});

test('a refused purchase says why, and can be tried again', async () => {
  const world = await openPack(aPack());
  world.fake.on('POST /api/packs/pack-1/purchase', () => problem(409, 'limit_reached'));
  await userEvent.click(buyButton());
  expect((await screen.findByRole('alert')).textContent).toContain(enPages.failure.limit_reached);
  expect(buyButton().getAttribute('aria-disabled')).toBe('false');
  expect(screen.queryByText(t.maybeBought)).toBeNull();
});

test('a purchase whose answer is lost says that it may be made', async () => {
  const world = await openPack(aPack());
  world.fake.on('POST /api/packs/pack-1/purchase', () => ({ status: 0 }));
  await userEvent.click(buyButton());
  expect(await screen.findByText(t.maybeBought)).toBeTruthy();
});

test.each([
  [
    'costs more than the fan has',
    aPack({ price: { kind: 'coins', amount: 30, currency: null } }),
    t.short('5 coins'),
  ],
  ['is sold out', aPack({ available: false }), t.soldOut],
  ['was bought as often as allowed', aPack({ perUserLimit: 2, bought: 2 }), t.atLimit],
])('a pack that %s is not offered, with the reason', async (_, pack, reason) => {
  await openPack(pack);
  expect(buyButton().hasAttribute('disabled')).toBe(true);
  expect(screen.getByText(reason, { exact: false })).toBeTruthy();
});

test('a guest is asked to sign in before buying', async () => {
  const world = await World.ofGuest();
  world.fake.on('GET /api/packs/pack-1', () => ({ body: { pack: aPack({ owned: null, bought: null }) } }));
  world.show(PackPage, { params: { id: 'pack-1' } });
  expect((await screen.findByRole('link', { name: t.signIn })).getAttribute('href')).toMatch(/^\/sign-in/);
});
