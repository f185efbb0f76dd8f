import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectKept, mark, onceMoreIfDropped } from './marked';
import { governed } from './profile';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const POSTS = 300;

const { service, browser } = await staged(
  Stage.open(['--limit-account-writes', '100000/60'], {
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  }),
);

/** Writes posts of very different heights, so that no estimate of a height is right. */
async function write(page: Page): Promise<void> {
  for (let place = 0; place < POSTS; place += 1) {
    const body = `Post ${String(place)}\n`.repeat(1 + ((place * 7) % 12));
    const answer = await page.request.post('/api/locker-room', { data: { body } });
    expect(answer.status()).toBe(201);
  }
}

/** Reads on until the page holds all it can. */
async function readOn(page: Page): Promise<void> {
  await page.getByRole('article').first().waitFor();
  await page.waitForFunction((count) => {
    scrollTo(0, document.documentElement.scrollHeight);
    return document.querySelectorAll('article').length >= count;
  }, POSTS);
}

const topOf = (post: Locator): Promise<number> =>
  post.evaluate((element) => element.getBoundingClientRect().top);

/** Waits until a post stands where it was, and stays there. */
async function expectAt(page: Page, anchor: string, top: number): Promise<void> {
  await page.waitForFunction(
    ({ anchor: name, top: expected }) => {
      const found = document.querySelector(`[data-anchor="${name}"]`);
      return found !== null && Math.abs(found.getBoundingClientRect().top - expected) <= 2;
    },
    { anchor, top },
  );
  await page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        let frames = 30;
        const next = (): void => void (--frames > 0 ? requestAnimationFrame(next) : resolve());
        next();
      }),
  );
  expect(Math.abs((await topOf(page.locator(`[data-anchor="${anchor}"]`))) - top)).toBeLessThanOrEqual(2);
}

test('Back from a post and from a checkout leads to the same post among 300', onceMoreIfDropped, async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: { width: 390, height: 844 } });
  const { page } = visitor;
  await visitor.signIn();
  await write(page);
  await page.goto('/room');
  await readOn(page);

  const post = page.getByRole('article').nth(190);
  await post.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  const link = post.getByRole('link', { name: /comments?$/ });
  await link.scrollIntoViewIfNeeded();
  const anchor = (await post.getAttribute('data-anchor')) ?? '';
  const top = await topOf(post);
  const { posts } = (await service.read('/api/locker-room?limit=100')) as { posts: { id: string }[] };
  expect(posts.map(({ id }) => `post-${id}`)).not.toContain(anchor);

  await link.click();
  await page.getByRole('heading', { name: 'Post', exact: true }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Locker room' }).waitFor();
  await expect.poll(() => page.getByRole('article').count()).toBe(POSTS);
  await expectAt(page, anchor, top);

  // To the checkout of a purchase: another document.
  await page.getByRole('link', { name: 'Play', exact: true }).click();
  await page.getByRole('link', { name: 'Packs', exact: true }).click();
  await page.getByRole('link', { name: /Trophy room/ }).click();
  await governed(page);
  await mark(page);
  await page.getByRole('button', { name: /€4\.99/ }).click();
  await page.getByRole('heading', { name: 'Sandbox checkout' }).waitFor();
  for (const heading of ['Trophy room', 'Packs', 'Quests', 'Locker room']) {
    // A page that was kept is not loaded again.
    await page.goBack({ waitUntil: 'commit' });
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  }
  await expectKept(page);
  await expect.poll(() => page.getByRole('article').count()).toBe(POSTS);
  await expectAt(page, anchor, top);
  await visitor.leave();
});
