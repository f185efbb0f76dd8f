import type { Page } from 'playwright-core';
import type { RouteName } from '../../src/lib/router/paths';

/** What a visitor does on a page, before the way to another one. */
export type Doing = (page: Page) => Promise<void>;

const tap =
  (name: string | RegExp): Doing =>
  (page) =>
    page.getByRole('main').getByRole('button', { name }).first().click();

const follow =
  (name: string | RegExp): Doing =>
  (page) =>
    page.getByRole('main').getByRole('link', { name }).first().click();

const write =
  (field: string, text: string): Doing =>
  async (page) => {
    await page.getByLabel(field, { exact: true }).click();
    await page.keyboard.type(text);
  };

/** The pages that are measured as a fan, and what is done on each. */
export const JOURNEYS: Partial<Record<RouteName, Doing[]>> = {
  room: [tap('React'), write('Write to the room', 'Up the terrace'), follow('Following')],
  post: [tap('React'), write('Write a comment', 'Never a penalty')],
  trends: [follow(/^#/)],
  search: [write('Search fans, clubs, posts and topics', 'ars')],
  team: [tap(/^Follow/)],
  fan: [tap(/^Follow/)],
  table: [],
  quests: [follow(/^Match day/)],
  packs: [follow(/^Away days/)],
  pack: [],
  album: [follow('Rare')],
  balances: [follow('Points for the table')],
  account: [],
};

/** What a guest does in the room. */
export const AS_GUEST: Doing[] = [follow('Trending')];

/** Leaves a page by the main navigation. */
export async function leave(page: Page): Promise<void> {
  const { pathname } = new URL(page.url());
  const name = pathname === '/table' ? 'Room' : 'Table';
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
}
