import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { focused, press } from './keyboard';
import { readAs } from './member';
import { Proxy } from './proxy';
import {
  QUESTIONS,
  Quizmaster,
  asked,
  enter,
  gained,
  locked,
  option,
  roundOf,
  standingsOf,
} from './quizmaster';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const CHECKED = 'The right answers are those of the start';
const LIVE = { seconds: 8, questions: QUESTIONS };
/** The job that publishes events looks ahead for rounds every quarter of a minute. */
const AHEAD_S = 22;
/** Where a test changes what requests come to: those of a service worker it does not see. */
const WITHOUT_WORKER = { viewport: { width: 390, height: 844 }, serviceWorkers: 'block' } as const;

const club = new Quizmaster();
afterAll(() => club.remove());
const { service, browser } = await staged(Stage.of(await club.serve()));

async function join(page: Page, id: string): Promise<void> {
  await page.goto(`/trivia/${id}`);
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByText('The first question comes here by itself.').waitFor();
}

/** What the API says that a fan got for the round. */
async function outcome(page: Page, id: string): Promise<{ score: number; award: number | null }> {
  const { me } = (await roundOf(page, id)).round;
  if (me === null) throw new Error('not joined');
  return { score: me.score, award: me.award };
}

/** Waits for the end, and compares what the page shows of it with the API. */
async function expectEnd(page: Page, id: string, rank: number): Promise<void> {
  await page.getByText('Your place', { exact: true }).waitFor();
  await expect.poll(async () => (await outcome(page, id)).award).not.toBeNull();
  const { score, award } = await outcome(page, id);
  expect(award).toBe(score);
  await page.getByText(`You got ${String(score)} points.`).waitFor();
  const { entries, me } = await standingsOf(page, id);
  expect(me).toMatchObject({ rank, score });
  const cells = page.getByRole('row').filter({ hasText: 'You' }).getByRole('cell');
  await expect.poll(() => cells.allTextContents()).toEqual([String(rank), String(score)]);
  await expect.poll(() => page.getByRole('row').count()).toBe(entries.length + 1);
  expect(await gained(page, 'Derby quiz')).toEqual([score]);
}

test('three fans play a live round: by events, over a lost connection, and without a stream by keyboard', async () => {
  const proxy = await Proxy.before(service.url);
  const ann = await enter(browser, service.url, 'ann', WITHOUT_WORKER);
  const bea = await enter(browser, proxy.url, 'bea');
  const cem = await enter(browser, service.url, 'cem', WITHOUT_WORKER);
  // Its stream never opens, and its clock is an hour ahead.
  await cem.page.route('**/api/stream**', (route) => route.abort());
  await cem.page.addInitScript(() => {
    const now = Date.now.bind(Date);
    Date.now = () => now() + 3_600_000;
  });
  const id = await club.live(service, { key: 'derby', title: 'Derby quiz', startsIn: AHEAD_S, ...LIVE });
  for (const { page } of [ann, bea, cem]) await join(page, id);
  const sent: string[] = [];
  ann.page.on('request', (request) => {
    if (request.url().endsWith('/answers')) sent.push(request.postData() ?? '');
  });
  const before = await roundOf(ann.page, id);
  expect(before.round).toMatchObject({ status: 'scheduled', playerCount: 3 });
  await ann.expectAccessible();

  // The first question. A second answer of the same fan, in another tab, changes nothing.
  await Promise.all([ann, bea, cem].map(({ page }) => asked(page, 1).waitFor()));
  await option(ann.page, '1892').click();
  await locked(ann.page, '1892');
  await option(ann.page, '1887').click({ force: true });
  const other = await ann.another();
  await other.goto(`/trivia/${id}`);
  await locked(other, '1892');
  await other.close();
  await option(bea.page, '1887').click();
  await locked(bea.page, '1887');
  await bea.page.reload();
  await locked(bea.page, '1887');
  await press(cem.page, /1892/);
  await locked(cem.page, '1892');
  await option(ann.page, '1892').filter({ hasText: '2 fans chose it' }).waitFor();
  await option(bea.page, '1892').filter({ hasText: 'Right' }).waitFor();
  await bea.page.getByRole('main').getByText('Wrong. Right is: 1892').waitFor();
  await ann.expectAccessible();

  // The second one, which one page can learn by an event alone. The answer of another fan gets lost on its way, and then
  // the connection.
  await ann.page.route(`**/api/trivia/${id}`, (route) => route.abort());
  await Promise.all([ann, bea, cem].map(({ page }) => asked(page, 2).waitFor()));
  // The answers of the first question had the focus.
  expect(await focused(cem.page)).toBe(QUESTIONS[1][0]);
  proxy.change((request) => (request.isLost = request.path.endsWith('/answers')));
  await option(bea.page, 'Three').click();
  await bea.page.getByText('Your answer is sent again').waitFor();
  proxy.change(() => undefined);
  await locked(bea.page, 'Three');
  expect((await roundOf(bea.page, id)).current?.answer?.optionId).toBeDefined();
  proxy.change((request) => (request.isLost = true));
  proxy.breakOff();
  await option(ann.page, 'Three').click();
  await press(cem.page, /Two/);
  await bea.page.getByRole('alert').filter({ hasText: 'There is no connection to the service.' }).waitFor();
  await asked(bea.page, 2).waitFor();

  // The third one.
  await Promise.all([ann, cem].map(({ page }) => asked(page, 3).waitFor()));
  proxy.change(() => undefined);
  await asked(bea.page, 3).waitFor();
  await option(bea.page, 'Noor').click();
  await locked(bea.page, 'Noor');
  await option(ann.page, 'Noor').click();
  await press(cem.page, /Sam/);
  await locked(cem.page, 'Sam');
  await locked(ann.page, 'Noor');
  await ann.page.unroute(`**/api/trivia/${id}`);

  await expectEnd(ann.page, id, 1);
  await expectEnd(bea.page, id, 2);
  await expectEnd(cem.page, id, 3);
  expect(sent).toHaveLength(QUESTIONS.length);
  const { entries } = await standingsOf(ann.page, id);
  expect(entries.map(({ user }) => user.username)).toEqual(['ann', 'bea', 'cem']);
  for (const { page } of [ann, bea, cem]) {
    expect((await standingsOf(page, id)).me?.answered).toBe(3);
  }
  await ann.expectAccessible();
  for (const visitor of [ann, bea, cem]) await visitor.leave();
  await proxy.close();
});

