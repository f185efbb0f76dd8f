import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { readAs } from './member';

export interface Entry {
  spin: { id: string; wheelId: string; segment: string; grant: { kind: string; amount: number } };
  proof: { serverSeed: string; serverSeedHash: string; tableHash: string; clientSeed: string; nonce: number };
}

export interface WheelOfFan {
  id: string;
  key: string;
  name: string;
  segments: { key: string; label: string; probability: number }[];
  me: { freeSpin: boolean; serverSeedHash: string; nonce: number } | null;
}

/** A wheel of the demo, as the page's fan reads it. */
export async function wheelOf(page: Page, key: string): Promise<WheelOfFan> {
  const { wheels } = await readAs<{ wheels: WheelOfFan[] }>(page, '/api/wheel');
  const wheel = wheels.find((one) => one.key === key);
  if (!wheel) throw new Error(`no wheel ${key}`);
  return wheel;
}

/** The spins of the page's fan, the newest first. */
export async function spins(page: Page): Promise<Entry[]> {
  return (await readAs<{ spins: Entry[] }>(page, '/api/user/spins')).spins;
}

/** Takes the free spin of the day through the API, unless it is taken; returns the wheel's id. */
export async function spun(page: Page): Promise<string> {
  const { id, me } = await wheelOf(page, 'daily');
  if (me?.freeSpin) {
    const answer = await page.request.post(`/api/wheel/${id}/spin`, {
      data: { pay: 'free', serverSeedHash: me.serverSeedHash, clientSeed: 'row 14' },
      headers: { 'idempotency-key': crypto.randomUUID() },
    });
    expect(answer.status()).toBe(201);
  }
  return id;
}
