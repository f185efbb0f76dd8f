import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { SpinResult, Wheel } from '$lib/api/types';
import { enPages } from '$lib/i18n/en-pages';
import { enWheels as t } from '$lib/i18n/en-wheels';
import type { OwnEvent } from '$lib/live/own';
import { Persisted } from '$lib/persisted.svelte';
import { currentScene } from '$lib/rewards/scene';
import { readsAgain } from '../../../tests/states';
import { World, ada } from '../../../tests/world';
import { Promises } from './promises';
import { NEXT_FREE, aResult, aWheel, anEntry } from './testing';
import WheelPage from './WheelPage.svelte';
import WheelsPage from './WheelsPage.svelte';

const LIST = 'GET /api/wheel';
const ONE = 'GET /api/wheel/wheel-1';
const SPIN = 'POST /api/wheel/wheel-1/spin';
const props = { params: { id: 'wheel-1' } };
const kept = { 'terrace-read-at': '2026-11-22T08:00:00.000Z' };
const price = { kind: 'coins', amount: 20 } as const;
const spunEvent: OwnEvent = {
  name: 'spin.completed',
  data: { channels: ['me'], spinId: 's', wheelId: 'wheel-1', segment: 'blank', completedAt: NEXT_FREE },
};
const taken = (wheel = aWheel()): Wheel => ({
  ...wheel,
  me: wheel.me && { ...wheel.me, freeSpin: false, nextFreeSpinAt: NEXT_FREE, nonce: 2 },
});

beforeEach(() => void vi.stubGlobal('isSecureContext', true));
afterEach(() => history.replaceState(null, '', '/'));

async function signedIn(coins = 100): Promise<World> {
  const world = new World();
  await world.signIn();
  world.session.replace({ ...ada, balances: { coins, points: 0 } });
  return world;
}

const page = (wheels: Wheel[]): object => ({ wheels, nextCursor: null });

/* --- all wheels ------------------------------------------------------------------ */

test('the wheels load, fail, and are read again', async () => {
  const world = await signedIn();
  const derby = aWheel({ id: 'wheel-2', name: 'Derby wheel', price, freeSpins: 'none' });
  const body = page([aWheel(), { ...derby, me: derby.me && { ...derby.me, freeSpin: false } }]);
  await readsAgain(world, LIST, body, t.failedTitle, () => world.show(WheelsPage, {}));
  const daily = screen.getByRole('link', { name: /Daily wheel/ });
  expect(daily.getAttribute('href')).toBe('/wheels/wheel-1');
  expect(daily.textContent).toContain(t.freeNow);
  const paid = screen.getByRole('link', { name: /Derby wheel/ });
  expect(paid.textContent).toContain(t.perSpin('20 coins'));
  expect(paid.textContent).not.toContain(t.freeNow);
});

test('a spin elsewhere changes the list', async () => {
  const world = await signedIn();
  world.fake.on(LIST, () => ({ body: page([aWheel()]) }));
  world.show(WheelsPage, {});
  await screen.findByText(t.freeNow);
  world.fake.on(LIST, () => ({ body: page([taken()]) }));
  world.own.publish(spunEvent);
  await waitFor(() => expect(screen.queryByText(t.freeNow)).toBeNull());
});

test('without wheels the page leads to the quests', async () => {
  const world = await signedIn();
  world.fake.on(LIST, () => ({ body: page([]) }));
  world.show(WheelsPage, {});
  const heading = await screen.findByRole('heading', { name: t.emptyTitle });
  const link = within(heading.parentElement ?? heading).getByRole('link', { name: enPages.play.quests });
  expect(link.getAttribute('href')).toBe('/quests');
});

test('wheels that were kept show their age', async () => {
  const world = await signedIn();
  world.fake.on(LIST, () => ({ body: page([aWheel()]), headers: kept }));
  world.show(WheelsPage, {});
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain(world.texts.moment(new Date(kept['terrace-read-at'])));
  expect(screen.getByRole('link', { name: /Daily wheel/ })).toBeTruthy();
});

/* --- one wheel ------------------------------------------------------------------- */

async function open(wheel = aWheel(), coins = 100): Promise<World> {
  const world = await signedIn(coins);
  world.fake.on(ONE, () => ({ body: { wheel } }));
  world.show(WheelPage, props);
  await screen.findByRole('heading', { name: wheel.name, level: 1 });
  return world;
}

const free = (): HTMLElement => screen.getByRole('button', { name: t.spinFree });

