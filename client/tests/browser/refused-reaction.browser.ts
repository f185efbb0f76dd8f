import { expect, test } from 'vitest';
import { Fan } from './fan';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const { service, browser } = await staged(Stage.open(['--limit-account-writes', '1/3600']));

test('a reaction that the service refuses is taken back and announced', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: { width: 390, height: 844 } });
  const { page } = visitor;
  const id = await (await Fan.signUp(service.url, 'scorer')).post('Own goal');
  await visitor.signIn();
  const post = page.locator(`[data-anchor="post-${id}"]`);
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
  const { post: kept } = (await service.read(`/api/locker-room/${id}`)) as {
    post: { reactions: Record<string, number> };
  };
  expect(kept.reactions).toEqual({ sad: 1 });
  await visitor.leave();
});
