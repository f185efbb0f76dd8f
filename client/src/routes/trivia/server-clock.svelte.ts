/** How often the time is looked at. */
const TICK_MS = 100;

/** Between which two differences from the steady clock the time of the service lies. */
interface Bounds {
  least: number;
  most: number;
}

/**
 * The time of the service. An answer names it, and it lies within the time that the request took; between answers the steady
 * clock of the device goes on. What the device takes for the time of day does not matter.
 */
export class ServerClock {
  #current = $state<number | null>(null);
  #bounds: Bounds | null = null;
  readonly #steady: () => number;

  constructor(steady: () => number = () => performance.now()) {
    this.#steady = steady;
  }

  /** The time of the last tick, in milliseconds; null until an answer named it. */
  get current(): number | null {
    return this.#current;
  }

  /** The time at this moment. */
  now(): number | null {
    return this.#bounds && this.#steady() + (this.#bounds.least + this.#bounds.most) / 2;
  }

  /** What the steady clock shows: a request that is sent now hands it back with its answer. */
  mark(): number {
    return this.#steady();
  }

  /** Takes over the time that an answer names whose request was sent at this mark. */
  note(serverNow: string, sentAt: number): void {
    const time = Date.parse(serverNow);
    const read = { least: time - this.#steady(), most: time - sentAt };
    const known = this.#bounds ?? read;
    const both = { least: Math.max(known.least, read.least), most: Math.min(known.most, read.most) };
    // Answers that contradict each other: the device slept meanwhile, and its steady clock stood still.
    this.#bounds = both.least <= both.most ? both : read;
    this.#tick();
  }

  /** Follows the time. Returns what ends that. */
  start(): () => void {
    const timer = setInterval(() => this.#tick(), TICK_MS);
    return () => clearInterval(timer);
  }

  #tick(): void {
    this.#current = this.now();
  }
}