test('a wheel loads, fails, and is read again with its odds and rules', async () => {
  const world = await signedIn();
  const pity = { after: 15, segments: ['pack'] };
  const wheel = aWheel({ price, pity, dailyLimit: 20 });
  const [first, ...others] = wheel.segments;
  if (first) wheel.segments = [{ ...first, remaining: 7 }, ...others];
  await readsAgain(world, ONE, { wheel }, t.wheelFailed, () => world.show(WheelPage, props));
  expect(screen.getByRole('img', { name: t.drawing('Daily wheel', '6') })).toBeTruthy();
  const odds = screen.getByRole('table', { name: t.odds });
  const rows = within(odds).getAllByRole('row').slice(1);
  expect(rows.map((row) => within(row).getByRole('cell').textContent.trim())).toEqual([
    '40%',
    '20%',
    '25%',
    '5%',
    '2%',
    '8%',
  ]);
  expect(rows[0]?.textContent).toContain(t.leftThen('7', 'nothing'));
  expect(rows[4]?.textContent).toContain(t.guaranteed);
  for (const text of [
    t.freeRule,
    t.priceRule('20 coins', true),
    t.limitRule(20, '20'),
    t.pity('15', 'A Match day pack'),
    t.pityWithin('16'),
    wheel.me?.serverSeedHash ?? '',
  ])
    expect(screen.getByText(text)).toBeTruthy();
});

test('a guest sees the odds and is asked to sign in before spinning', async () => {
  const world = await World.ofGuest();
  world.fake.on(ONE, () => ({ body: { wheel: aWheel({ me: null }) } }));
  world.show(WheelPage, props);
  expect((await screen.findByRole('link', { name: t.signIn })).getAttribute('href')).toMatch(/^\/sign-in/);
  expect(screen.getByRole('table', { name: t.odds })).toBeTruthy();
  expect(screen.queryByRole('button', { name: t.spinFree })).toBeNull();
});

/** Has each turn last until the test ends it. */
function turning(): Deferred<void> {
  const turn = new Deferred<void>();
  const animation = { finished: turn.promise, finish: () => turn.resolve() } as unknown as Animation;
  vi.spyOn(Element.prototype, 'getAnimations').mockReturnValue([animation]);
  return turn;
}

test('a spin is asked for once, turns to what the service drew, and is announced then with its proof', async () => {
  const world = await open();
  const turn = turning();
  const answer = new Deferred<{ status: number; body: SpinResult }>();
  world.fake
    .on(SPIN, () => answer.promise)
    .on('GET /api/user', () => ({ body: { ...ada, balances: { coins: 105, points: 50 } } }));
  await userEvent.click(free());
  const waiting = await screen.findByRole('button', { name: t.spinning });
  expect(waiting.getAttribute('aria-disabled')).toBe('true');
  await userEvent.click(waiting);
  world.fake.on(ONE, () => ({ body: { wheel: taken() } }));
  answer.resolve({ status: 201, body: aResult() });
  await screen.findByRole('button', { name: t.skip });
  // What came in is seen when the wheel stands.
  world.session.replace({ ...ada, balances: { coins: 105, points: 50 } });
  const balance = (): string | undefined =>
    screen.getByRole('link', { name: /^\d+ coins/ }).textContent.trim();
  await tick();
  expect(balance()).toBe('100');
  expect(world.announcer.polite).toBe('');
  expect(screen.queryByText(t.got('50 points'))).toBeNull();
  expect(currentScene(undefined).isOccupied()).toBe(true);
  turn.resolve();
  expect(await screen.findByRole('heading', { name: t.got('50 points') })).toBeTruthy();
  expect(world.announcer.polite).toBe(t.got('50 points'));
  expect(currentScene(undefined).isOccupied()).toBe(false);
  expect(world.fake.requests.filter(({ name }) => name === SPIN)).toHaveLength(1);
  expect(balance()).toBe('105');
  expect(screen.getByRole('button', { name: t.spin }).hasAttribute('disabled')).toBe(true);
  // The service took another seed than the browser's: the spin of the test is that of "kop".
  expect(await screen.findByText(enPages.draw.isFalse)).toBeTruthy();
});

test('a spin that was asked for before a reload is true by all that this browser saw', async () => {
  const { serverSeedHash, tableHash } = anEntry().proof;
  new Persisted(`spinning:${ada.id}:wheel-1`).set(`${String(Date.now())} key free ${serverSeedHash} kop`);
  new Promises(ada.id).note('wheel-1', 1, { serverSeedHash, clientSeed: 'kop', pityCount: 0, tableHash });
  const world = await open(taken());
  expect(screen.getByText(t.maybeSpun)).toBeTruthy();
  const keys: (string | null)[] = [];
  world.fake.on(SPIN, ({ headers }) => {
    keys.push(headers.get('idempotency-key'));
    return { status: 201, body: aResult() };
  });
  await userEvent.click(free());
  await userEvent.click(await screen.findByText(enPages.draw.isTrue));
  for (const text of [enPages.draw.seedStep, t.proof.promised, enPages.draw.clientStep, t.proof.segment])
    expect((await screen.findByText(text)).closest('li')?.textContent).toContain(enPages.draw.holds);
  expect(screen.getByText(aResult().proof.serverSeed)).toBeTruthy();
  expect(keys).toEqual(['key']);
});

