import { createContext } from 'svelte';

/** The current time, renewed each half minute, so that ages on a page grow. */
export class TickingClock {
  #now = $state.raw(new Date());

  get current(): Date {
    return this.#now;
  }

  now(): Date {
    return new Date();
  }

  start(): () => void {
    const timer = setInterval(() => {
      this.#now = new Date();
    }, 30_000);
    return () => clearInterval(timer);
  }
}

export const [useClock, setClock] = createContext<TickingClock>();
