import type { Page } from 'playwright-core';

/** Reads the API as the fan of the page. */
export async function readAs<Answer>(page: Page, path: string): Promise<Answer> {
  const answer = await page.request.get(path);
  if (!answer.ok()) throw new Error(`${path}: ${String(answer.status())}`);
  return (await answer.json()) as Answer;
}

/** Waits until the page shows that something was earned, and goes on. */
export async function carryOn(page: Page, title: string | RegExp): Promise<void> {
  const moment = page.getByRole('dialog', { name: title });
  await moment.getByRole('button', { name: 'Carry on' }).click();
  await moment.waitFor({ state: 'hidden' });
}
