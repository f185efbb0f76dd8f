import type { Api } from '$lib/api/client';
import type { Team, TeamList } from '$lib/api/types';

/** A page of the list, and how many of them a choice offers at most. */
const LIMIT = 100;
const MOST_PAGES = 10;

/** The teams of all leagues. */
export async function allTeams(api: Api, signal: AbortSignal): Promise<Team[]> {
  const teams: Team[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = cursor === null ? { limit: LIMIT } : { limit: LIMIT, cursor };
    const list: TeamList = await api.call((client) =>
      client.GET('/api/teams', { params: { query }, signal }),
    );
    teams.push(...list.teams);
    cursor = list.nextCursor ?? null;
    if (cursor === null) break;
  }
  return teams;
}
