import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Marks the document that the page shows, to know it again: one that is loaded anew has no mark. */
export const mark = (page: Page): Promise<void> =>
  page.evaluate(() => void Object.assign(globalThis, { marked: true }));

export const isMarked = (page: Page): Promise<boolean> => page.evaluate(() => 'marked' in globalThis);

const DROPPED = 'the browser dropped the page for a reason of its own';

/**
 * Begins a test once more where the browser dropped a page for a reason of its own: it has little memory, or the page was
 * not left within three seconds.
 */
export const onceMoreIfDropped = { retry: { count: 1, condition: new RegExp(DROPPED) } };

/** Expects that the page which Back shows is the document that was left. */
export async function expectKept(page: Page): Promise<void> {
  if (await isMarked(page)) return;
  const reasons = await page.evaluate(() => {
    const [entry] = performance.getEntriesByType('navigation') as (PerformanceEntry & {
      notRestoredReasons?: { reasons: { reason: string }[] } | null;
    })[];
    return (entry?.notRestoredReasons?.reasons ?? []).map(({ reason }) => reason);
  });
  // What a page did to be dropped is named; what the browser keeps to itself is masked.
  expect(reasons).toEqual(['masked']);
  throw new Error(DROPPED);
}
