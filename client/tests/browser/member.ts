import type { Page } from 'playwright-core';

/** Reads the API as the fan of the page. */
export async function readAs<Answer>(page: Page, path: string): Promise<Answer> {
  const answer = await page.request.get(path);
  if (!answer.ok()) throw new Error(`${path}: ${String(answer.status())}`);
  return (await answer.json()) as Answer;
}
