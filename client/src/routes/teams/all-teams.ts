import { readAll } from '$lib/api/all';
import type { Api } from '$lib/api/client';
import type { Team } from '$lib/api/types';

/** How many pages a choice offers at most. */
const MOST_PAGES = 10;

/** The teams of all leagues. */
export function allTeams(api: Api, signal: AbortSignal): Promise<Team[]> {
  return readAll(async (query) => {
    const list = await api.call((client) => client.GET('/api/teams', { params: { query }, signal }));
    return { rows: list.teams, nextCursor: list.nextCursor };
  }, MOST_PAGES);
}
