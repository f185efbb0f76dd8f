import { setTimeout as pause } from 'node:timers/promises';
import type { CDPSession, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Fan } from '../browser/fan';
import { signIn } from '../browser/profile';
import { Stage } from '../browser/stage';
import { slowDown, startVitals, vitalsOf } from './vitals';

/** 500 posts a minute. */
const EVERY_MS = 120;
/** How often the reader taps something, and how often the heap is read. */
const TAP_MS = 10_000;
const READ_MS = 60_000;
/** The reading that the last one is compared with: everything that is kept up to a number is there by then. */
const SETTLED = 3;
const MOST_INP_MS = 200;
const MOST_GROWTH = 1.1;

/** The bytes that are in use once everything is freed that can be. */
async function heap(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize;
}

/** How far below the top of the screen the sixth post is. */
const place = (page: Page): Promise<number> =>
  page
    .getByRole('article')
    .nth(5)
    .evaluate((post) => post.getBoundingClientRect().top);

/** Writes posts until the reader has left; returns their number. */
async function write(fans: readonly Fan[], until: () => boolean): Promise<number> {
  const begun = performance.now();
  let count = 0;
  while (!until()) {
    await fans[count % fans.length]?.post(`Chant ${String(count)}`);
    count += 1;
    await pause(Math.max(0, begun + count * EVERY_MS - performance.now()));
  }
  return count;
}

/** Reads on for some minutes and taps now and then; returns how far what is read moved, and the heap of each minute. */
async function read(
  page: Page,
  session: CDPSession,
  minutes: number,
): Promise<{ moved: number; heaps: number[] }> {
  const begun = performance.now();
  const before = await place(page);
  const heaps: number[] = [];
  let moved = 0;
  for (let taps = 1; heaps.length < minutes; taps += 1) {
    await pause(Math.max(0, begun + taps * TAP_MS - performance.now()));
    moved = Math.max(moved, Math.abs((await place(page)) - before));
    const react = page.getByRole('article').nth(5).getByRole('button', { name: 'React' });
    for (const isOpen of [true, false]) {
      await react.click();
      await expect.poll(() => react.getAttribute('aria-expanded')).toBe(String(isOpen));
    }
    if (taps % (READ_MS / TAP_MS) === 0) heaps.push(await heap(session));
  }
  return { moved, heaps };
}

test('a room with 500 posts a minute stays in place, quick and small while one reads', async () => {
  const minutes = Number(process.env['TERRACE_MINUTES'] ?? 60);
  expect(minutes, 'there is nothing to compare with').toBeGreaterThan(SETTLED);
  const stage = await Stage.open(['--rate-limits', 'off']);
  try {
    const { service, browser } = stage;
    const names = ['north', 'east', 'south', 'west'];
    const fans = await Promise.all(names.map((name) => Fan.signUp(service.url, `${name}.stand`)));
    const context = await browser.newContext({
      baseURL: service.url,
      locale: 'en-GB',
      viewport: { width: 390, height: 844 },
    });
    const page = await context.newPage();
    await startVitals(page);
    await signIn(page);
    const session = await context.newCDPSession(page);
    await session.send('HeapProfiler.enable');
    await slowDown(session);
    await page.getByRole('article').nth(5).scrollIntoViewIfNeeded();
    let isOver = false;
    const writing = write(fans, () => isOver);
    const { moved, heaps } = await read(page, session, minutes).finally(() => (isOver = true));
    const count = await writing;
    const { inp } = await vitalsOf(page);
    const growth = (heaps.at(-1) ?? Number.NaN) / (heaps[SETTLED - 1] ?? Number.NaN);
    const sizes = heaps.map((bytes) => (bytes / 2 ** 20).toFixed(1)).join(', ');
    console.info(
      `${String(count)} posts in ${String(minutes)} minutes: INP ${inp.toFixed(0)} ms, moved by ${moved.toFixed(1)} px,` +
        ` heap ${growth.toFixed(3)} of that after ${String(SETTLED)} minutes (MiB by minute: ${sizes})`,
    );
    expect(count).toBeGreaterThan((0.9 * minutes * READ_MS) / EVERY_MS);
    expect(moved).toBeLessThanOrEqual(1);
    expect(inp).toBeLessThanOrEqual(MOST_INP_MS);
    expect(growth).toBeLessThanOrEqual(MOST_GROWTH);
    await context.close();
  } finally {
    await stage.close();
  }
});
