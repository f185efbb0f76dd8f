import { Resource, type Clock } from './resource.svelte';

/** After how long something that is not settled is read again, and the longest pause, where the stream says nothing. */
const FIRST_MS = 2_000;
const LONGEST_MS = 60_000;

/** Something that is followed until it is settled. */
export class Watched<Value> {
  readonly resource: Resource<Value>;
  readonly #isSettled: (value: Value) => boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #turn = 0;
  #pause = FIRST_MS;
  #onsettled: () => void = () => undefined;

  constructor(
    read: (signal: AbortSignal) => Promise<Value>,
    clock: Clock,
    isSettled: (value: Value) => boolean,
  ) {
    this.resource = new Resource(read, clock);
    this.#isSettled = isSettled;
  }

  /** Reads it now, and ever more rarely until it is settled. Returns what ends that. */
  follow(onsettled: () => void): () => void {
    this.#onsettled = onsettled;
    void this.look();
    return () => this.stop();
  }

  /** Reads it now. */
  async look(): Promise<void> {
    this.#pause = FIRST_MS;
    await this.#look();
  }

  protected stop(): void {
    clearTimeout(this.#timer);
    this.#turn += 1;
  }

  async #look(): Promise<void> {
    this.stop();
    const turn = this.#turn;
    await this.resource.load();
    // A newer look replaced this one, or none is wanted any more.
    if (turn !== this.#turn) return;
    const { value } = this.resource;
    if (value && this.#isSettled(value)) return this.#onsettled();
    this.#timer = setTimeout(() => void this.#look(), this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST_MS);
  }
}
