import type { Api } from '$lib/api/client';
import { pageQuery } from '$lib/api/more.svelte';
import type { AlbumEntry } from '$lib/api/types';

/** Reads the whole album: its sums are of all cards. */
export async function readAlbum(api: Api, signal: AbortSignal): Promise<AlbumEntry[]> {
  const entries: AlbumEntry[] = [];
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = { limit: 100, ...pageQuery(cursor) };
    const page = await api.call((client) => client.GET('/api/collectibles', { params: { query }, signal }));
    entries.push(...page.collectibles);
    cursor = page.nextCursor ?? null;
  } while (cursor !== null);
  return entries;
}
