import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { DISCOUNT, DISCOUNT_COST, claims, rewardOf } from './claimant';
import { PRICE, begin, copies } from './collector';
import type { Hand } from './hand';
import { readAs } from './member';
import { roundOf } from './quizmaster';
import { HOME, orders } from './shopper';
import { spins } from './spinner';
import type { Stage } from './stage';
import { Visitor } from './visitor';

/** Opens a page and waits for its heading and rows. */
async function open(page: Page, path: string, heading: string): Promise<void> {
  await page.goto(path);
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  await page.waitForFunction(() => document.querySelector('main .skeleton') === null);
}

/** Tests that a fan does everything that Terrace is for with this hand, on the service of the stage. */
export function journey(hand: Hand, stage: () => Stage): void {
  test(`${hand.name} a newcomer signs up, chooses a club, posts, follows and collects the visit`, async () => {
    const { browser, service } = stage();
    const visitor = await Visitor.arrive(browser, service.url, hand.options);
    const { page } = visitor;
    await open(page, '/sign-up', 'Join the terrace');
    await hand.write(page, 'Name', 'all.alone');
    await hand.write(page, 'Password', 'a scarf on row 14');
    await hand.press(page, 'Create account');
    await page.getByRole('heading', { name: 'Choose your club' }).waitFor();
    await hand.press(page, /^Ajax/);
    await page.waitForURL('**/room');
    await hand.carryOn(page, 'Step done');

    await page.getByRole('article').first().waitFor();
    await hand.write(page, 'Write to the room', 'Without a mouse');
    await hand.press(page, 'Post');
    await page.getByRole('article').filter({ hasText: 'Without a mouse' }).waitFor();
    const newest = async (): Promise<string | undefined> => {
      const { posts } = await readAs<{ posts: { body: string }[] }>(page, '/api/locker-room?limit=1');
      return posts[0]?.body;
    };
    // Another process hears of it a moment later.
    await expect.poll(newest).toBe('Without a mouse');

    await open(page, '/fans/toonarmytess', 'Tess Robson');
    const followed = page.waitForResponse('**/api/user/follow');
    await hand.press(page, /^Follow Tess Robson/);
    await followed;
    const { following } = await readAs<{ following: { user: { username: string } }[] }>(
      page,
      '/api/user/following',
    );
    expect(following.map(({ user }) => user.username)).toEqual(['toonarmytess']);
    await hand.carryOn(page, 'Step done');

    await open(page, '/quests', 'Quests');
    await hand.press(page, 'Collect today’s points');
    await hand.carryOn(page, 'Today’s visit');
    await page.getByText('Today is collected.').waitFor();
    const visit = await readAs<{ visitedToday: boolean }>(page, '/api/quests/daily-visit');
    expect(visit.visitedToday).toBe(true);
    visitor.expectNoComplaints();
    await visitor.leave();
  });

  test(`${hand.name} a fan does a step of a quest, buys a pack and opens it`, async () => {
    const { browser, service } = stage();
    const visitor = await Visitor.arrive(browser, service.url, hand.options);
    const { page } = visitor;
    await begin(page, service, 'collector');
    await open(page, '/quests', 'Quests');
    await hand.press(page, /^Match day/);
    await page.getByRole('heading', { name: 'Match day', level: 1 }).waitFor();
    await hand.press(page, 'Start this quest');
    await page.getByRole('button', { name: 'I have done it' }).first().waitFor();
    await hand.press(page, 'I have done it');
    await page.getByRole('dialog').getByText('+5').waitFor();
    await hand.carryOn(page, /./);
    const { quests } = await readAs<{ quests: { key: string; steps: { completedAt: string | null }[] }[] }>(
      page,
      '/api/quests',
    );
    const steps = quests.find(({ key }) => key === 'matchday')?.steps ?? [];
    expect(steps.filter(({ completedAt }) => completedAt !== null)).toHaveLength(1);

    await open(page, '/packs', 'Packs');
    await hand.press(page, /^Away days/);
    await page.getByRole('heading', { name: 'Away days', level: 1 }).waitFor();
    const buy = `Buy for ${String(PRICE)} coins`;
    await page.getByRole('button', { name: buy }).waitFor();
    await hand.press(page, buy);
    await page.waitForURL('**/my-packs');
    await page.getByRole('link', { name: 'Open', exact: true }).waitFor();
    await hand.press(page, 'Open');
    await page.getByRole('button', { name: 'Open the pack' }).waitFor();
    await hand.press(page, 'Open the pack');
    await page.getByRole('link', { name: 'To my album' }).waitFor();
    expect((await copies(page)).map(({ status }) => status)).toEqual(['opened']);
    visitor.expectNoComplaints();
    await visitor.leave();
  });

  test(`${hand.name} a fan chooses a size, has it sent and pays`, async () => {
    const { browser, service } = stage();
    const visitor = await Visitor.arrive(browser, service.url, hand.options);
    const { page } = visitor;
    await begin(page, service, 'shopper');
    await open(page, '/shop', 'Shop');
    await page.getByRole('link', { name: /Home shirt/ }).waitFor();
    await hand.press(page, /^Home shirt/);
    await page.getByRole('heading', { name: 'Home shirt', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Add to cart' }).waitFor();
    await hand.takeSecond(page, /^S \d+ left/, /^M \d+ left/);
    await hand.press(page, 'One Home shirt more');
    await hand.press(page, 'Add to cart');
    await page.getByText('2 in your cart.').waitFor();
    await hand.press(page, 'To the cart');
    await page.getByRole('link', { name: 'To checkout' }).waitFor();
    await hand.press(page, 'One Home shirt fewer');
    await page.getByRole('link', { name: 'Cart (1)' }).waitFor();
    await hand.press(page, 'To checkout');
    await page.getByRole('button', { name: 'Send it there' }).waitFor();
    for (const [label, text] of [
      ['Name of the recipient', HOME.name],
      ['Street and number', HOME.line1],
      ['Postal code', HOME.postalCode],
      ['City', HOME.city],
    ] as const) {
      await hand.write(page, label, text);
    }
    await hand.choose(page, /^Country/, 'Germany');
    await hand.press(page, 'Send it there');
    await page.getByRole('button', { name: 'Change' }).waitFor();
    await hand.press(page, /^Order and pay/);
    await page.waitForURL('**/sandbox/checkout/**');
    await hand.press(page, 'Approve');
    await page.getByRole('heading', { name: 'Paid, on its way' }).waitFor();
    expect(await orders(page)).toMatchObject([{ status: 'paid', lines: [{ quantity: 1 }] }]);
    visitor.expectNoComplaints();
    await visitor.leave();
  });

  test(`${hand.name} a fan spins the wheel and plays trivia`, async () => {
    const { browser, service } = stage();
    const visitor = await Visitor.arrive(browser, service.url, hand.options);
    const { page } = visitor;
    await begin(page, service, 'gamer');
    await open(page, '/quests', 'Quests');
    await hand.press(page, 'Wheels');
    await page.getByRole('link', { name: /^Daily wheel/ }).waitFor();
    await hand.press(page, /^Daily wheel/);
    await page.getByRole('button', { name: 'Spin, it’s free today' }).waitFor();
    await hand.press(page, 'Spin, it’s free today');
    await page.getByText('The draw is true').waitFor();
    expect(await spins(page)).toHaveLength(1);

    await open(page, '/quests', 'Quests');
    await hand.press(page, 'Trivia');
    await page
      .getByRole('link', { name: /Warm-up/ })
      .first()
      .waitFor();
    await hand.press(page, /Warm-up/);
    await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await hand.press(page, 'Join');
    await page.getByRole('button', { name: 'Start with question 1' }).waitFor();
    await hand.press(page, 'Start with question 1');
    await page.getByRole('list', { name: 'Answers' }).waitFor();
    await hand.answer(page);
    await page.getByRole('button', { name: 'Next question' }).waitFor();
    expect((await roundOf(page, id)).round.me?.answered).toBe(1);
    visitor.expectNoComplaints();
    await visitor.leave();
  });

  test(`${hand.name} a fan claims a reward and shows its code`, async () => {
    const { browser, service } = stage();
    const visitor = await Visitor.arrive(browser, service.url, hand.options);
    const { page } = visitor;
    await begin(page, service, 'claimer');
    service.giveCoins('claimer', DISCOUNT_COST);
    await open(page, `/rewards/${await rewardOf(page, DISCOUNT)}`, '10 % in the club shop');
    const claim = `Claim for ${String(DISCOUNT_COST)} coins`;
    await page.getByRole('button', { name: claim }).waitFor();
    await hand.press(page, claim);
    await page.getByRole('heading', { name: 'Ready to use' }).waitFor();
    await hand.press(page, 'Show the code');
    const [own, ...others] = await claims(page);
    expect(others).toEqual([]);
    await page.getByText(own?.code ?? 'no code', { exact: true }).waitFor();
    visitor.expectNoComplaints();
    await visitor.leave();
  });
}
