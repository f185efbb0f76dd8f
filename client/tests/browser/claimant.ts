import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { readAs } from './member';
import type { Service } from './service';

export interface OwnClaim {
  id: string;
  rewardId: string;
  status: string;
  code: string | null;
  usedAt: string | null;
}

/** A reward of the demo for coins, which gives a code, and what it costs. */
export const DISCOUNT = 'club-shop-10';
export const DISCOUNT_COST = 40;

/** The claims of the page's fan, the newest first. */
export async function claims(page: Page): Promise<OwnClaim[]> {
  return (await readAs<{ claims: OwnClaim[] }>(page, '/api/user/rewards')).claims;
}

/** The id of a reward of the demo. */
export async function rewardOf(page: Page, key: string): Promise<string> {
  const { rewards } = await readAs<{ rewards: { id: string; key: string }[] }>(page, '/api/rewards');
  const reward = rewards.find((one) => one.key === key);
  if (!reward) throw new Error(`no reward ${key}`);
  return reward.id;
}

/** A claim of the demo's fan that can be used, and its reward. */
export async function claimed(page: Page, service: Service): Promise<{ claim: string; reward: string }> {
  const reward = await rewardOf(page, DISCOUNT);
  const known = (await claims(page)).find(
    ({ rewardId, status }) => rewardId === reward && status === 'issued',
  );
  if (known) return { claim: known.id, reward };
  service.giveCoins('mia', DISCOUNT_COST);
  const answer = await page.request.post(`/api/rewards/${reward}/claim`, {
    headers: { 'idempotency-key': crypto.randomUUID() },
  });
  expect(answer.status()).toBe(201);
  const { claim } = (await answer.json()) as { claim: OwnClaim };
  return { claim: claim.id, reward };
}
