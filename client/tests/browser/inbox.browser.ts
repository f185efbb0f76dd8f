import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { begin } from './collector';
import { Fan } from './fan';
import { readAs } from './member';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const NARROW = { width: 390, height: 844 };
const { service, browser } = await staged(Stage.open(['--rate-limits', 'off']));

interface Row {
  id: string;
  kind: string;
  readAt: string | null;
}

/** The inbox of the page's fan, as the service has it. */
async function stored(page: Page): Promise<{ notifications: Row[]; unread: number }> {
  return readAs(page, '/api/notifications');
}

/** Posts as the fan of the page, and returns the post's id. */
async function post(page: Page, body: string): Promise<string> {
  const answer = await page.request.post('/api/locker-room', {
    data: { body },
    headers: { 'idempotency-key': crypto.randomUUID() },
  });
  expect(answer.status()).toBe(201);
  return ((await answer.json()) as { post: { id: string } }).post.id;
}

/** Opens the inbox of a fan to whom nothing happened, and waits until it follows. */
async function openInbox(page: Page): Promise<void> {
  await page.goto('/notifications');
  await page.getByRole('heading', { name: 'Nothing new' }).waitFor();
}

const newRows = (page: Page): Promise<number> => page.getByRole('button', { name: /^Mark as read/ }).count();

test('the inbox and its number follow in two tabs, and what is read in one is read in the other', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'poster');
  const other = await Fan.signUp(service.url, 'answerer');
  const id = await post(page, 'Who is going on Saturday?');
  const second = await visitor.another();
  const tabs = [page, second];
  const stream = page.waitForResponse((answer) => new URL(answer.url()).pathname === '/api/stream');
  await openInbox(page);
  await stream;
  await openInbox(second);
  await expect.poll(() => service.streams()).toBe(1);

  await other.comment(id, 'The whole row is');
  for (const tab of tabs) {
    await tab.getByRole('link', { name: /answerer commented on your post/ }).waitFor();
    await tab.getByRole('link', { name: 'Home 1 new' }).waitFor();
  }
  await visitor.expectAccessible();
  await other.react(id, 'clap');
  for (const tab of tabs) {
    await tab.getByRole('link', { name: /answerer reacted to your post/ }).waitFor();
    await tab.getByRole('link', { name: 'Home 2 new' }).waitFor();
  }
  expect((await stored(page)).notifications.map(({ kind }) => kind).sort()).toEqual(['comment', 'reaction']);

  await page.getByRole('button', { name: /^Mark as read: answerer reacted/ }).click();
  for (const tab of tabs) {
    await expect.poll(() => newRows(tab)).toBe(1);
    await tab.getByRole('link', { name: 'Home 1 new' }).waitFor();
  }
  expect((await stored(page)).unread).toBe(1);

  await second.getByRole('button', { name: 'Mark all as read' }).click();
  for (const tab of tabs) {
    await expect.poll(() => newRows(tab)).toBe(0);
    await tab.getByRole('link', { name: 'Home', exact: true }).waitFor();
  }
  const after = await stored(page);
  expect(after.unread).toBe(0);
  expect(after.notifications.every(({ readAt }) => readAt !== null)).toBe(true);

  // A group that changed is new again; opening it reads it.
  await other.comment(id, 'And the one behind');
  await page.getByRole('link', { name: /answerer commented on your post/ }).click();
  await page.waitForURL(`**/posts/${id}`);
  await expect.poll(async () => (await stored(page)).unread).toBe(0);
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('a fan chooses what comes, and when it is quiet', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'chooser');
  await page.goto('/settings');
  await page.getByRole('link', { name: /^Notifications/ }).click();
  await page.waitForURL('**/settings/notifications');
  const reactions = page.getByRole('group', { name: 'Reactions to your posts' });
  const put = (): Promise<unknown> =>
    page.waitForResponse((answer) => answer.request().method() === 'PUT' && answer.ok());
  let done = put();
  await reactions.getByRole('switch', { name: 'In the inbox' }).click();
  await done;
  done = put();
  await page.getByRole('switch', { name: 'Quiet hours' }).click();
  await done;
  done = put();
  await page.getByLabel('From', { exact: true }).fill('23:15');
  await page.getByLabel('To', { exact: true }).focus();
  await done;
  const { kinds, quietHours } = await readAs<{
    kinds: Record<string, { inApp: boolean; push: boolean }>;
    quietHours: object;
  }>(page, '/api/notifications/preferences');
  expect(kinds['reaction']).toEqual({ inApp: false, push: true });
  expect(kinds['comment']).toEqual({ inApp: true, push: true });
  expect(quietHours).toEqual({ from: '23:15', to: '07:00' });
  await page.reload();
  await expect.poll(() => page.getByLabel('From', { exact: true }).inputValue()).toBe('23:15');
  expect(await reactions.getByRole('switch', { name: 'In the inbox' }).isChecked()).toBe(false);
  await visitor.expectAccessible();
  visitor.expectNoComplaints();
  await visitor.leave();
});
