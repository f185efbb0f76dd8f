import type { Api } from '$lib/api/client';
import type { PublicProfile } from '$lib/api/types';

/** The profile of the fan with this name, in any spelling that counts as the same. */
export function readFan(api: Api, username: string, signal: AbortSignal): Promise<PublicProfile> {
  const init = { params: { path: { username } }, signal };
  return api.call((client) => client.GET('/api/users/by-name/{username}', init));
}
