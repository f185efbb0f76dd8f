import type { Api } from '$lib/api/client';
import { Resource } from '$lib/api/resource.svelte';
import type { Recommended } from '$lib/api/types';
import type { Texts } from '$lib/i18n/texts.svelte';
import type { People } from './people.svelte';

/** Whom the reader may want to follow. */
export class Recommendations {
  readonly list: Resource<Recommended[]>;
  readonly #api: Api;

  constructor(api: Api, people: People) {
    this.#api = api;
    this.list = new Resource(async (signal) => {
      const { users } = await api.call((client) => client.GET('/api/user/recommended', { signal }));
      for (const { user } of users) people.keep(user.id, false);
      return users;
    });
  }

  async dismiss(userId: string): Promise<void> {
    const params = { path: { userId } };
    await this.#api.call((client) => client.DELETE('/api/user/recommended/{userId}', { params }));
    this.list.update((users) => users.filter(({ user }) => user.id !== userId));
  }
}

/** Why a fan is recommended, in the reader's language; null for a reason that the client doesn't know. */
export function reasonText(texts: Texts, { reasonKind, mutualCount }: Recommended): string | null {
  const { followed_by: followedBy, ...others } = texts.fans.people.reasons;
  if (reasonKind === 'followed_by') return followedBy(mutualCount, texts.number(mutualCount));
  const known: Record<string, string> = others;
  return known[reasonKind] ?? null;
}
