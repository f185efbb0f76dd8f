import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import type { OwnedCollectible } from '$lib/api/types';
import { enOwn } from '$lib/i18n/en-own';
import { enPlay } from '$lib/i18n/en-play';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World } from '../../../tests/world';
import CollectionPage from './CollectionPage.svelte';
import { anOpening } from './testing';

const { collection: t } = enOwn;
const PATH = 'GET /api/user/collectibles';

const token = { network: 'polygon', contract: '0xc0ffee', tokenId: '7', transactionId: '0xfeed' };

/** Two cards: one that is a token, and one that is not. */
function twoCards(): OwnedCollectible[] {
  const [first, second] = anOpening('epic', 'common').collectibles;
  if (!first || !second) throw new Error('two cards were opened');
  return [{ ...first, serial: 12, edition: 250, token }, second];
}

const list = (collectibles: OwnedCollectible[], nextCursor: string | null = null): object => ({
  collectibles,
  nextCursor,
});

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  return world;
}

/** The row of a card. */
const row = (name: string): HTMLElement => {
  const found = screen.getAllByText(name)[0]?.closest('li');
  if (!found) throw new Error(`no row with ${name}`);
  return found;
};

test('the own cards load, fail, and are read again, with the token of one', async () => {
  const world = await signedIn();
  await readsAgain(world, PATH, list(twoCards()), t.failedTitle, () => world.show(CollectionPage, {}));
  const minted = row('Card 0');
  expect(minted.textContent).toContain(enPlay.packs.rarity.epic);
  expect(minted.textContent).toContain(enPlay.packs.serial('12', '250'));
  for (const text of ['0xc0ffee', '0xfeed', t.onNetwork('polygon')])
    expect(minted.textContent).toContain(text);
  expect(row('Card 1').querySelector('details')).toBeNull();
});

test('a card whose content is not known yet has a name', async () => {
  const world = await signedIn();
  const [first] = twoCards();
  world.fake.on(PATH, () => ({ body: list(first ? [{ ...first, collectible: null }] : []) }));
  world.show(CollectionPage, {});
  expect((await screen.findAllByText(t.unknown)).length).toBeGreaterThan(0);
});

test('a fan without cards is led to the packs', async () => {
  const world = await signedIn();
  world.fake.on(PATH, () => ({ body: list([]) }));
  world.show(CollectionPage, {});
  await screen.findByRole('heading', { name: t.emptyTitle });
  expect(screen.getByRole('link', { name: enPlay.packs.get }).getAttribute('href')).toBe('/packs');
});

test('older cards follow', async () => {
  const world = await signedIn();
  const [first, second] = twoCards();
  if (!first || !second) throw new Error('there are two cards');
  world.fake.on(PATH, ({ url }) => ({
    body: new URL(url).searchParams.has('cursor') ? list([second]) : list([first], 'next'),
  }));
  world.show(CollectionPage, {});
  await userEvent.click(await screen.findByRole('button', { name: t.more }));
  expect((await screen.findAllByText('Card 1')).length).toBeGreaterThan(0);
  expect(row('Card 0')).toBeTruthy();
});

test('cards that were kept show their age', async () => {
  const world = await signedIn();
  const headers = { 'terrace-read-at': '2026-11-22T08:00:00.000Z' };
  world.fake.on(PATH, () => ({ body: list(twoCards()), headers }));
  world.show(CollectionPage, {});
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain(world.texts.moment(new Date(headers['terrace-read-at'])));
  expect(row('Card 0')).toBeTruthy();
});

test('the cards ask guests to sign in', async () => {
  await asksGuests(CollectionPage, {});
});
