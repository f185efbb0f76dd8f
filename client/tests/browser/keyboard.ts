import type { Page } from 'playwright-core';

/** How many stops a page may have before the one that is looked for. */
const MOST_STOPS = 80;
/** How long an element may take to appear, in milliseconds: a page loads after its address changed. */
const PATIENCE = 10_000;

/** The name of the element that has the focus, as a screen reader says it. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement;
    const label =
      element instanceof HTMLInputElement ||
      element instanceof HTMLTextAreaElement ||
      element instanceof HTMLSelectElement;
    const name =
      element?.getAttribute('aria-label') ??
      (label ? element.labels?.[0]?.textContent : element?.textContent) ??
      '';
    return name.replaceAll(/\s+/g, ' ').trim();
  });
}

/** Presses Tab until the focus is on an element with this name. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const passed: string[] = [];
  const end = Date.now() + PATIENCE;
  while (passed.length < MOST_STOPS || Date.now() < end) {
    await page.keyboard.press('Tab');
    const now = await focused(page);
    if (typeof name === 'string' ? now === name : name.test(now)) return;
    passed.push(now);
  }
  throw new Error(`no ${String(name)} among ${passed.slice(-MOST_STOPS).join(', ')}`);
}

/** Goes to an element with this name and presses Enter. */
export async function press(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}
