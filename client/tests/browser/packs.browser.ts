import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { COINS, PRICE, begin, bought, coins, copies, type Copy } from './collector';
import { readAs } from './member';
import { Profile, loseAnswers } from './profile';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const NARROW = { width: 390, height: 844 };
interface Card {
  id: string;
  name: string;
  rarity: string;
}
interface Opened {
  collectibles: { collectible: Card }[];
  proof: { serverSeed: string; serverSeedHash: string; tableHash: string; clientSeed: string };
}

const { service, browser } = await staged(Stage.open());
const { url } = service;

/** What the API says is in a copy. Opens it if it is sealed. */
async function rowsOf(page: Page, copy: Copy): Promise<Opened> {
  const answer = await page.request.post(`/api/packs/${copy.packId}/open`, { data: { userPackId: copy.id } });
  expect(answer.status()).toBe(200);
  return (await answer.json()) as Opened;
}

const addressOf = (copy: Copy): string => `/packs/${copy.packId}/copies/${copy.id}`;

/** The names and rarities on the page, in the order of the rows. */
async function shownRows(page: Page): Promise<string[]> {
  const items = page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ has: page.getByRole('presentation') });
  await items.first().waitFor();
  return items.evaluateAll((nodes) =>
    nodes.map((node) =>
      [...node.querySelectorAll('b, b + span')].map(({ textContent }) => textContent).join(' '),
    ),
  );
}

function expectedRows({ collectibles }: Opened): string[] {
  return collectibles.map(
    ({ collectible: { name, rarity } }) => `${name} ${rarity.charAt(0).toUpperCase()}${rarity.slice(1)}`,
  );
}

/** The draw that the page computes, as `terrace verify` writes it: each slot's rarity and collectible. */
async function computedRows(page: Page): Promise<string[]> {
  await page.getByRole('button', { name: 'Compute it again' }).click();
  const slots = page.getByRole('main').getByRole('listitem').filter({ hasText: / mod / });
  await slots.first().waitFor();
  return slots.evaluateAll((nodes) =>
    nodes.map((node) => {
      const [rarity, name] = [...node.querySelectorAll('p')].map((it) =>
        it.textContent.split('→')[1]?.trim(),
      );
      return `${rarity?.toLowerCase() ?? ''}, ${name ?? ''}`;
    }),
  );
}

function verifiedRows(opened: Opened): string[] {
  return [...service.verify(opened).matchAll(/^slot \d+: (.+?)(?:, no\. \d+)?$/gm)].map(
    ([, row]) => row ?? '',
  );
}

/** Counts the animations in the page's content that take any time. */
async function countAnimations(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const counted = { animations: 0 };
    Object.assign(globalThis, { counted });
    document.addEventListener('animationstart', ({ target, animationName }) => {
      if (!(target instanceof Element) || !target.closest('main')) return;
      const isShown = target.getAnimations().some((animation) => {
        const named = animation instanceof CSSAnimation && animation.animationName === animationName;
        return named && Number(animation.effect?.getComputedTiming().duration) > 1;
      });
      if (isShown) counted.animations += 1;
    });
  });
}

function animations(page: Page): Promise<number> {
  return page.evaluate(
    () => (globalThis as unknown as { counted: { animations: number } }).counted.animations,
  );
}

const skip = (page: Page): Locator => page.getByRole('button', { name: 'Show all at once' });

