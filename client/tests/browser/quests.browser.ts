import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAs } from './member';
import { Stage } from './stage';
import { Visitor } from './visitor';

const NARROW = { width: 390, height: 844 };
let stage: Stage | undefined;
let url: string;
let browser: Browser;

beforeAll(async () => {
  stage = await Stage.open();
  url = stage.service.url;
  browser = stage.browser;
});

afterAll(() => stage?.close());

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
  await visitor.signUp('visits.daily');
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
  await visitor.signUp('does.quests');
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
