import { afterAll, expect, test } from 'vitest';
import { Fan, PASSWORD } from './fan';
import { focused, press, tabTo } from './keyboard';
import { Profile, governed, signIn } from './profile';
import { QUESTIONS, Quizmaster, asked, enter, gained, locked, option, roundOf } from './quizmaster';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const club = new Quizmaster();
afterAll(() => club.remove());
const { service, browser } = await staged(Stage.of(await club.serve()));

/** Enough questions for two of a fan. */
const POOL = [
  ...QUESTIONS,
  ...QUESTIONS.map(([text, ...options]) => [`Again: ${text}`, ...options] as const),
];
const RIGHTS = new Map<string, string>(POOL.map(([text, right]) => [text, right]));

test('a solo round is found and played by keyboard, resumed after a reload, and gives its points', async () => {
  const visitor = await enter(browser, service.url, 'emil');
  const { page } = visitor;
  const id = await club.solo(service, 2, {
    key: 'warm-up',
    title: 'Warm-up',
    startsIn: 0,
    seconds: 120,
    questions: POOL,
  });
  await page.goto('/quests');
  await press(page, 'Trivia');
  await page.waitForURL('**/trivia');
  await page.getByRole('link', { name: /Warm-up/ }).waitFor();
  await visitor.expectAccessible();
  await press(page, /Warm-up/);
  await page.getByRole('button', { name: 'Join', exact: true }).waitFor();
  await press(page, 'Join');
  await page.getByRole('button', { name: 'Start with question 1' }).waitFor();
  await press(page, 'Start with question 1');
  await page.getByRole('list', { name: 'Answers' }).waitFor();
  const first = (await roundOf(page, id)).current?.question;
  expect(await focused(page)).toBe(first?.text);
  await visitor.expectAccessible();
  await page.reload();
  await page.getByRole('heading', { name: first?.text ?? '' }).waitFor();
  const right = RIGHTS.get(first?.text ?? '') ?? '';
  await tabTo(page, new RegExp(right));
  await page.keyboard.press('Enter');
  await option(page, right).filter({ hasText: 'Your answer' }).waitFor();
  await expect.poll(() => page.getByRole('status').first().textContent()).toMatch(/^Right: \d+ points/);
  await press(page, 'Next question');
  await expect.poll(async () => (await roundOf(page, id)).current?.question.number).toBe(2);
  const second = (await roundOf(page, id)).current?.question;
  await page.getByRole('heading', { name: second?.text ?? '' }).waitFor();
  const wrong = second?.options.find(({ text }) => text !== RIGHTS.get(second.text))?.text ?? '';
  await press(page, new RegExp(wrong));
  await page.getByText('You have had all questions.').waitFor();
  await page.getByText('You got 15 points.').waitFor();
  const { round } = await roundOf(page, id);
  expect(round.me).toMatchObject({ answered: 2, award: 15 });
  expect(round.me?.score).toBeGreaterThanOrEqual(50);
  await page.getByText('Place 1 of 1').waitFor();
  expect(await gained(page, 'Warm-up')).toEqual([15]);

  await page.goto('/my-rounds');
  const row = page.getByRole('link', { name: /Warm-up/ });
  await row.filter({ hasText: '2 of 2 answered. You got 15 points.' }).waitFor();
  await visitor.expectAccessible();
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('a guest watches a round, and comes back to it from the sign-in to play', async () => {
  await Fan.signUp(service.url, 'frieda');
  const id = await club.live(service, {
    key: 'late',
    title: 'Late quiz',
    startsIn: 4,
    seconds: 90,
    questions: QUESTIONS,
  });
  const visitor = await Visitor.arrive(browser, service.url, { viewport: { width: 320, height: 640 } });
  const { page } = visitor;
  await page.goto('/trivia');
  await page.getByRole('link', { name: /Late quiz/ }).click();
  await asked(page, 1).waitFor();
  await page.evaluate(() => (document.documentElement.style.fontSize = '200%'));
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await visitor.expectAccessible();
  expect(await option(page, '1892').getAttribute('aria-disabled')).toBe('true');
  await page.getByRole('link', { name: 'Sign in to play' }).click();
  await page.getByLabel('Name', { exact: true }).fill('frieda');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).last().click();
  await page.waitForURL(`**/trivia/${id}`);
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await option(page, '1892').click();
  await locked(page, '1892');
  expect((await roundOf(page, id)).round.me?.answered).toBe(1);
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('without the service the rounds and the last one are there with their age', async () => {
  const profile = new Profile(service.url);
  try {
    await Fan.signUp(service.url, 'greta');
    const id = await club.solo(service, 1, {
      key: 'kept',
      title: 'Kept quiz',
      startsIn: 0,
      seconds: 60,
      questions: QUESTIONS,
    });
    const page = await profile.open();
    await signIn(page, 'greta', PASSWORD);
    await governed(page);
    const isKept = (path: string): Promise<boolean> =>
      page.evaluate(async (name) => (await caches.match(name)) !== undefined, path);
    await page.goto('/trivia');
    await page.getByRole('link', { name: /Kept quiz/ }).click();
    await page.getByRole('button', { name: 'Join', exact: true }).click();
    await page.getByRole('button', { name: 'Start with question 1' }).waitFor();
    await expect.poll(() => isKept(`/api/trivia/${id}`)).toBe(true);
    await page.goto('/my-rounds');
    await page.getByRole('link', { name: /Kept quiz/ }).waitFor();
    await expect.poll(() => isKept('/api/user/rounds?limit=25')).toBe(true);
    await service.kill();

    await page.goto('/trivia');
    const alert = page.getByRole('alert').filter({ hasText: /This is from \d\d:\d\d/ });
    await alert.first().waitFor();
    await page.getByRole('link', { name: /Kept quiz/ }).click();
    await page.getByRole('heading', { name: 'Kept quiz', level: 1 }).waitFor();
    await alert.waitFor();
    await page.getByText('SHA-256 of the questions and right answers').waitFor();
    await page.goto('/my-rounds');
    await alert.waitFor();
    await page.getByRole('link', { name: /Kept quiz/ }).waitFor();
  } finally {
    await profile.remove();
    await service.restart();
  }
});
