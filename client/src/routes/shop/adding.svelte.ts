import { Attempt } from '$lib/api/attempt.svelte';
import type { OwnCart } from './cart.svelte';

/** Puts units of a variant into the cart. */
export class Adding {
  readonly attempt = new Attempt();
  readonly #cart: OwnCart;
  readonly #variantId: string;
  /** The quantity that a request asked for whose answer never arrived: a further tap asks for the same. */
  #asked: number | null = null;

  constructor(cart: OwnCart, variantId: string) {
    this.#cart = cart;
    this.#variantId = variantId;
  }

  /** Adds to what is in the cart; the quantity that is in it then, or null if that failed. */
  add(units: number, inCart: number, priceId: string): Promise<number | null> {
    return this.attempt.run(async () => {
      const quantity = this.#asked ?? inCart + units;
      this.#asked = quantity;
      await this.#cart.put(this.#variantId, { quantity, priceId });
      this.#asked = null;
      return quantity;
    });
  }
}
