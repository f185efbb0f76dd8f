import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { begin, bought } from './collector';
import { Fan, PASSWORD } from './fan';
import { readAs } from './member';
import { Profile, governed, signIn } from './profile';
import { Service } from './service';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const NARROW = { width: 390, height: 844 };
const { service, browser } = await staged(Stage.open(['--rate-limits', 'off']));

interface Wallets {
  accounts: { kind: string; balance: number }[];
}

async function points(page: Page): Promise<number> {
  const { accounts } = await readAs<Wallets>(page, '/api/wallets');
  return accounts.find(({ kind }) => kind === 'points')?.balance ?? 0;
}

/** Opens the start page and waits until it is read. */
async function openHome(page: Page): Promise<void> {
  await page.goto('/');
  await page
    .getByRole('main')
    .getByRole('heading', { name: /in a row$/ })
    .waitFor();
}

test('the start page pays the visit of the day once, and says what it paid', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'homely');
  const before = await points(page);
  const second = await visitor.another();
  await Promise.all([page.goto('/'), second.goto('/')]);
  for (const tab of [page, second]) {
    await tab.getByRole('heading', { name: '1 day in a row' }).waitFor();
  }
  const said = 'Today’s visit: +10 points.';
  const saying = async (): Promise<number> =>
    (await page.getByText(said).count()) + (await second.getByText(said).count());
  // Beside the text it is announced.
  await expect.poll(saying).toBeGreaterThan(0);
  expect(await points(page)).toBe(before + 10);
  await visitor.expectAccessible();
  await openHome(page);
  await page.getByText('Today is collected.').waitFor();
  expect(await points(page)).toBe(before + 10);
  expect(new URL(page.url()).pathname).toBe('/');
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('the start page follows what happens to the fan elsewhere', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'watcher');
  const stream = page.waitForResponse((answer) => new URL(answer.url()).pathname === '/api/stream');
  await openHome(page);
  await page.getByText('Today’s visit: +10 points.').first().waitFor();
  await stream;
  expect(await page.getByRole('link', { name: /to open/ }).count()).toBe(0);
  // By another program.
  await bought(page);
  await page.getByRole('link', { name: /^1 pack to open/ }).waitFor();
  const { packs, balances } = await readAs<{ packs: { sealed: number }; balances: { coins: number } }>(
    page,
    '/api/dashboard',
  );
  expect(packs.sealed).toBe(1);
  await page.getByRole('link', { name: `${String(balances.coins)} coins. Open your balances.` }).waitFor();
  await page.getByRole('link', { name: /^1 pack to open/ }).click();
  await page.waitForURL('**/my-packs');
  await page.goBack();
  await page.getByRole('link', { name: 'You: watcher' }).click();
  await page.waitForURL('**/account');
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('a guest starts in the room', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW });
  await visitor.page.goto('/');
  await visitor.page.waitForURL('**/room');
  await visitor.page.getByRole('article').first().waitFor();
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('without the service a new browser shows the last start page, and how old it is', async () => {
  const own = await Service.start(['--rate-limits', 'off']);
  const profile = new Profile(own.url);
  try {
    await Fan.signUp(own.url, 'offliner');
    let page = await profile.open();
    await signIn(page, 'offliner', PASSWORD);
    await governed(page);
    await openHome(page);
    await page.getByText('Today’s visit: +10 points.').first().waitFor();
    // What the visit changed is read and kept.
    await page.reload();
    await page.getByText('Today is collected.').waitFor();
    const { rank } = await readAs<{ rank: { global: { rank: number } | null } }>(page, '/api/dashboard');
    await own.kill();

    page = await profile.open();
    await page.goto('/');
    const alert = page.getByRole('alert').filter({ hasText: 'There is no connection to the service.' });
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/This is from \d\d:\d\d/);
    await page.getByRole('heading', { name: '1 day in a row' }).waitFor();
    const place = rank.global ? String(rank.global.rank) : 'Not on the table yet';
    expect(await page.getByRole('link', { name: /Your rank/ }).textContent()).toContain(place);

    await own.restart();
    await page.goto('/');
    await page.getByText('Today is collected.').waitFor();
    await alert.waitFor({ state: 'detached' });
  } finally {
    await profile.remove();
    await own.stop();
  }
});
