import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addresses, open, settle } from './pages';
import { Service, terrace } from './service';
import { loaded, total, type Sizes } from './sizes';
import { Stage } from './stage';
import { staged } from './staged';
import { NO_WORKER, Visitor } from './visitor';

const INDEX = new URL('../../../crates/client/dist/index.html', import.meta.url);
/** What a first visit to the room may load, and what any other page may add to it, in bytes after gzip. */
const FIRST = { js: 60_000, css: 12_000 };
const FURTHER = 20_000;
/** Without the worker, which loads every page ahead, each comes from the program. */
const OPTIONS = { viewport: { width: 390, height: 844 }, serviceWorkers: 'block' } as const;

const { service, browser } = await staged(Stage.of(await Service.alone()));

function expectNoComplaints({ complaints }: Visitor): void {
  expect(complaints.filter((text) => !text.endsWith(NO_WORKER))).toEqual([]);
}

test('the program holds the client', () => {
  // A program that reads the client from the sources' folder is one for development.
  expect(readFileSync(terrace()).includes(readFileSync(INDEX))).toBe(true);
});

test('the program alone in an empty folder, without Node, shows every page within its budget, and none complains', async () => {
  const fan = await Visitor.arrive(browser, service.url, OPTIONS);
  const { page } = fan;
  const first = loaded(page);
  await page.goto('/room');
  await page.getByRole('article').first().waitFor();
  await first.settled();
  const known: Sizes = new Map(first.files);
  const [js, css] = [total(known, '.js'), total(known, '.css')];
  console.info(`first load: ${String(js)} B of JS, ${String(css)} B of CSS`);
  expect(js).toBeLessThanOrEqual(FIRST.js);
  expect(css).toBeLessThanOrEqual(FIRST.css);

  await fan.signIn();
  const all = await addresses(page, service);
  let largest: [string, number] = ['', 0];
  for (const [name, address] of all) {
    const tab = await fan.another();
    const { files, settled } = loaded(tab);
    await open(tab, name, address);
    await settled();
    const added = total(
      [...files].filter(([file]) => !known.has(file)),
      '.js',
    );
    if (added > largest[1]) largest = [name, added];
    expect(added, address).toBeLessThanOrEqual(FURTHER);
    expect(await tab.getByRole('main').getByRole('alert').count(), address).toBe(0);
    await tab.close();
  }
  console.info(`largest further page: ${largest[0]}, ${String(largest[1])} B of JS`);
  expectNoComplaints(fan);
  await fan.leave();

  const stranger = await Visitor.arrive(browser, service.url, OPTIONS);
  for (const [, address] of all) {
    const answer = await stranger.page.goto(address);
    expect(answer?.status(), address).toBe(200);
    await settle(stranger.page);
    expect(await stranger.page.getByRole('main').getByRole('alert').count(), address).toBe(0);
  }
  expectNoComplaints(stranger);
  await stranger.leave();
});