test('a reveal shows the rows of the service, also when its answer is lost', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'reveal');
  await page.goto('/packs');
  await page.getByRole('link', { name: /Away days/ }).click();
  await coins(page, COINS).waitFor();
  await page.getByRole('button', { name: `Buy for ${String(PRICE)} coins` }).click();
  await page.waitForURL('**/my-packs');
  // The balance follows without a reload.
  await coins(page, COINS - PRICE).waitFor();
  const [copy, ...others] = await copies(page);
  if (!copy) throw new Error('no copy');
  expect(others).toEqual([]);
  await page.getByRole('link', { name: 'Open', exact: true }).click();

  // The service opens the copy, and its answer never arrives.
  const keepAnswers = await loseAnswers(page, '**/open');
  await page.getByRole('button', { name: 'Open the pack' }).click();
  await page.getByText('Opening again shows the same cards.').waitFor();
  expect((await copies(page)).map(({ status }) => status)).toEqual(['opened']);
  await keepAnswers();
  const opened = await rowsOf(page, copy);

  await page.getByRole('button', { name: 'Open the pack' }).click();
  await skip(page).waitFor();
  expect(await shownRows(page)).toEqual(expectedRows(opened));
  await skip(page).click();
  await skip(page).waitFor({ state: 'detached' });
  const { collectibles } = await readAs<{ collectibles: { userPackId: string; collectible: Card }[] }>(
    page,
    '/api/user/collectibles',
  );
  const owned = collectibles
    .filter(({ userPackId }) => userPackId === copy.id)
    .map(({ collectible }) => collectible.name);
  expect(owned.sort()).toEqual(opened.collectibles.map(({ collectible }) => collectible.name).sort());

  await page.getByRole('button', { name: 'Compute it again' }).click();
  await page.getByRole('main').getByText('The draw is true').waitFor();
  for (const value of [opened.proof.serverSeedHash, opened.proof.tableHash, opened.proof.serverSeed]) {
    await page.getByText(value, { exact: true }).first().waitFor();
  }
  await page.getByText('The promise is the one this browser saw before opening').waitFor();
  await visitor.leave();
});

test('a browser that is killed in the middle of a reveal shows the same rows again', async () => {
  const profile = new Profile(url);
  try {
    let page = await profile.open();
    await begin(page, service, 'killed');
    const copy = await bought(page);
    // A browser that ends orderly has written down who is signed in.
    page = await profile.open();
    await countAnimations(page);
    await page.goto(addressOf(copy));
    await page.getByRole('button', { name: 'Open the pack' }).click();
    await skip(page).waitFor();
    expect(await animations(page)).toBeGreaterThan(0);
    const before = await shownRows(page);
    await profile.kill();

    page = await profile.open();
    await page.goto(addressOf(copy));
    expect(await shownRows(page)).toEqual(before);
    expect(before).toEqual(expectedRows(await rowsOf(page, copy)));
  } finally {
    await profile.remove();
  }
});

test('the draw that the browser computes is the one of `terrace verify`', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW, reducedMotion: 'reduce' });
  const { page } = visitor;
  await begin(page, service, 'verifier');
  const copy = await bought(page);
  const opened = await rowsOf(page, copy);
  const rows = verifiedRows(opened);
  expect(rows).toHaveLength(opened.collectibles.length);
  await page.goto(addressOf(copy));
  expect(await computedRows(page)).toEqual(rows);
  await page.getByRole('main').getByText('The draw is true').waitFor();
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('an answer with other cards than the drawn ones is found out', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'doubter');
  const copy = await bought(page);
  const opened = await rowsOf(page, copy);
  const [first] = opened.collectibles;
  if (first) first.collectible = { ...first.collectible, id: copy.id, rarity: 'legendary' };
  expect(service.verify(opened)).toMatch(/^wrong: slot 0 /);
  await page.route('**/open', async (route) => {
    await route.fulfill({ response: await route.fetch(), json: opened });
  });
  await page.goto(addressOf(copy));
  await page.getByRole('button', { name: 'Compute it again' }).click();
  await page.getByRole('main').getByText('The draw does not come to this').waitFor();
  expect(await page.getByRole('main').getByText('The draw is true').count()).toBe(0);
  await visitor.leave();
});

test('with reduced motion a reveal runs no animation', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW, reducedMotion: 'reduce' });
  const { page } = visitor;
  await countAnimations(page);
  await begin(page, service, 'calm');
  const copy = await bought(page);
  const opened = await rowsOf(page, copy);
  await page.goto(addressOf(copy));
  expect(await shownRows(page)).toEqual(expectedRows(opened));
  await page.getByRole('button', { name: 'Compute it again' }).click();
  await page.getByRole('main').getByText('The draw is true').waitFor();
  expect(await skip(page).isVisible()).toBe(false);
  expect(await animations(page)).toBe(0);
  visitor.expectNoComplaints();
  await visitor.leave();
});
