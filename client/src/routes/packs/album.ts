import { readAll } from '$lib/api/all';
import type { Api } from '$lib/api/client';
import type { AlbumEntry } from '$lib/api/types';

/** Reads the whole album: its sums are of all cards. */
export function readAlbum(api: Api, signal: AbortSignal): Promise<AlbumEntry[]> {
  return readAll(async (query) => {
    const page = await api.call((client) => client.GET('/api/collectibles', { params: { query }, signal }));
    return { rows: page.collectibles, nextCursor: page.nextCursor };
  });
}
