import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { problem } from '$lib/api/testing';
import type { SpinEntry } from '$lib/api/types';
import { enPages } from '$lib/i18n/en-pages';
import { enWheels as t } from '$lib/i18n/en-wheels';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World, ada } from '../../../tests/world';
import { Promises } from './promises';
import SpinsPage from './SpinsPage.svelte';
import { PROMISED, aWheel, anEntry } from './testing';

const LIST = 'GET /api/user/spins';
const nothing = { kind: 'nothing', amount: 0, id: null } as const;

beforeEach(() => void vi.stubGlobal('isSecureContext', true));

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  world.fake.on('GET /api/wheel', () => ({ body: { wheels: [aWheel()], nextCursor: null } }));
  return world;
}

const page = (spins: SpinEntry[], nextCursor: string | null = null): object => ({ spins, nextCursor });

test('the spins load, fail, and are read again, each with its check', async () => {
  const world = await signedIn();
  const wrong = anEntry({
    id: 'spin-2',
    wheelId: 'gone',
    segment: 'blank',
    grant: nothing,
    paid: { kind: 'coins', amount: 20 },
  });
  const body = page([anEntry(), wrong]);
  await readsAgain(world, LIST, body, t.spins.failedTitle, () => world.show(SpinsPage, {}));
  const [first, second] = within(screen.getAllByRole('list').at(-1) ?? document.body).getAllByRole(
    'listitem',
  );
  await waitFor(() => expect(first?.textContent).toContain(enPages.draw.isTrue));
  for (const text of [t.got('50 points'), 'Daily wheel', t.spins.free])
    expect(first?.textContent).toContain(text);
  await waitFor(() => expect(second?.textContent).toContain(enPages.draw.isFalse));
  for (const text of [t.gotNothing, t.spins.unknown, '20 coins']) expect(second?.textContent).toContain(text);
});

test('the proof of a spin shows its steps, and what this browser saw before it', async () => {
  const world = await signedIn();
  const { tableHash } = anEntry().proof;
  new Promises(ada.id).note('wheel-1', 1, {
    serverSeedHash: PROMISED,
    clientSeed: 'kop',
    pityCount: 0,
    tableHash,
  });
  world.fake.on(LIST, () => ({ body: page([anEntry()]) }));
  world.show(SpinsPage, {});
  await userEvent.click(await screen.findByText(enPages.draw.isTrue));
  expect(await screen.findByText(t.proof.promised)).toBeTruthy();
  expect(screen.getByText(anEntry().proof.serverSeed)).toBeTruthy();
  expect(screen.getByText('kop:1:0')).toBeTruthy();
  expect(screen.queryByText(t.proof.notSeen)).toBeNull();
});

test('a spin of another browser has no promise to compare', async () => {
  const world = await signedIn();
  world.fake.on(LIST, () => ({ body: page([anEntry()]) }));
  world.show(SpinsPage, {});
  await userEvent.click(await screen.findByText(enPages.draw.isTrue));
  expect(await screen.findByText(t.proof.notSeen)).toBeTruthy();
});

test('without https nothing is computed, and the page says so', async () => {
  vi.stubGlobal('isSecureContext', false);
  const world = await signedIn();
  world.fake.on(LIST, () => ({ body: page([anEntry()]) }));
  world.show(SpinsPage, {});
  expect(await screen.findByText(enPages.draw.checkImpossible)).toBeTruthy();
});

test('a list goes on, and a new spin comes first', async () => {
  const world = await signedIn();
  let spins = [anEntry()];
  const older = anEntry({ id: 'older', grant: nothing });
  world.fake.on(LIST, ({ url }) => ({
    body: new URL(url).searchParams.has('cursor') ? page([older]) : page(spins, 'next'),
  }));
  world.show(SpinsPage, {});
  await userEvent.click(await screen.findByRole('button', { name: t.spins.more }));
  await screen.findByText(t.gotNothing);
  spins = [anEntry({ id: 'newer', grant: { kind: 'coins', amount: 5, id: null } }), anEntry()];
  world.own.publish({
    name: 'spin.completed',
    data: {
      channels: ['me'],
      spinId: 'newer',
      wheelId: 'wheel-1',
      segment: 'coins-5',
      completedAt: '2026-11-23T13:00:00.000Z',
    },
  });
  expect(await screen.findByText(t.got('5 coins'))).toBeTruthy();
  expect(await screen.findByText(t.gotNothing)).toBeTruthy();
});

test('spins are listed also where the wheels are not read', async () => {
  const world = await signedIn();
  world.fake
    .on('GET /api/wheel', () => problem(500, 'internal'))
    .on(LIST, () => ({ body: page([anEntry()]) }));
  world.show(SpinsPage, {});
  expect(await screen.findByText(t.spins.unknown)).toBeTruthy();
});

test('without spins the page leads to the wheels', async () => {
  const world = await signedIn();
  world.fake.on(LIST, () => ({ body: page([]) }));
  world.show(SpinsPage, {});
  const heading = await screen.findByRole('heading', { name: t.spins.emptyTitle });
  const link = within(heading.parentElement ?? heading).getByRole('link', { name: t.spins.emptyAction });
  expect(link.getAttribute('href')).toBe('/wheels');
});

test('spins that were kept show their age', async () => {
  const world = await signedIn();
  const at = '2026-11-22T08:00:00.000Z';
  world.fake.on(LIST, () => ({ body: page([anEntry()]), headers: { 'terrace-read-at': at } }));
  world.show(SpinsPage, {});
  expect((await screen.findByRole('alert')).textContent).toContain(world.texts.moment(new Date(at)));
  expect(screen.getByText(t.got('50 points'))).toBeTruthy();
});

test('spins ask guests to sign in', async () => {
  await asksGuests(SpinsPage, {});
});
