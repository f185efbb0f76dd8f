import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { Refused } from '$lib/api/errors';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { Purchase } from '$lib/api/types';

/** How often a payment that is not confirmed yet is asked for, and how many times. */
const EVERY_MS = 1_500;
const TIMES = 20;

/** A purchase for money after its checkout: asks until it is confirmed, and can be given up. */
export class Settling {
  readonly purchase: Resource<Purchase>;
  readonly attempt = new Attempt();
  readonly #api: Api;
  readonly #id: string;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #left = TIMES;

  constructor(api: Api, clock: Clock, id: string) {
    this.#api = api;
    this.#id = id;
    this.purchase = new Resource((signal) => this.#read(signal), clock);
  }

  /** Reads the purchase now and again until it is settled. Returns what ends that. */
  follow(onsettled: () => void): () => void {
    this.#left = TIMES;
    void this.#ask(onsettled);
    return () => this.#stop();
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
        await this.purchase.load();
        throw error;
      }
      return true;
    });
    return given ?? false;
  }

  async #ask(onsettled: () => void): Promise<void> {
    this.#stop();
    await this.purchase.load();
    const { value } = this.purchase;
    if (value && value.status !== 'pending') return onsettled();
    this.#left -= 1;
    if (this.#left > 0) this.#timer = setTimeout(() => void this.#ask(onsettled), EVERY_MS);
  }

  #stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Completing a pending purchase makes the service ask for its payment. */
  async #read(signal: AbortSignal): Promise<Purchase> {
    const params = { path: { id: this.#id } };
    const { purchase } = await this.#api.call((client) =>
      client.GET('/api/user/purchases/{id}', { params, signal }),
    );
    if (purchase.status !== 'pending') return purchase;
    try {
      const completed = await this.#api.call((client) =>
        client.PUT('/api/packs/{id}/purchase', {
          params: { path: { id: purchase.packId } },
          body: { purchaseId: purchase.id },
          signal,
        }),
      );
      return completed.purchase;
    } catch (error) {
      if (error instanceof Refused) return purchase;
      throw error;
    }
  }
}
