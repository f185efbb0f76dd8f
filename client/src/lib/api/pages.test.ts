import { expect, test } from 'vitest';
import { readAll } from './all';
import { Unreachable } from './errors';
import { pageQuery } from './more.svelte';
import { Pages, type Rows } from './pages.svelte';

test('pages are appended until there is none left', async () => {
  const pages = new Pages<number>((cursor) =>
    Promise.resolve(cursor === null ? { rows: [1, 2], nextCursor: 'b' } : { rows: [3], nextCursor: null }),
  );
  await pages.list.load();
  await Promise.all([pages.more(), pages.more()]);
  expect(pages.list.value).toEqual({ rows: [1, 2, 3], nextCursor: null });
  await pages.more();
  expect(pages.list.value?.rows).toHaveLength(3);
});

test('a page that fails leaves the rows and says why', async () => {
  const pages = new Pages<number>((cursor) =>
    cursor === null
      ? Promise.resolve({ rows: [1], nextCursor: 'b' })
      : Promise.reject(new Unreachable('gone')),
  );
  await pages.list.load();
  await pages.more();
  expect(pages.further.failure).toBeInstanceOf(Unreachable);
  expect(pages.list.value).toEqual({ rows: [1], nextCursor: 'b' });
});

test('a page of a list that was read anew is dropped', async () => {
  let finish: (page: Rows<number>) => void = () => undefined;
  let first = { rows: [1], nextCursor: 'old' };
  const pages = new Pages<number>((cursor) =>
    cursor === null ? Promise.resolve(first) : new Promise((resolve) => (finish = resolve)),
  );
  await pages.list.load();
  const more = pages.more();
  first = { rows: [7], nextCursor: 'new' };
  await pages.list.load();
  finish({ rows: [2], nextCursor: null });
  await more;
  expect(pages.list.value).toEqual({ rows: [7], nextCursor: 'new' });
});

test.each([
  [null, {}],
  ['c', { cursor: 'c' }],
])('the cursor %s is the query %j', (cursor, query) => {
  expect(pageQuery(cursor)).toEqual(query);
});

test.each([
  [Infinity, [1, 2, 3]],
  [2, [1, 2]],
])('a list is read to its end or %d pages', async (most, expected) => {
  const pages: Record<string, { rows: number[]; nextCursor: string | null }> = {
    '': { rows: [1], nextCursor: 'b' },
    b: { rows: [2], nextCursor: 'c' },
    c: { rows: [3], nextCursor: null },
  };
  const read = ({ cursor = '' }): Promise<(typeof pages)['']> =>
    Promise.resolve(pages[cursor] ?? { rows: [], nextCursor: null });
  expect(await readAll(read, most)).toEqual(expected);
});
