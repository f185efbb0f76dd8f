import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';

export type Sizes = Map<string, number>;

/** Notes every script and style that the page loads, with its size after gzip. */
export function loaded(page: Page): { files: Sizes; settled: () => Promise<void> } {
  const files: Sizes = new Map();
  const reading: Promise<void>[] = [];
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (!/\.(?:js|css)$/.test(pathname) || !response.ok()) return;
    reading.push(
      response.body().then((body) => void files.set(pathname, gzipSync(body, { level: 9 }).length)),
    );
  });
  return { files, settled: async () => void (await Promise.all(reading)) };
}

export function total(files: Iterable<[string, number]>, ending: string): number {
  return [...files].reduce((sum, [name, size]) => (name.endsWith(ending) ? sum + size : sum), 0);
}