test('the proof of a round comes to the same as the program, and another right option is found out', async () => {
  const visitor = await enter(browser, service.url, 'dora');
  const { page } = visitor;
  const id = await club.live(service, {
    key: 'short',
    title: 'Short quiz',
    startsIn: 3,
    seconds: 5,
    questions: QUESTIONS.slice(0, 1),
  });
  await page.goto(`/trivia/${id}`);
  const { commitment } = (await roundOf(page, id)).round;
  await page.getByText(commitment, { exact: true }).first().waitFor();
  const check = page.getByRole('button', { name: 'Check the questions' });
  await check.click();
  await page.getByRole('main').getByText(CHECKED).waitFor();
  await page.getByText('The hash is the one this browser saw before the end').waitFor();
  const proof = await readAs<{
    salt: string;
    questions: { correctOptionId: string; options: { id: string }[] }[];
  }>(page, `/api/trivia/${id}/proof`);
  const said = service.verify(proof);
  expect(said).toContain('the proof is correct');
  expect(said).toContain(`${QUESTIONS[0][0]} ${QUESTIONS[0][1]}`);
  for (const text of [commitment, proof.salt]) await page.getByText(text, { exact: true }).first().waitFor();
  const shown = page.getByRole('listitem').filter({ hasText: QUESTIONS[0][0] });
  await expect.poll(() => shown.textContent()).toContain(QUESTIONS[0][1]);
  await visitor.expectAccessible();

  visitor.expectNoComplaints();
  await visitor.leave();

  const guest = await Visitor.arrive(browser, service.url, WITHOUT_WORKER);
  await guest.page.route('**/proof', async (route) => {
    const [question] = proof.questions;
    const wrong = question?.options.find((one) => one.id !== question.correctOptionId)?.id ?? '';
    const json = { ...proof, questions: [{ ...question, correctOptionId: wrong }] };
    expect(service.verify(json)).toMatch(/^wrong: /);
    await route.fulfill({ json });
  });
  await guest.page.goto(`/trivia/${id}`);
  await guest.page.getByRole('button', { name: 'Check the questions' }).click();
  await guest.page.getByRole('main').getByText('The right answers are not those of the start').waitFor();
  await guest.leave();
});
