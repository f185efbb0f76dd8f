import { expect, test } from 'vitest';
import { DISCOUNT, DISCOUNT_COST, claimed, claims, rewardOf } from './claimant';
import { COINS, begin, coins } from './collector';
import { isMarked, mark } from './marked';
import { readAs } from './member';
import { Profile, governed, loseAnswers, signIn } from './profile';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const NARROW = { width: 390, height: 844 };
/** What the fan has left after the claim. */
const LEFT = 5;

const { service, browser } = await staged(Stage.open());

test('a double-tapped claim whose answer is lost is one claim, whose code is shown and used once', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'claimant');
  await page.goto('/quests');
  await page.getByRole('link', { name: 'Rewards', exact: true }).click();
  await page.getByRole('link', { name: /10 % in the club shop/ }).click();
  await page.getByText(`You are ${String(DISCOUNT_COST - COINS)} coins short.`).waitFor();

  // Coins that come in open the reward on the page.
  await mark(page);
  service.giveCoins('claimant', DISCOUNT_COST - COINS + LEFT);
  const claim = page.getByRole('button', { name: `Claim for ${String(DISCOUNT_COST)} coins` });
  await expect.poll(() => claim.isEnabled()).toBe(true);
  const keepAnswers = await loseAnswers(page, '**/claim');
  await claim.dblclick();
  await page.getByText('Whether it was claimed is not known.').waitFor();
  await keepAnswers();
  expect(await claims(page)).toHaveLength(1);
  await visitor.expectAccessible();
  expect(await isMarked(page)).toBe(true);
  await page.reload();
  await claim.click();
  await page.getByRole('heading', { name: 'Ready to use' }).waitFor();
  const [own, ...others] = await claims(page);
  expect(others).toEqual([]);
  expect(new URL(page.url()).pathname).toBe(`/my-rewards/${own?.id ?? ''}`);
  const { balances } = await readAs<{ balances: { coins: number } }>(page, '/api/user');
  expect(balances.coins).toBe(LEFT);

  const code = page.getByText(own?.code ?? 'no code', { exact: true });
  expect(await code.count()).toBe(0);
  await page.getByRole('button', { name: 'Show the code' }).click();
  await code.waitFor();
  await visitor.expectAccessible();

  // Another tab shows what becomes of it, without a reload.
  const other = await visitor.another();
  await other.goto('/my-rewards');
  await other.getByRole('heading', { name: /^To use/ }).waitFor();
  await coins(other, LEFT).waitFor();
  await mark(other);
  await page.bringToFront();
  await page.getByRole('button', { name: 'I have used it' }).click();
  await page
    .getByRole('dialog', { name: 'Mark it as used?' })
    .getByRole('button', { name: 'Mark as used' })
    .click();
  await page.getByRole('heading', { name: 'Used', exact: true }).waitFor();
  await code.waitFor({ state: 'detached' });
  await other.getByRole('heading', { name: /^Used and over/ }).waitFor();
  expect(await isMarked(other)).toBe(true);
  const [used] = await claims(page);
  expect(used?.status).toBe('used');
  expect(used?.usedAt).toBeTruthy();

  // A season gives one.
  await page.getByRole('link', { name: 'See the reward' }).click();
  await page.getByText('You have claimed it this season.').waitFor();
  expect(await claim.isDisabled()).toBe(true);
  expect(new URL(page.url()).pathname).toBe(`/rewards/${await rewardOf(page, DISCOUNT)}`);
  await visitor.leave();
});

test('a reward says what it asks for, and leads to it', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'newcomer');
  await page.goto('/rewards');
  await page.getByRole('link', { name: /A handful of coins/ }).click();
  await page.getByText('Something that it asks for is missing.').waitFor();
  expect(await page.getByRole('button', { name: 'Claim', exact: true }).isDisabled()).toBe(true);
  const { rewards } = await readAs<{ rewards: { key: string; claimable: boolean; why: string }[] }>(
    page,
    '/api/rewards',
  );
  const reward = rewards.find(({ key }) => key === 'welcome-coins');
  expect(reward).toMatchObject({ claimable: false, why: 'requirement_not_met' });
  await page.getByRole('main').getByRole('link', { name: 'To the quest' }).click();
  await page.waitForURL('**/quests/*');
  await page.getByRole('heading', { level: 2, name: 'Steps' }).waitFor();
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('a code that was read once is there without the service, and says how old it is', async () => {
  const profile = new Profile(service.url);
  try {
    const page = await profile.open();
    await signIn(page);
    await governed(page);
    const { claim } = await claimed(page, service);
    const code = (await claims(page)).find(({ id }) => id === claim)?.code ?? 'no code';
    await page.goto(`/my-rewards/${claim}`);
    await page.getByRole('heading', { name: 'Ready to use' }).waitFor();
    const isKept = (): Promise<boolean> =>
      page.evaluate(async (path) => (await caches.match(path)) !== undefined, `/api/user/rewards/${claim}`);
    await expect.poll(isKept).toBe(true);
    await service.kill();

    await page.reload();
    const alert = page.getByRole('alert').filter({ hasText: 'There is no connection to the service.' });
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/This is from \d\d:\d\d/);
    expect(await page.getByText(code, { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show the code' }).click();
    await page.getByText(code, { exact: true }).waitFor();
  } finally {
    await profile.remove();
    await service.restart();
  }
});
