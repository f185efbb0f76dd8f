import type { Api } from '$lib/api/client';
import type { User } from '$lib/api/types';

/** A page of the list, and how many of them are read at most. */
const LIMIT = 100;
const MOST_PAGES = 10;

/** The fans whom the reader blocks. */
export async function readBlocks(api: Api, signal: AbortSignal): Promise<User[]> {
  const fans: User[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query: { limit: number; cursor?: string } =
      cursor === null ? { limit: LIMIT } : { limit: LIMIT, cursor };
    const list: { blocks: { user: User }[]; nextCursor: string | null } = await api.call((client) =>
      client.GET('/api/user/blocks', { params: { query }, signal }),
    );
    fans.push(...list.blocks.map(({ user }) => user));
    cursor = list.nextCursor;
    if (cursor === null) break;
  }
  return fans;
}
