import { SvelteMap } from 'svelte/reactivity';
import { failureOf, type Failure } from './api/errors';

/**
 * What the reader wishes and the service has not confirmed, by target. It shows at once; a refusal drops it. One request
 * runs for a target, and the newest wish is next.
 */
export class Wishes<Value> {
  readonly #wishes = new SvelteMap<string, { value: Value }>();
  readonly #sending = new Set<string>();
  readonly #send: (id: string, value: Value) => Promise<void>;
  readonly #onRollback: (failure: Failure) => void;

  constructor(send: (id: string, value: Value) => Promise<void>, onRollback: (failure: Failure) => void) {
    this.#send = send;
    this.#onRollback = onRollback;
  }

  /** The wish for a target, or what is known without one. */
  over<Known>(id: string, known: Known): Value | Known {
    const wish = this.#wishes.get(id);
    return wish ? wish.value : known;
  }

  async set(id: string, value: Value): Promise<void> {
    this.#wishes.set(id, { value });
    if (this.#sending.has(id)) return;
    this.#sending.add(id);
    try {
      for (let wish = this.#wishes.get(id); wish; wish = this.#wishes.get(id)) {
        await this.#send(id, wish.value);
        if (this.#wishes.get(id) === wish) this.#wishes.delete(id);
      }
    } catch (error) {
      const failure = failureOf(error);
      this.#wishes.delete(id);
      this.#onRollback(failure);
    } finally {
      this.#sending.delete(id);
    }
  }

  clear(): void {
    this.#wishes.clear();
  }
}
