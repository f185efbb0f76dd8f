import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { addresses, inTwoTabs, settle } from './pages';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const MODULES = import.meta.glob<Record<string, unknown>>('../../src/lib/i18n/{en,de}{,-*}.ts', {
  eager: true,
});

const { service, browser } = await staged(Stage.open());

/** The texts of a catalogue that are the same whatever they are about. */
function textsOf(language: 'en' | 'de'): Set<string> {
  const leaves = (value: unknown): string[] => {
    if (typeof value === 'string') return [value];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [];
  };
  const own = Object.entries(MODULES).filter(([file]) => file.includes(`/i18n/${language}`));
  return new Set(own.flatMap(([, module]) => leaves(module)));
}

/** The texts of the client that a page shows, each in one piece: what the club and its fans write has a direction of its own. */
function shownTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const { parentElement, textContent } = walker.currentNode;
      if (!parentElement?.closest('[dir=auto]')) found.push(textContent?.trim() ?? '');
    }
    return found.filter((text) => text !== '');
  });
}

/** What of the page lies beside the screen, and how far its heading is from where it would be in a mirror, when it is read from right to left. */
function readFromTheRight(page: Page): Promise<{ overflow: number; heading: number }> {
  return page.evaluate(() => {
    const heading = document.querySelector('h1') ?? document.body;
    const { left } = heading.getBoundingClientRect();
    document.documentElement.dir = 'rtl';
    const { right } = heading.getBoundingClientRect();
    const overflow = document.documentElement.scrollWidth - innerWidth;
    return { overflow, heading: Math.round(innerWidth - right - left) };
  });
}

test('every page is German where its reader is, and can be read from right to left', async () => {
  const german = textsOf('de');
  const english = [...textsOf('en')].filter((text) => !german.has(text));
  expect(english.length).toBeGreaterThan(500);
  const options = { locale: 'de-DE', viewport: { width: 390, height: 844 } };
  const visitor = await Visitor.arrive(browser, service.url, options);
  const { page } = visitor;
  await page.goto('/sign-in?next=/room');
  await page.getByLabel('Name', { exact: true }).fill('mia');
  await page.getByLabel('Passwort', { exact: true }).fill('terrace-demo');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/room');
  await page.getByRole('article').first().waitFor();
  const all = await addresses(page, service);
  const seen = new Set<string>();
  const mistakes: string[] = [];
  await inTwoTabs(visitor, all, async (tab, [, address]) => {
    await tab.goto(address);
    await settle(tab);
    for (const text of await shownTexts(tab)) {
      if (german.has(text)) seen.add(text);
      if (english.includes(text)) mistakes.push(`${address}: ${text}`);
    }
    const { overflow, heading } = await readFromTheRight(tab);
    if (overflow !== 0 || heading !== 0) mistakes.push(`${address}: ${overflow}, ${heading} pixels`);
  });
  expect(mistakes).toEqual([]);
  expect(seen.size).toBeGreaterThan(100);
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('de');
  visitor.expectNoComplaints();
  await visitor.leave();
});
