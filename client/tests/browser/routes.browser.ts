import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paths, type RouteName } from '../../src/lib/router/paths';
import { readAs } from './member';
import { Stage } from './stage';
import { Visitor } from './visitor';

/** What a first visit to the room may load, and what any other page may add to it, in bytes after gzip. */
const FIRST = { js: 60_000, css: 12_000 };
const FURTHER = 20_000;

/** What the browser of a test says in place of registering a service worker. */
const BLOCKED = 'Service Worker registration blocked by Playwright';

let stage: Stage | undefined;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage?.close());

type Sizes = Map<string, number>;

/** Notes every script and style that the page loads, with its size after gzip. */
function loaded(page: Page): { files: Sizes; settled: () => Promise<void> } {
  const files: Sizes = new Map();
  const reading: Promise<void>[] = [];
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (!/\.(?:js|css)$/.test(pathname) || !response.ok()) return;
    reading.push(
      response.body().then((body) => void files.set(pathname, gzipSync(body, { level: 9 }).length)),
    );
  });
  return { files, settled: async () => void (await Promise.all(reading)) };
}

function total(files: Iterable<[string, number]>, ending: string): number {
  return [...files].reduce((sum, [name, size]) => (name.endsWith(ending) ? sum + size : sum), 0);
}

async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForFunction(() => document.querySelector('main .skeleton') === null);
}

/** An address of each page, as the demo's fan can open it. */
async function addresses(page: Page): Promise<Record<RouteName, string>> {
  const { posts } = await readAs<{ posts: { id: string }[] }>(page, '/api/locker-room?limit=1');
  const { teams } = await readAs<{ teams: { id: string }[] }>(page, '/api/search?q=arsenal&kind=teams');
  const { quests } = await readAs<{ quests: { id: string }[] }>(page, '/api/quests');
  const { packs } = await readAs<{ packs: { id: string; price: { kind: string } }[] }>(page, '/api/packs');
  const pack = packs.find(({ price }) => price.kind === 'points')?.id ?? '';
  const bought = await page.request.post(`/api/packs/${pack}/purchase`, {
    data: {},
    headers: { 'idempotency-key': crypto.randomUUID() },
  });
  expect(bought.status()).toBe(201);
  const { purchases } = await readAs<{ purchases: { id: string }[] }>(page, '/api/user/purchases');
  const { packs: copies } = await readAs<{ packs: { id: string }[] }>(page, '/api/user/packs?status=sealed');
  const ids: Partial<Record<RouteName, string>> = {
    post: posts[0]?.id ?? '',
    team: teams[0]?.id ?? '',
    quest: quests[0]?.id ?? '',
    pack,
    copy: pack,
    purchase: purchases[0]?.id ?? '',
  };
  const filled = Object.entries(paths).map(([name, path]) => [
    name,
    path
      .replace('{id}', ids[name as RouteName] ?? '')
      .replace('{copyId}', copies[0]?.id ?? '')
      .replace('{tag}', 'matchday')
      .replace('{username}', 'toonarmytess'),
  ]);
  return Object.fromEntries(filled) as Record<RouteName, string>;
}

/** The page of a purchase that is not paid yet. */
async function pendingPurchase(page: Page): Promise<string> {
  const { packs } = await readAs<{ packs: { id: string; price: { kind: string } }[] }>(page, '/api/packs');
  const pack = packs.find(({ price }) => price.kind === 'money')?.id ?? '';
  const started = await page.request.post(`/api/packs/${pack}/purchase`, {
    data: {},
    headers: { 'idempotency-key': crypto.randomUUID() },
  });
  const { purchase } = (await started.json()) as { purchase: { id: string; status: string } };
  expect(purchase.status).toBe('pending');
  return paths.purchase.replace('{id}', purchase.id);
}

test('the room and every further page stay within their budgets, and none complains', async () => {
  if (!stage) throw new Error('no stage');
  const { service, browser } = stage;
  // A service worker loads every page ahead.
  const options = { viewport: { width: 390, height: 844 }, serviceWorkers: 'block' } as const;
  const visitor = await Visitor.arrive(browser, service.url, options);
  const { page } = visitor;
  const first = loaded(page);
  await page.goto('/room');
  await page.getByRole('article').first().waitFor();
  await first.settled();
  const known: Sizes = new Map(first.files);
  const [js, css] = [total(known, '.js'), total(known, '.css')];
  console.info(`first load: ${String(js)} B of JS, ${String(css)} B of CSS`);
  expect(js).toBeLessThanOrEqual(FIRST.js);
  expect(css).toBeLessThanOrEqual(FIRST.css);

  await visitor.signIn();
  let largest: [string, number] = ['', 0];
  const pages = [
    ...Object.entries(await addresses(page)),
    ['purchase', await pendingPurchase(page)] as const,
  ];
  for (const [name, path] of pages) {
    const tab = await visitor.another();
    const { files, settled } = loaded(tab);
    await tab.goto(path);
    await settle(tab);
    await settled();
    const added = total(
      [...files].filter(([file]) => !known.has(file)),
      '.js',
    );
    if (added > largest[1]) largest = [name, added];
    expect(added, path).toBeLessThanOrEqual(FURTHER);
    expect(await tab.getByRole('main').getByRole('alert').count(), path).toBe(0);
    await tab.close();
  }
  console.info(`largest further page: ${largest[0]}, ${String(largest[1])} B of JS`);
  expect(visitor.complaints.filter((text) => !text.endsWith(BLOCKED))).toEqual([]);
  await visitor.leave();
});
