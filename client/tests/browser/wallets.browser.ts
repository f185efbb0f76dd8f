import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { begin } from './collector';
import { isMarked, mark } from './marked';
import { readAs } from './member';
import { Stage } from './stage';
import { staged } from './staged';
import { NO_WORKER, Visitor } from './visitor';

const NARROW = { width: 390, height: 844 };

const { service, browser } = await staged(Stage.open());

interface Wallet {
  id: string;
  address: string | null;
  status: string;
}

test('a double-tapped request is one wallet, which the page shows when it is ready, without a reload', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW });
  const { page } = visitor;
  await begin(page, service, 'keeper');
  await page.goto('/balances');
  await page.getByRole('link', { name: 'Wallets on networks' }).click();
  const ask = page.getByRole('button', { name: 'Get a wallet on sandbox' });
  await ask.waitFor();
  await mark(page);
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/api/wallets')) sent.push(request.url());
  });
  await ask.evaluate((button: HTMLButtonElement) => {
    button.click();
    button.click();
  });
  await page.getByText('The provider keeps its keys.').waitFor();
  const { wallets } = await readAs<{ wallets: Wallet[] }>(page, '/api/wallets');
  expect(wallets.map(({ status }) => status)).toEqual(['ready']);
  expect(sent).toHaveLength(1);
  const [wallet] = wallets;
  await page.getByText(wallet?.address ?? 'no address', { exact: true }).waitFor();
  const { balances } = await readAs<{ balances: { token: { symbol: string }; amount: string }[] }>(
    page,
    `/api/wallets/${wallet?.id ?? ''}`,
  );
  for (const { token, amount } of balances) {
    await page.getByText(token.symbol, { exact: true }).waitFor();
    await page.getByText(amount, { exact: true }).waitFor();
  }
  expect(balances.length).toBeGreaterThan(0);
  expect(await isMarked(page)).toBe(true);
  await visitor.expectAccessible();
  await visitor.leave();
});

test('a statement is saved as the file that the service gives for its period', async () => {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: NARROW, serviceWorkers: 'block' });
  const { page } = visitor;
  await visitor.signIn();
  await page.goto('/balances/statement?currency=EUR');
  await page.getByLabel('From').fill('2026-01-01');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.waitForURL('**/balances/statement?currency=EUR&from=2026-01-01');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('terrace-statement.csv');
  const saved = readFileSync(await download.path(), 'utf8');
  const from = await page.evaluate(() => new Date('2026-01-01T00:00:00').toISOString());
  const answer = await page.request.get(`/api/cash-balance/statement?currency=EUR&from=${from}`, {
    headers: { accept: 'text/csv' },
  });
  expect(answer.status()).toBe(200);
  expect(saved).toBe(await answer.text());
  expect(saved).toContain('Opening balance');
  expect(visitor.complaints.filter((complaint) => !complaint.includes(NO_WORKER))).toEqual([]);
  await visitor.leave();
});
