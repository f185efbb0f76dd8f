import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import type { Clock, Resource } from '$lib/api/resource.svelte';
import type { Purchase } from '$lib/api/types';
import { Watched } from '$lib/api/watched.svelte';

/** A purchase for money after its checkout: follows it until it is settled, and can give it up. */
export class Settling extends Watched<Purchase> {
  readonly attempt = new Attempt();
  readonly #api: Api;
  readonly #id: string;

  constructor(api: Api, clock: Clock, id: string) {
    const params = { path: { id } };
    const read = async (signal: AbortSignal): Promise<Purchase> => {
      const answer = await api.call((client) => client.GET('/api/user/purchases/{id}', { params, signal }));
      return answer.purchase;
    };
    super(read, clock, ({ status }) => status !== 'pending');
    this.#api = api;
    this.#id = id;
  }

  get purchase(): Resource<Purchase> {
    return this.resource;
  }

  /** Has the service ask for the payment. */
  async confirm({ id, packId }: Purchase): Promise<void> {
    if (this.attempt.isRunning) return;
    const init = { params: { path: { id: packId } }, body: { purchaseId: id } };
    await this.attempt.run(() => this.#api.call((client) => client.PUT('/api/packs/{id}/purchase', init)));
    await this.look();
  }

  /** Gives the purchase up; whether that worked. */
  async giveUp(): Promise<boolean> {
    const given = await this.attempt.run(async () => {
      this.stop();
      try {
        const params = { path: { id: this.#id } };
        const { purchase } = await this.#api.call((client) =>
          client.DELETE('/api/user/purchases/{id}', { params }),
        );
        this.purchase.replace(purchase);
      } catch (error) {
        void this.look();
        throw error;
      }
      return true;
    });
    return given ?? false;
  }
}
