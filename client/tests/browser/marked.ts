import type { Page } from 'playwright-core';

/** Marks the document that the page shows, to know it again: one that is loaded anew has no mark. */
export const mark = (page: Page): Promise<void> =>
  page.evaluate(() => void Object.assign(globalThis, { marked: true }));

export const isMarked = (page: Page): Promise<boolean> => page.evaluate(() => 'marked' in globalThis);
