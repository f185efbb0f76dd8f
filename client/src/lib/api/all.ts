import { pageQuery } from './more.svelte';

/** How many rows a page holds at most. */
const LIMIT = 100;

interface Page<Row> {
  rows: readonly Row[];
  nextCursor: string | null | undefined;
}

/** Reads a list to its end, or its first pages. */
export async function readAll<Row>(
  read: (query: { limit: number; cursor?: string }) => Promise<Page<Row>>,
  most = Infinity,
): Promise<Row[]> {
  const all: Row[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < most; page += 1) {
    const { rows, nextCursor }: Page<Row> = await read({ limit: LIMIT, ...pageQuery(cursor) });
    all.push(...rows);
    cursor = nextCursor ?? null;
    if (cursor === null) break;
  }
  return all;
}
