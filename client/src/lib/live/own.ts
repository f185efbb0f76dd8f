import { createContext } from 'svelte';
import type { Reward } from '../rewards/reward';
import type { LiveEvent } from './events';

/** What happens to the fan: what the service notices, and what the fan has just earned on a page. */
export type OwnEvent = LiveEvent | { name: 'earned'; rewards: readonly Reward[] };

/** Passes on what happens to the fan. Pages read again what changed, or say what was earned on them. */
export class OwnEvents {
  readonly #handlers = new Set<(event: OwnEvent) => void>();

  /** Calls `handler` with each event; returns what ends that. */
  on(handler: (event: OwnEvent) => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  publish(event: OwnEvent): void {
    for (const handler of [...this.#handlers]) handler(event);
  }
}

export const [useOwnEvents, setOwnEvents] = createContext<OwnEvents>();
