import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { pageQuery } from '$lib/api/more.svelte';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { OpenResult, UserPack } from '$lib/api/types';
import { hexOf } from '$lib/draw/source';
import { Persisted } from '$lib/persisted.svelte';

/** What this browser knew of a copy before it was opened. */
interface Promised {
  serverSeedHash: string;
  clientSeed: string;
}

/** A copy of a pack with what was in it, once it is open. */
export interface Copy {
  userPack: UserPack;
  opened: OpenResult | null;
}

/** The opening of one copy. The service keeps the result: asking for it again returns the same rows. */
export class Opening {
  readonly copy: Resource<Copy>;
  readonly attempt = new Attempt();
  readonly #api: Api;
  readonly #packId: string;
  readonly #copyId: string;
  readonly #kept: Persisted;

  constructor(api: Api, clock: Clock, packId: string, copyId: string) {
    this.#api = api;
    this.#packId = packId;
    this.#copyId = copyId;
    this.#kept = new Persisted(`opening:${copyId}`);
    this.copy = new Resource((signal) => this.#read(signal), clock);
  }

  get promised(): Promised | null {
    const [serverSeedHash, clientSeed] = this.#kept.value?.split(' ') ?? [];
    return serverSeedHash && clientSeed ? { serverSeedHash, clientSeed } : null;
  }

  /** Opens the sealed copy. The seed is kept before it is sent, so that a repetition sends the same. */
  async open(userPack: UserPack): Promise<void> {
    await this.attempt.run(async () => {
      const clientSeed = this.promised?.clientSeed ?? hexOf(crypto.getRandomValues(new Uint8Array(16)));
      this.#kept.set(`${userPack.serverSeedHash} ${clientSeed}`);
      const opened = await this.#open({ userPackId: this.#copyId, clientSeed });
      this.copy.replace({ userPack: opened.userPack, opened });
    });
  }

  async #read(signal: AbortSignal): Promise<Copy> {
    const userPack = await this.#find(signal);
    // The result of an opened copy is read by opening it again, which changes nothing.
    const opened = userPack.status === 'opened' ? await this.#open({ userPackId: userPack.id }) : null;
    return { userPack, opened };
  }

  /** There is no route for a single copy. */
  async #find(signal: AbortSignal): Promise<UserPack> {
    let cursor: string | null = null;
    for (;;) {
      const query: { limit: number; cursor?: string } = { limit: 100, ...pageQuery(cursor) };
      const page = await this.#api.call((client) =>
        client.GET('/api/user/packs', { params: { query }, signal }),
      );
      const found = page.packs.find(({ id }) => id === this.#copyId);
      if (found) return found;
      cursor = page.nextCursor ?? null;
      // The service answers for a copy that is not the fan's.
      if (cursor === null) return (await this.#open({ userPackId: this.#copyId })).userPack;
    }
  }

  #open(body: { userPackId: string; clientSeed?: string }): Promise<OpenResult> {
    const params = { path: { id: this.#packId } };
    return this.#api.call((client) => client.POST('/api/packs/{id}/open', { params, body }));
  }
}
