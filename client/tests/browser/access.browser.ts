import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { RouteName } from '../../src/lib/router/paths';
import { focused, press, tabTo } from './keyboard';
import { addresses, inTwoTabs, open, settle } from './pages';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor, expectAccessible } from './visitor';

const { service, browser } = await staged(Stage.open());

test('a fan signs in, posts and deletes the post by keyboard alone', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: { width: 1280, height: 800 } });
  const { page } = visitor;
  await page.goto('/room');
  await page.getByRole('article').first().waitFor();
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN');
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Search');
  await page.reload();
  await page.getByRole('article').first().waitFor();
  await tabTo(page, 'Sign in');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Back in the stand' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.type('mia');
  await page.keyboard.press('Tab');
  await page.keyboard.type('terrace-demo');
  await page.keyboard.press('Enter');
  // The start page, where the visit of the day completes a milestone.
  await page.getByRole('dialog', { name: '7 days in a row' }).waitFor();
  await page.keyboard.press('Escape');
  await press(page, /Locker room$/);
  await page.waitForURL('**/room');

  const field = page.getByLabel('Write to the room');
  await field.focus();
  await page.keyboard.type('By keyboard');
  await page.keyboard.press('Control+Enter');
  const own = page.getByRole('article').filter({ hasText: 'By keyboard' });
  await own.waitFor();
  await expect
    .poll(() => page.getByRole('status').first().textContent())
    .toContain('Your post is in the room.');

  const menu = 'More about the post by Mia Carter';
  await own.getByRole('button', { name: menu }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'This post' }).waitFor();
  expect(await focused(page)).toBe('Edit');
  await tabTo(page, 'Delete post');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Delete this post?' });
  await dialog.waitFor();
  await visitor.expectAccessible();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  expect(await focused(page)).toBe(menu);
  await page.keyboard.press('Enter');
  await tabTo(page, 'Delete post');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Delete post' }).focus();
  await page.keyboard.press('Enter');
  await own.waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.matches('[role=feed] > :first-child article'));
  const { posts } = (await service.read('/api/locker-room?limit=1')) as { posts: { body: string }[] };
  expect(posts[0]?.body).not.toBe('By keyboard');
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('the forms read as they look', async () => {
  const visitor = await Visitor.arrive(browser, service.url);
  const { page } = visitor;
  await page.goto('/sign-up');
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await page.locator('main').ariaSnapshot()).toMatchInlineSnapshot(`
    "- main:
      - heading "Join the terrace" [level=1]
      - paragraph: A name and a password, nothing else. Then choose your club.
      - text: Name
      - textbox "Name"
      - paragraph: Letters, digits, dot, dash. Others find you under it.
      - text: Password
      - textbox "Password"
      - button "Show"
      - paragraph: At least 8 characters.
      - text: What others read (optional)
      - textbox "What others read (optional)"
      - button "Create account"
      - paragraph:
        - text: Already one of us?
        - link "Sign in":
          - /url: /sign-in"
  `);
  await page.goto('/sign-in');
  await page.getByRole('heading', { name: 'Back in the stand' }).waitFor();
  expect(await page.locator('main').ariaSnapshot()).toMatchInlineSnapshot(`
    "- main:
      - heading "Back in the stand" [level=1]
      - paragraph: Sign in to post, react and collect points.
      - text: Name
      - textbox "Name"
      - text: Password
      - textbox "Password"
      - button "Show"
      - button "Sign in"
      - paragraph:
        - text: New here?
        - link "Create an account":
          - /url: /sign-up"
  `);
  await visitor.leave();
});

/** Other views of some pages. */
const VIEWS: [RouteName, string][] = [
  ['room', '/room?scope=team'],
  ['room', '/room?scope=trending'],
  ['search', '/search?q=ar'],
  ['balances', '/balances?history=points'],
];

const PHONE = { width: 390, height: 844 };
const WIDE = { width: 1280, height: 800 };
const SMALL = { width: 320, height: 640 };

/** On a phone in light colours, and readable in dark ones. */
async function expectPhone(page: Page): Promise<void> {
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectAccessible(page, { runOnly: ['color-contrast'] });
}

/** On a wide screen in dark colours, and readable in light ones. */
async function expectWide(page: Page): Promise<void> {
  await page.setViewportSize(WIDE);
  await settle(page);
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'light' });
  await expectAccessible(page, { runOnly: ['color-contrast'] });
}

/** With large text on a small screen, where nothing is cut off. */
async function expectSmall(page: Page): Promise<void> {
  await page.setViewportSize(SMALL);
  await page.evaluate(() => (document.documentElement.style.fontSize = '200%'));
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow, page.url()).toBeLessThanOrEqual(0);
  await expectAccessible(page, { rules: { 'color-contrast': { enabled: false } } });
  await page.evaluate(() => (document.documentElement.style.fontSize = ''));
}

/** Checks a page that is open on the phone, and leaves it there. */
async function expectEverywhere(page: Page): Promise<void> {
  await expectPhone(page);
  await expectWide(page);
  await expectSmall(page);
  await page.setViewportSize(PHONE);
}

describe('every page is accessible on a phone, a wide and a small screen, light and dark', () => {
  let pages: readonly [RouteName, string][] | undefined;

  async function check(what: (visitor: Visitor, pages: readonly [RouteName, string][]) => Promise<void>) {
    const options = { colorScheme: 'light', viewport: PHONE, reducedMotion: 'reduce' } as const;
    const visitor = await Visitor.arrive(browser, service.url, options);
    await visitor.signIn();
    pages ??= [...(await addresses(visitor.page, service)), ...VIEWS];
    await what(visitor, pages);
    visitor.expectNoComplaints();
    await visitor.leave();
  }

  // Each part has the time of a test: a slow machine needs minutes for all of them.
  test.for([1, 2, 3, 4])('part %i of 4', (part) =>
    check(async (visitor, all) => {
      const own = all.filter((_, index) => index % 4 === part - 1);
      expect(own.length).toBeGreaterThan(10);
      await inTwoTabs(visitor, own, async (tab, [name, address]) => {
        await open(tab, name, address);
        await expectEverywhere(tab);
      });
    }),
  );

  test('an opened pack', () =>
    check(async ({ page }, all) => {
      await page.goto(all.find(([name]) => name === 'copy')?.[1] ?? '');
      await page.getByRole('button', { name: 'Open the pack' }).click();
      await page.getByRole('button', { name: 'Compute it again' }).click();
      await page.getByRole('main').getByText('The draw is true').waitFor();
      await expectEverywhere(page);
    }));
});
