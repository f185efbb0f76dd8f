import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { Purchase } from '$lib/api/types';

/** After how long a payment that is not confirmed yet is looked up, and the longest pause, where the stream says nothing. */
const FIRST_MS = 2_000;
const LONGEST_MS = 60_000;

/** A purchase for money after its checkout: follows it until it is settled, and can give it up. */
export class Settling {
  readonly purchase: Resource<Purchase>;
  readonly attempt = new Attempt();
  readonly #api: Api;
  readonly #id: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #turn = 0;
  #pause = FIRST_MS;
  #onsettled: () => void = () => undefined;

  constructor(api: Api, clock: Clock, id: string) {
    this.#api = api;
    this.#id = id;
    this.purchase = new Resource((signal) => this.#read(signal), clock);
  }

  /** Reads the purchase now, and ever more rarely until it is settled. Returns what ends that. */
  follow(onsettled: () => void): () => void {
    this.#onsettled = onsettled;
    void this.look();
    return () => this.#stop();
  }

  /** Reads the purchase now. */
  async look(): Promise<void> {
    this.#pause = FIRST_MS;
    await this.#look();
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
      this.#stop();
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

  async #look(): Promise<void> {
    this.#stop();
    const turn = this.#turn;
    await this.purchase.load();
    // A newer look replaced this one, or none is wanted any more.
    if (turn !== this.#turn) return;
    const { value } = this.purchase;
    if (value && value.status !== 'pending') return this.#onsettled();
    this.#timer = setTimeout(() => void this.#look(), this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST_MS);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#turn += 1;
  }

  async #read(signal: AbortSignal): Promise<Purchase> {
    const params = { path: { id: this.#id } };
    const answer = await this.#api.call((client) =>
      client.GET('/api/user/purchases/{id}', { params, signal }),
    );
    return answer.purchase;
  }
}
