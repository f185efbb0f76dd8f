import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stage } from './stage';
import { Visitor } from './visitor';

let stage: Stage | undefined;

beforeAll(async () => {
  stage = await Stage.open(['--limit-account-writes', '1/3600']);
});

afterAll(() => stage?.close());

test('a reaction that the service refuses is taken back and announced', async () => {
  if (!stage) throw new Error('no stage');
  const { service, browser } = stage;
  const visitor = await Visitor.arrive(browser, service.url, { viewport: { width: 390, height: 844 } });
  const { page } = visitor;
  await page.goto('/sign-in');
  await page.getByLabel('Name', { exact: true }).fill('mia');
  await page.getByLabel('Password', { exact: true }).fill('terrace-demo');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('**/room');
  const post = page.getByRole('article').nth(1);
  await post.getByRole('button', { name: 'React' }).click();
  await post.getByRole('button', { name: 'Sad', exact: true }).click();
  await post.getByRole('button', { name: 'Sad, 1', pressed: true }).waitFor();

  const refused = page.waitForResponse(
    (answer) => answer.url().endsWith('/react') && answer.status() === 429,
  );
  await post.getByRole('button', { name: 'Sad, 1' }).click();
  await refused;
  await post.getByText('Your reaction was not kept.').waitFor();
  await post.getByRole('button', { name: 'Sad, 1', pressed: true }).waitFor();
  expect(await page.getByRole('alert').textContent()).toContain('That was too quick.');
  const { posts } = (await service.read('/api/locker-room?limit=2')) as {
    posts: { reactions: Record<string, number> }[];
  };
  expect(posts[1]?.reactions['sad']).toBe(1);
  await visitor.leave();
});
