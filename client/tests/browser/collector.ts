import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { Fan, PASSWORD } from './fan';
import { readAs } from './member';
import { signIn } from './profile';
import type { Service } from './service';

/** What a new fan gets, and what a pack for coins costs. */
export const COINS = 25;
export const PRICE = 10;

export interface Copy {
  id: string;
  packId: string;
  status: string;
}

/** Signs a new fan up, with coins for packs, and in on this page. */
export async function begin(page: Page, service: Service, username: string): Promise<void> {
  await Fan.signUp(service.url, username);
  service.giveCoins(username, COINS);
  await signIn(page, username, PASSWORD);
}

export async function copies(page: Page): Promise<Copy[]> {
  return (await readAs<{ packs: Copy[] }>(page, '/api/user/packs')).packs;
}

/** Buys a pack for coins, through the API. */
export async function bought(page: Page): Promise<Copy> {
  const { packs } = await readAs<{ packs: { id: string; name: string }[] }>(page, '/api/packs');
  const id = packs.find(({ name }) => name === 'Away days')?.id ?? '';
  const answer = await page.request.post(`/api/packs/${id}/purchase`, {
    data: {},
    headers: { 'idempotency-key': crypto.randomUUID() },
  });
  expect(answer.status()).toBe(201);
  const { userPacks } = (await answer.json()) as { userPacks: Copy[] };
  const [copy] = userPacks;
  if (!copy) throw new Error('no copy');
  return copy;
}

/** The link with this balance. */
export const coins = (page: Page, amount: number): Locator =>
  page.getByRole('link', { name: `${String(amount)} coins. Open your balances.` });
