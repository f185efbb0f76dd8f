import { expect, test } from 'vitest';
import { carryOn, readAs } from './member';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const { service, browser } = await staged(Stage.open());

interface Post {
  id: string;
  body: string;
  author: { username: string };
  commentCount: number;
  reactions: Record<string, number>;
}

async function posts(): Promise<Post[]> {
  const list = (await service.read('/api/locker-room?limit=5')) as { posts: Post[] };
  return list.posts;
}

test('a fan signs up, chooses a club, posts, reacts and comments', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: { width: 390, height: 844 } });
  const { page } = visitor;
  await page.goto('/');
  await page.waitForURL('**/room');
  await page.getByRole('article').first().waitFor();
  await visitor.expectAccessible();

  await page.getByRole('link', { name: 'Sign in to post' }).click();
  await page.getByRole('link', { name: 'Create an account' }).click();
  // The page before has these fields too.
  await page.getByRole('heading', { name: 'Join the terrace' }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill('newcomer');
  await page.getByLabel('Password', { exact: true }).fill('a scarf on row 14');
  await visitor.expectAccessible();
  await page.getByRole('button', { name: 'Create account' }).click();

  await page.getByRole('heading', { name: 'Choose your club' }).waitFor();
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Choose your club');
  await page.getByRole('searchbox').fill('ajax');
  await visitor.expectAccessible();
  await page.getByRole('button', { name: 'Ajax' }).click();
  await page.waitForURL('**/room');
  await carryOn(page, 'Step done');

  const body = 'First match, first post';
  await page.getByLabel('Write to the room').fill(body);
  await page.getByRole('button', { name: 'Post', exact: true }).click();
  const own = page.getByRole('article').filter({ hasText: body });
  await own.waitFor();
  const [written] = await posts();
  expect(written).toMatchObject({ body, author: { username: 'newcomer' } });

  await own.getByRole('button', { name: 'React' }).click();
  const sent = page.waitForResponse('**/react');
  await own.getByRole('button', { name: 'Fire' }).click();
  const fire = own.getByRole('button', { name: 'Fire, 1', pressed: true });
  await fire.waitFor();
  await sent;
  expect((await posts())[0]?.reactions).toEqual({ fire: 1 });

  await own.getByRole('link', { name: '0 comments' }).click();
  await page.getByRole('heading', { name: 'No comments yet' }).waitFor();
  await page.getByLabel('Write a comment').fill('And the first comment');
  await page.getByRole('button', { name: 'Send comment' }).click();
  await page.getByRole('heading', { name: '1 comment' }).waitFor();
  await visitor.expectAccessible();
  expect((await posts())[0]?.commentCount).toBe(1);

  visitor.expectNoComplaints();
  await visitor.leave();
});

test('a newcomer needs four taps from the room to the own club', async () => {
  const viewport = { width: 390, height: 844 };
  const visitor = await Visitor.arrive(browser, service.url, { viewport, hasTouch: true, isMobile: true });
  const { page } = visitor;
  // As the browser sees them, on all pages.
  await page.addInitScript(() => {
    const count = (): void => {
      sessionStorage.setItem('taps', String(Number(sessionStorage.getItem('taps')) + 1));
    };
    document.addEventListener('pointerdown', count, { capture: true });
  });
  await page.goto('/');
  await page.getByRole('link', { name: 'Sign in to post' }).tap();
  await page.getByRole('link', { name: 'Create an account' }).tap();
  await page.getByRole('heading', { name: 'Join the terrace' }).waitFor();
  await page.getByLabel('Name', { exact: true }).tap();
  await page.keyboard.type('straight-in');
  // The keys "Next" and "Go" of a phone.
  await page.keyboard.press('Tab');
  await page.keyboard.type('a scarf on row 14');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Choose your club' }).waitFor();
  await page.getByRole('main').getByRole('listitem').first().getByRole('button').tap();
  await page.waitForURL('**/room');
  expect(await page.evaluate(() => sessionStorage.getItem('taps'))).toBe('4');
  const { favoriteTeam } = await readAs<{ favoriteTeam: unknown }>(page, '/api/user');
  expect(favoriteTeam).toMatchObject({ key: expect.any(String) as string });
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('Back and a reload return to where one was', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: { width: 390, height: 844 } });
  const { page } = visitor;
  await page.goto('/room');
  const post = page.getByRole('article').nth(9);
  const link = post.getByRole('link', { name: /comments?$/ });
  await link.scrollIntoViewIfNeeded();
  const anchor = (await post.getAttribute('data-anchor')) ?? '';
  const top = await post.evaluate((element) => element.getBoundingClientRect().top);
  expect(await page.evaluate(() => scrollY)).toBeGreaterThan(300);
  const isBack = (): Promise<unknown> =>
    page.waitForFunction(
      (before) => {
        const now = document.querySelector(`[data-anchor="${before.anchor}"]`);
        return now !== null && Math.abs(now.getBoundingClientRect().top - before.top) <= 2;
      },
      { anchor, top },
    );
  await link.click();
  await page.getByRole('heading', { name: 'Post', exact: true }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Locker room' }).waitFor();
  await isBack();
  await page.reload();
  await isBack();
  expect(new URL(page.url()).pathname).toBe('/room');
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('a session is found of which the browser noted nothing', async () => {
  const visitor = await Visitor.arrive(browser, service.url);
  const { page } = visitor;
  await visitor.signIn();
  await page.evaluate(() => localStorage.clear());
  // What a page opens last as a fan: after it no request is under way that the end of the session would refuse.
  const stream = page.waitForResponse((answer) => new URL(answer.url()).pathname === '/api/stream');
  await page.goto('/account');
  await stream;
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').last().waitFor();
  // Whether there is a session is asked once.
  await page.evaluate(() => localStorage.clear());
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto('/account');
  await expect.poll(() => page.evaluate(() => localStorage.getItem('terrace:session'))).toBe('guest');
  await page.reload();
  await page.getByRole('heading', { name: 'You', exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(asked.filter((path) => path === '/api/leagues')).toHaveLength(1);
  expect(asked).not.toContain('/api/user');
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('the profile of a fan is read once, while the scripts are loaded, and not after the session', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { serviceWorkers: 'block' });
  const { page } = visitor;
  await visitor.signIn();
  await page.goto('/quests');
  await page.getByRole('heading', { name: 'Quests', exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  const [profiles, scripts] = await page.evaluate(() => {
    const loaded = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    const named = (name: RegExp) => loaded.filter((one) => name.test(one.name));
    const scriptEnds = named(/\/assets\/index-.*\.js$/).map((one) => one.responseEnd);
    return [named(/\/api\/user$/).map((one) => one.startTime), scriptEnds];
  });
  expect(profiles).toHaveLength(1);
  // A script that had to run first would be there before.
  expect(profiles[0]).toBeLessThan(Math.max(...scripts));

  // The browser has the page of the fan, and is to read nothing as a guest that only a fan may read.
  await page.evaluate(async () => {
    await fetch('/api/logout', { method: 'POST' });
    localStorage.clear();
  });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto('/quests');
  await page.getByRole('heading', { name: 'Quests', exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(asked).not.toContain('/api/user');
  await visitor.leave();
});

test('a refused sign-in says why, keeps the name and announces it', async () => {
  const visitor = await Visitor.arrive(browser, service.url);
  const { page } = visitor;
  await page.goto('/sign-in');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('username');
  await page.getByLabel('Name', { exact: true }).fill('mia');
  await page.getByLabel('Password', { exact: true }).fill('not the password');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('The name or the password is wrong.').waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('mia');
  await visitor.expectAccessible();
  await visitor.leave();
});
