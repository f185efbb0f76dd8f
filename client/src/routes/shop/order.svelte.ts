import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import type { Clock } from '$lib/api/resource.svelte';
import type { Order } from '$lib/api/types';
import { Watched } from '$lib/api/watched.svelte';

/** For how long the service refunds a paid order. */
const REFUNDED_FOR_MS = 14 * 24 * 3_600_000;

/** An order of a fan: followed until it is paid or has ended, and what can be done about it. */
export class OwnOrder extends Watched<Order> {
  readonly attempt = new Attempt();
  readonly #api: Api;
  readonly #params: { path: { id: string } };

  constructor(api: Api, clock: Clock, id: string) {
    const params = { path: { id } };
    const read = async (signal: AbortSignal): Promise<Order> => {
      const { order } = await api.call((client) => client.GET('/api/user/orders/{id}', { params, signal }));
      return order;
    };
    super(read, clock, ({ status }) => status !== 'pending');
    this.#api = api;
    this.#params = params;
  }

  /** Has the service ask for the payment. */
  async confirm({ id }: Order): Promise<void> {
    if (this.attempt.isRunning) return;
    const body = { orderId: id };
    await this.attempt.run(() => this.#api.call((client) => client.PUT('/api/checkout', { body })));
    await this.look();
  }

  /** Cancels it; the order then, or null if that failed. */
  cancel(): Promise<Order | null> {
    return this.attempt.run(async () => {
      this.stop();
      try {
        const { order } = await this.#api.call((client) =>
          client.POST('/api/user/orders/{id}/cancel', { params: this.#params }),
        );
        this.resource.replace(order);
        return order;
      } catch (error) {
        void this.look();
        throw error;
      }
    });
  }

  /** Puts what was in it into the cart again; how many lines were left out, or null if that failed. */
  reorder(): Promise<number | null> {
    return this.attempt.run(async () => {
      const { skipped } = await this.#api.call((client) =>
        client.POST('/api/user/orders/{id}/reorder', { params: this.#params }),
      );
      return skipped.length;
    });
  }
}

/** Whether a fan may ask to cancel it; the service decides. */
export function isCancellable({ status, lines, createdAt }: Order, now: Date): boolean {
  if (status === 'pending') return true;
  if (status !== 'paid' && status !== 'completed') return false;
  const isSent = lines.some(({ shipment }) => shipment !== null);
  return !isSent && now.getTime() - new Date(createdAt).getTime() < REFUNDED_FOR_MS;
}
