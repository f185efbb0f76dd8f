import { readAll } from '$lib/api/all';
import type { Api } from '$lib/api/client';
import type { User } from '$lib/api/types';

/** How many pages are read at most. */
const MOST_PAGES = 10;

/** The fans whom the reader blocks. */
export function readBlocks(api: Api, signal: AbortSignal): Promise<User[]> {
  return readAll(async (query) => {
    const { blocks, nextCursor } = await api.call((client) =>
      client.GET('/api/user/blocks', { params: { query }, signal }),
    );
    return { rows: blocks.map(({ user }) => user), nextCursor };
  }, MOST_PAGES);
}
