import { readFileSync, readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

/** In bytes, compressed. */
const BUDGET = { js: 60_000, css: 12_000, route: 20_000 };

const dist = new URL('../../crates/client/dist/', import.meta.url);
const page = readFileSync(new URL('index.html', dist), 'utf8');
const files = readdirSync(new URL('assets/', dist)).map((name) => ({
  name,
  size: gzipSync(readFileSync(new URL(`assets/${name}`, dist))).length,
  isFirst: page.includes(`/assets/${name}`),
}));

function sizeOf(ending: string): number {
  const first = files.filter(({ name, isFirst }) => isFirst && name.endsWith(ending));
  expect(first).not.toEqual([]);
  return first.reduce((sum, { size }) => sum + size, 0);
}

test('what every visit loads is within the budget', () => {
  expect(sizeOf('.js')).toBeLessThanOrEqual(BUDGET.js);
  expect(sizeOf('.css')).toBeLessThanOrEqual(BUDGET.css);
});

test('what a page adds is within the budget', () => {
  const large = files.filter(({ isFirst, size }) => !isFirst && size > BUDGET.route);
  expect(large).toEqual([]);
});
