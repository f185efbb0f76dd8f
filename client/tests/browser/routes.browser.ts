import { afterAll, beforeAll, expect, test } from 'vitest';
import { addresses, open } from './pages';
import { loaded, total, type Sizes } from './sizes';
import { Stage } from './stage';
import { NO_WORKER, Visitor } from './visitor';

/** What a first visit to the room may load, and what any other page may add to it, in bytes after gzip. */
const FIRST = { js: 60_000, css: 12_000 };
const FURTHER = 20_000;

let stage: Stage | undefined;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage?.close());

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
  for (const [name, path] of await addresses(page, service)) {
    const tab = await visitor.another();
    const { files, settled } = loaded(tab);
    await open(tab, name, path);
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
  expect(visitor.complaints.filter((text) => !text.endsWith(NO_WORKER))).toEqual([]);
  await visitor.leave();
});
