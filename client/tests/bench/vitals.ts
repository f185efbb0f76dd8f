import type { CDPSession, Page } from 'playwright-core';

/** What a reader feels of a page: milliseconds, and a score without a unit. */
export interface Vitals {
  /** When the largest part of the page was shown. */
  lcp: number;
  /** The longest time from an input to what it shows. */
  inp: number;
  /** How far the page moved by itself. */
  cls: number;
}

/** Shifts less than a second apart, of at most five seconds together, count as one. */
interface Shifts {
  begin: number;
  end: number;
  sum: number;
}

/** What the types of the browser lack. */
interface Observed extends PerformanceObserverInit {
  durationThreshold?: number;
}

/** Notes in the page what its visitor feels. */
function observe(): void {
  const vitals: Vitals = { lcp: 0, inp: 0, cls: 0 };
  Object.assign(globalThis, { vitals });
  const follow = (options: Observed, note: (entry: PerformanceEntry) => void): void =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({
      ...options,
      buffered: true,
    });
  follow({ type: 'largest-contentful-paint' }, ({ startTime }) => (vitals.lcp = startTime));
  follow({ type: 'event', durationThreshold: 16 }, (entry) => {
    const isInteraction = 'interactionId' in entry && Number(entry.interactionId) > 0;
    if (isInteraction) vitals.inp = Math.max(vitals.inp, entry.duration);
  });
  let shifts: Shifts = { begin: 0, end: 0, sum: 0 };
  follow({ type: 'layout-shift' }, (entry) => {
    if (!('value' in entry && 'hadRecentInput' in entry) || entry.hadRecentInput === true) return;
    const { startTime: at } = entry;
    const isLater = at - shifts.end > 1000 || at - shifts.begin > 5000;
    if (isLater) shifts = { begin: at, end: at, sum: 0 };
    shifts = { ...shifts, end: at, sum: shifts.sum + Number(entry.value) };
    vitals.cls = Math.max(vitals.cls, shifts.sum);
  });
}

/** Makes the processor of a page four times slower than that of the machine. */
export async function slowDown(session: CDPSession): Promise<void> {
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
}

export async function startVitals(page: Page): Promise<void> {
  await page.addInitScript(observe);
}

/** What was felt so far; waits until the browser has reported it. */
export function vitalsOf(page: Page): Promise<Vitals> {
  return page.evaluate(async () => {
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 300)));
    return (globalThis as unknown as { vitals: Vitals }).vitals;
  });
}
