import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { KeptRequest } from '$lib/api/kept-request.svelte';
import type { Clock } from '$lib/api/resource.svelte';
import type { Order } from '$lib/api/types';

/** What a fan orders: the cart as it was seen, and how it is paid. */
export interface Wanted {
  quote: string;
  useBalance: boolean;
}

function contentOf({ quote, useBalance }: Wanted): string {
  return `${quote} ${useBalance ? 'balance' : 'card'}`;
}

/** Orders the cart of one fan. */
export class Checkout {
  readonly attempt = new Attempt();
  readonly #api: Api;
  readonly #request: KeptRequest;

  constructor(api: Api, clock: Clock, fanId: string) {
    this.#api = api;
    this.#request = new KeptRequest(clock, `checkout:${fanId}`);
  }

  /** Whether this was ordered by a request whose answer never arrived. */
  isUnsettled(wanted: Wanted): boolean {
    return !this.attempt.isRunning && this.#request.isKept(contentOf(wanted));
  }

  /** One tap is one order: a tap during a request does nothing, one after a lost answer repeats its key. */
  place(wanted: Wanted): Promise<Order | null> {
    return this.attempt.run(async () => {
      const isRepeated = this.#request.isKept(contentOf(wanted));
      const order = await this.#send(wanted);
      if (!isRepeated) return order;
      // What the lost request ordered may have ended since then, and is in the cart again.
      const now = await this.#read(order.id);
      return now.status === 'cancelled' || now.status === 'expired' ? this.#send(wanted) : now;
    });
  }

  #send(wanted: Wanted): Promise<Order> {
    return this.#request.send(contentOf(wanted), async (key) => {
      const init = { params: { header: { 'Idempotency-Key': key } }, body: wanted };
      const { order } = await this.#api.call((client) => client.POST('/api/checkout', init));
      return order;
    });
  }

  async #read(id: string): Promise<Order> {
    const params = { path: { id } };
    const { order } = await this.#api.call((client) => client.GET('/api/user/orders/{id}', { params }));
    return order;
  }
}
