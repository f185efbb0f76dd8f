import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PRICE, begin, copies } from './collector';
import { press, tabTo } from './keyboard';
import { readAs } from './member';
import { roundOf } from './quizmaster';
import { HOME, orders } from './shopper';
import { spins } from './spinner';
import { Stage } from './stage';
import { Visitor } from './visitor';

const WIDE = { width: 1280, height: 800 };

let stage: Stage | undefined;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage?.close());

/** Opens a page and waits for its heading and rows. */
async function open(page: Page, path: string, heading: string): Promise<void> {
  await page.goto(path);
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  await page.waitForFunction(() => document.querySelector('main .skeleton') === null);
}

async function arrive(): Promise<Visitor> {
  if (!stage) throw new Error('no stage');
  return Visitor.arrive(stage.browser, stage.service.url, { viewport: WIDE, reducedMotion: 'reduce' });
}

test('by keyboard alone a newcomer signs up, chooses a club, posts, follows and collects the visit', async () => {
  const visitor = await arrive();
  const { page } = visitor;
  await open(page, '/sign-up', 'Join the terrace');
  await tabTo(page, 'Name');
  await page.keyboard.type('keys.only');
  await tabTo(page, 'Password');
  await page.keyboard.type('a scarf on row 14');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Choose your club' }).waitFor();
  await press(page, /^Ajax/);
  await page.waitForURL('**/room');
  await page.getByRole('dialog', { name: 'Step done' }).waitFor();
  await page.keyboard.press('Escape');

  await page.getByRole('article').first().waitFor();
  await tabTo(page, 'Write to the room');
  await page.keyboard.type('Without a mouse');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('article').filter({ hasText: 'Without a mouse' }).waitFor();
  const { posts } = await readAs<{ posts: { body: string }[] }>(page, '/api/locker-room?limit=1');
  expect(posts[0]?.body).toBe('Without a mouse');

  await open(page, '/fans/toonarmytess', 'Tess Robson');
  const followed = page.waitForResponse('**/api/user/follow');
  await press(page, /^Follow Tess Robson/);
  await followed;
  const { following } = await readAs<{ following: { user: { username: string } }[] }>(
    page,
    '/api/user/following',
  );
  expect(following.map(({ user }) => user.username)).toEqual(['toonarmytess']);
  await page.getByRole('dialog', { name: 'Step done' }).waitFor();
  await page.keyboard.press('Escape');

  await open(page, '/quests', 'Quests');
  await press(page, 'Collect today’s points');
  await page.getByRole('dialog', { name: 'Today’s visit' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('Today is collected.').waitFor();
  const visit = await readAs<{ visitedToday: boolean }>(page, '/api/quests/daily-visit');
  expect(visit.visitedToday).toBe(true);
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('by keyboard alone a fan does a step of a quest, buys a pack and opens it', async () => {
  const visitor = await arrive();
  const { page } = visitor;
  if (!stage) throw new Error('no stage');
  await begin(page, stage.service, 'collector');
  await open(page, '/quests', 'Quests');
  await press(page, /^Match day/);
  await page.getByRole('heading', { name: 'Match day', level: 1 }).waitFor();
  await press(page, 'Start this quest');
  await page.getByRole('button', { name: 'I have done it' }).first().waitFor();
  await press(page, 'I have done it');
  await page.getByRole('dialog').getByText('+5').waitFor();
  await page.keyboard.press('Escape');
  const { quests } = await readAs<{ quests: { key: string; steps: { completedAt: string | null }[] }[] }>(
    page,
    '/api/quests',
  );
  const steps = quests.find(({ key }) => key === 'matchday')?.steps ?? [];
  expect(steps.filter(({ completedAt }) => completedAt !== null)).toHaveLength(1);

  await open(page, '/packs', 'Packs');
  await press(page, /^Away days/);
  await page.getByRole('heading', { name: 'Away days', level: 1 }).waitFor();
  const buy = `Buy for ${String(PRICE)} coins`;
  await page.getByRole('button', { name: buy }).waitFor();
  await press(page, buy);
  await page.waitForURL('**/my-packs');
  await page.getByRole('link', { name: 'Open', exact: true }).waitFor();
  await press(page, 'Open');
  await page.getByRole('button', { name: 'Open the pack' }).waitFor();
  await press(page, 'Open the pack');
  await page.getByRole('link', { name: 'To my album' }).waitFor();
  expect((await copies(page)).map(({ status }) => status)).toEqual(['opened']);
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('by keyboard alone a fan chooses a size, has it sent and pays', async () => {
  const visitor = await arrive();
  const { page } = visitor;
  if (!stage) throw new Error('no stage');
  await begin(page, stage.service, 'shopper');
  await open(page, '/shop', 'Shop');
  await page.getByRole('link', { name: /Home shirt/ }).waitFor();
  await press(page, /^Home shirt/);
  await page.getByRole('heading', { name: 'Home shirt', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Add to cart' }).waitFor();
  await tabTo(page, /^S \d+ left/);
  await page.keyboard.press('ArrowRight');
  await press(page, 'One Home shirt more');
  await press(page, 'Add to cart');
  await page.getByText('2 in your cart.').waitFor();
  await press(page, 'To the cart');
  await page.getByRole('link', { name: 'To checkout' }).waitFor();
  await press(page, 'One Home shirt fewer');
  await page.getByRole('link', { name: 'Cart (1)' }).waitFor();
  await press(page, 'To checkout');
  await page.getByRole('button', { name: 'Send it there' }).waitFor();
  for (const [label, text] of [
    ['Name of the recipient', HOME.name],
    ['Street and number', HOME.line1],
    ['Postal code', HOME.postalCode],
    ['City', HOME.city],
  ] as const) {
    await tabTo(page, label);
    await page.keyboard.type(text);
  }
  await tabTo(page, /^Country/);
  await page.keyboard.type('Ger');
  await press(page, 'Send it there');
  await page.getByRole('button', { name: 'Change' }).waitFor();
  await press(page, /^Order and pay/);
  await page.waitForURL('**/sandbox/checkout/**');
  await page.getByRole('button', { name: 'Approve' }).press('Enter');
  await page.getByRole('heading', { name: 'Paid, on its way' }).waitFor();
  expect(await orders(page)).toMatchObject([{ status: 'paid', lines: [{ quantity: 1 }] }]);
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('by keyboard alone a fan spins the wheel and plays trivia', async () => {
  const visitor = await arrive();
  const { page } = visitor;
  if (!stage) throw new Error('no stage');
  await begin(page, stage.service, 'gamer');
  await open(page, '/quests', 'Quests');
  await press(page, 'Wheels');
  await page.getByRole('link', { name: /^Daily wheel/ }).waitFor();
  await press(page, /^Daily wheel/);
  await page.getByRole('button', { name: 'Spin, it’s free today' }).waitFor();
  await press(page, 'Spin, it’s free today');
  await page.getByText('The draw is true').waitFor();
  expect(await spins(page)).toHaveLength(1);

  await open(page, '/quests', 'Quests');
  await press(page, 'Trivia');
  await page
    .getByRole('link', { name: /Warm-up/ })
    .first()
    .waitFor();
  await press(page, /Warm-up/);
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  await press(page, 'Join');
  await page.getByRole('button', { name: 'Start with question 1' }).waitFor();
  await press(page, 'Start with question 1');
  await page.getByRole('list', { name: 'Answers' }).waitFor();
  // The question has the focus: its first answer is the next stop.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Next question' }).waitFor();
  expect((await roundOf(page, id)).round.me?.answered).toBe(1);
  visitor.expectNoComplaints();
  await visitor.leave();
});
