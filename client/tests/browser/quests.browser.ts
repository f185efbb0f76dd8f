import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { begin } from './collector';
import { carryOn, readAs } from './member';
import { noteSession } from './profile';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const NARROW = { width: 390, height: 844 };
const { service, browser } = await staged(Stage.open());
const { url } = service;

interface Wallets {
  accounts: { kind: string; balance: number }[];
}

async function points(visitor: Visitor): Promise<number> {
  const { accounts } = await readAs<Wallets>(visitor.page, '/api/wallets');
  return accounts.find(({ kind }) => kind === 'points')?.balance ?? 0;
}

test('a daily visit is paid once and seen', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'regular');
  const before = await points(visitor);
  await page.goto('/quests');
  await page.getByRole('button', { name: 'Collect today’s points' }).dblclick();
  const moment = page.getByRole('dialog', { name: 'Today’s visit' });
  await moment.getByText('+10').waitFor();
  await visitor.expectAccessible();
  await moment.getByRole('button', { name: 'Carry on' }).click();
  await page.getByText('Today is collected.').waitFor();
  expect(await points(visitor)).toBe(before + 10);
  await page.getByRole('link', { name: `${String(before + 10)} points. Open your balances.` }).waitFor();
  await page.reload();
  await page.getByText('Today is collected.').waitFor();
  expect(await page.getByRole('button', { name: 'Collect today’s points' }).count()).toBe(0);
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('a quest is started, its steps are done, and each is paid once', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW, reducedMotion: 'reduce' });
  const { page } = visitor;
  await begin(page, service, 'seeker');
  await page.goto('/quests');
  await page.getByRole('link', { name: /Match day/ }).click();
  await page.getByRole('heading', { name: 'Match day', level: 1 }).waitFor();
  const before = await points(visitor);
  await page.getByRole('button', { name: 'Start this quest' }).click();
  const steps = page.getByRole('main').getByRole('listitem');
  await steps.first().getByRole('button', { name: 'I have done it' }).click();
  const moment = page.getByRole('dialog');
  await moment.getByText('+5').waitFor();
  await moment.getByRole('button', { name: 'Carry on' }).click();
  await steps.last().getByRole('button', { name: 'I have done it' }).dblclick();
  await page.getByRole('dialog', { name: 'Quest completed' }).waitFor();
  await visitor.expectAccessible();
  await moment.getByRole('button', { name: 'Carry on' }).click();
  expect(await points(visitor)).toBe(before + 15);
  const { quests } = await readAs<{ quests: { key: string; status: string }[] }>(page, '/api/quests');
  expect(quests.find(({ key }) => key === 'matchday')?.status).toBe('completed');
  await page.goto('/quests');
  await page.getByRole('heading', { name: 'Completed' }).waitFor();
  visitor.expectNoComplaints();
  await visitor.leave();
});

/** Opens a page; what happens from then on comes in the stream. */
async function open(page: Page, address: string): Promise<void> {
  const position = page.waitForResponse((answer) => answer.url().endsWith('/api/locker-room?limit=1'));
  await page.goto(address);
  await position;
}

/** Signs a new fan up as another program would. */
async function register(page: Page, username: string): Promise<void> {
  const data = { username, password: 'a scarf on row 14', timeZone: 'Europe/London' };
  const answer = await page.request.post('/api/register', { data });
  expect(answer.status()).toBe(201);
  await noteSession(page.context());
}

interface Quest {
  id: string;
  key: string;
  steps: { key: string; status: string }[];
}

/** The keys of the steps of the first quest that are done, as the service says. */
async function doneSteps(page: Page): Promise<string[]> {
  const { quests } = await readAs<{ quests: Quest[] }>(page, '/api/quests');
  const steps = quests.find(({ key }) => key === 'welcome')?.steps ?? [];
  return steps.filter(({ status }) => status === 'completed').map(({ key }) => key);
}

test('what a fan earns elsewhere than on its page is seen, announced and counted', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await register(page, 'follower');
  await open(page, '/fans/toonarmytess');
  const follow = page.getByRole('button', { name: /^Follow Tess Robson/ });
  await follow.click();
  const moment = page.getByRole('dialog', { name: 'Step done' });
  await moment.getByText('+20').waitFor();
  await moment.getByText('Follow another fan').waitFor();
  expect(await doneSteps(page)).toEqual(['first-follow']);
  await expect.poll(() => page.getByRole('status').first().textContent()).toContain('Step done. +20 points');
  await visitor.expectAccessible();
  await moment.getByRole('button', { name: 'Carry on' }).click();
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-pressed') === 'true');
  // The balance is that of the service, without a reload.
  await page.getByRole('link', { name: 'Play' }).click();
  expect(await points(visitor)).toBe(20);
  await page.getByRole('link', { name: '20 points. Open your balances.' }).waitFor();
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('open pages follow what the service notices, and one tab of several shows the moment', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: NARROW });
  const { page } = visitor;
  await register(page, 'elsewhere');
  const { quests } = await readAs<{ quests: Quest[] }>(page, '/api/quests');
  const path = `/quests/${quests.find(({ key }) => key === 'welcome')?.id ?? ''}`;
  const tabs = [page, await visitor.another(), await visitor.another()];
  const [first, second, third] = tabs as [Page, Page, Page];
  for (const [tab, address] of [
    [first, path],
    [second, path],
    [third, '/balances'],
  ] as const) {
    await open(tab, address);
  }
  await third.getByRole('heading', { name: 'Nothing has come in yet' }).waitFor();
  // Two steps at once, by another program.
  const { teams } = await readAs<{ teams: { id: string }[] }>(page, '/api/search?q=ajax&kind=teams');
  const changed = await page.request.patch('/api/user', { data: { favoriteTeamId: teams[0]?.id ?? '' } });
  expect(changed.status()).toBe(200);
  await expect.poll(() => doneSteps(page)).toEqual(['favorite-team', 'board']);
  for (const tab of [first, second]) {
    await tab.getByText('of 5 done').waitFor();
    await expect.poll(() => tab.locator('.hero .big').textContent()).toBe('2');
  }
  await third.getByText('Choose your favourite team').first().waitFor();
  const moments = async (): Promise<number[]> =>
    Promise.all(tabs.map((tab) => tab.getByRole('dialog', { name: 'Step done' }).count()));
  const shown = async (): Promise<number> => (await moments()).reduce((sum, count) => sum + count, 0);
  await expect.poll(shown).toBe(1);
  const at = tabs[(await moments()).indexOf(1)] ?? first;
  await at.getByRole('dialog').getByText('+40').waitFor();
  await carryOn(at, 'Step done');
  expect(await shown()).toBe(0);
  visitor.expectNoComplaints();
  await visitor.leave();
});
