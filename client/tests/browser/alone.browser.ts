import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addresses, open, settle } from './pages';
import { governed } from './profile';
import { Service, terrace } from './service';
import { Stage } from './stage';
import { NO_WORKER, Visitor } from './visitor';

const INDEX = new URL('../../../crates/client/dist/index.html', import.meta.url);

let stage: Stage | undefined;

beforeAll(async () => {
  stage = await Stage.of(await Service.alone());
});

afterAll(() => stage?.close());

test('the program holds the client', () => {
  // A program that reads the client from the sources' folder is one for development.
  expect(readFileSync(terrace()).includes(readFileSync(INDEX))).toBe(true);
});

test('the program alone in an empty folder, without Node, shows every page, and none complains', async () => {
  if (!stage) throw new Error('no stage');
  const { service, browser } = stage;
  const options = { viewport: { width: 390, height: 844 } };
  const fan = await Visitor.arrive(browser, service.url, options);
  await fan.signIn();
  // The worker has fetched every file by then.
  await governed(fan.page);
  const all = await addresses(fan.page, service);
  for (const [name, address] of all) {
    await open(fan.page, name, address);
    expect(await fan.page.getByRole('main').getByRole('alert').count(), address).toBe(0);
  }
  fan.expectNoComplaints();
  await fan.leave();

  // Without the worker, every page comes from the program.
  const stranger = await Visitor.arrive(browser, service.url, { ...options, serviceWorkers: 'block' });
  const { page } = stranger;
  for (const [, address] of all) {
    const answer = await page.goto(address);
    expect(answer?.status(), address).toBe(200);
    await settle(page);
    expect(await page.getByRole('main').getByRole('alert').count(), address).toBe(0);
  }
  expect(stranger.complaints.filter((text) => !text.endsWith(NO_WORKER))).toEqual([]);
  await stranger.leave();
});