test('a turn can be skipped', async () => {
  const world = await open();
  turning();
  world.fake.on(SPIN, () => ({ status: 201, body: aResult() }));
  await userEvent.click(free());
  await userEvent.click(await screen.findByRole('button', { name: t.skip }));
  expect(await screen.findByRole('heading', { name: t.got('50 points') })).toBeTruthy();
});

test('what is given in place of a segment says so', async () => {
  const world = await open();
  const spun = anEntry({
    segment: 'pack',
    grant: { kind: 'nothing', amount: 0, id: null },
    substituted: true,
  });
  world.fake.on(SPIN, () => ({ status: 201, body: aResult(spun) }));
  await userEvent.click(free());
  expect(await screen.findByRole('heading', { name: t.gotNothing })).toBeTruthy();
  expect(screen.getByText(t.instead('A Match day pack'))).toBeTruthy();
});

test('a spin whose answer is lost is asked for again as it was', async () => {
  const world = await open();
  world.fake.on(SPIN, () => ({ status: 0 })).on(ONE, () => ({ body: { wheel: taken() } }));
  await userEvent.click(free());
  expect(await screen.findByText(t.maybeSpun)).toBeTruthy();
  const sent = world.fake.requests.find(({ name }) => name === SPIN)?.body;
  world.fake.on(SPIN, () => ({ status: 201, body: aResult() }));
  await userEvent.click(free());
  expect(await screen.findByRole('heading', { name: t.got('50 points') })).toBeTruthy();
  expect(world.fake.requests.filter(({ name }) => name === SPIN).map(({ body }) => body)).toEqual([
    sent,
    sent,
  ]);
  expect(screen.queryByText(t.maybeSpun)).toBeNull();
});

test.each(Object.entries(t.why))('a spin that is refused with %s says why', async (code, reason) => {
  const world = await open();
  world.fake.on(SPIN, () => problem(409, code));
  await userEvent.click(free());
  expect((await screen.findByRole('alert')).textContent.trim()).toBe(reason);
  expect(screen.queryByText(t.maybeSpun)).toBeNull();
});

test('after another spin the wheel is read again, and the next spin names the new seed', async () => {
  const world = await open();
  const wheel = aWheel();
  world.fake
    .on(SPIN, () => problem(409, 'seed_changed'))
    .on(ONE, () => ({
      body: { wheel: { ...wheel, me: wheel.me && { ...wheel.me, serverSeedHash: 'another' } } },
    }));
  await userEvent.click(free());
  await screen.findByText('another');
  world.fake.on(SPIN, () => ({ status: 201, body: aResult() }));
  await userEvent.click(free());
  await screen.findByRole('heading', { name: t.got('50 points') });
  const hashes = world.fake.requests
    .filter(({ name }) => name === SPIN)
    .map(({ body }) => (body as { serverSeedHash: string }).serverSeedHash);
  expect(hashes).toEqual([wheel.me?.serverSeedHash, 'another']);
});

test('a spin elsewhere takes the free one here too', async () => {
  const world = await open(aWheel({ price }));
  expect(screen.getByText(t.thenFor('20 coins'), { exact: false })).toBeTruthy();
  world.fake.on(ONE, () => ({ body: { wheel: taken(aWheel({ price })) } }));
  world.own.publish(spunEvent);
  const paid = await screen.findByRole('button', { name: `${t.spinFor} 20 coins` });
  expect(paid.hasAttribute('disabled')).toBe(false);
  expect(screen.getByText(t.after('80 coins'), { exact: false })).toBeTruthy();
  expect(screen.getByText(t.nextFree(''), { exact: false })).toBeTruthy();
});

test('too few coins say how many are missing, and how to earn them', async () => {
  await open(taken(aWheel({ price })), 5);
  expect(screen.getByRole('button', { name: `${t.spinFor} 20 coins` }).hasAttribute('disabled')).toBe(true);
  expect(screen.getByText(t.lacking('15 coins'), { exact: false })).toBeTruthy();
  expect(screen.getByRole('link', { name: t.howToEarn }).getAttribute('href')).toBe('/quests');
});

test('a wheel that was kept shows its age and its odds', async () => {
  const world = await signedIn();
  world.fake.on(ONE, () => ({ body: { wheel: aWheel() }, headers: kept }));
  world.show(WheelPage, props);
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain(world.texts.moment(new Date(kept['terrace-read-at'])));
  expect(screen.getByRole('table', { name: t.odds })).toBeTruthy();
});
