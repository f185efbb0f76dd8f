import { ageOf } from './age';
import { Unreachable, failureOf, isAborted, type Failure } from './errors';

/** A value and when it was read. */
export interface Read<Value> {
  value: Value;
  at: Date;
}

type ResourceState<Value> =
  | { kind: 'loading' }
  | { kind: 'ready'; read: Read<Value> }
  /** The last read failed; `old` is what was read earlier. */
  | { kind: 'failed'; failure: Failure; old: Read<Value> | null };

export interface Clock {
  now: () => Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** Something that is read from the service. A new read aborts the one before, whose answer is dropped. */
export class Resource<Value> {
  #state = $state.raw<ResourceState<Value>>({ kind: 'loading' });
  #isReading = $state(false);
  #running: AbortController | null = null;
  readonly #read: (signal: AbortSignal) => Promise<Value>;
  readonly #clock: Clock;

  constructor(read: (signal: AbortSignal) => Promise<Value>, clock: Clock = systemClock) {
    this.#read = read;
    this.#clock = clock;
  }

  get state(): ResourceState<Value> {
    return this.#state;
  }

  get isReading(): boolean {
    return this.#isReading;
  }

  /** The newest value, however old. */
  get value(): Value | null {
    return this.#known()?.value ?? null;
  }

  /** Reads again. Resolves when an answer or a failure is shown, or when a newer read replaced this one. */
  async load(): Promise<void> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    this.#isReading = true;
    try {
      const value = await this.#read(running.signal);
      if (this.#running === running) this.#take(value);
    } catch (error) {
      if (this.#running !== running || isAborted(error)) return;
      this.#state = { kind: 'failed', failure: failureOf(error), old: this.#known() };
    } finally {
      if (this.#running === running) this.#isReading = false;
    }
  }

  /** Forgets the value, as if nothing had been read. */
  reset(): void {
    this.#running?.abort();
    this.#running = null;
    this.#isReading = false;
    this.#state = { kind: 'loading' };
  }

  /** Sets the value, as if it had been read now. */
  replace(value: Value): void {
    this.#state = { kind: 'ready', read: { value, at: this.#clock.now() } };
  }

  /** Changes the value without changing its age. */
  update(change: (value: Value) => Value): void {
    const state = this.#state;
    if (state.kind === 'ready') {
      this.#state = { kind: 'ready', read: { ...state.read, value: change(state.read.value) } };
    } else if (state.kind === 'failed' && state.old) {
      this.#state = { ...state, old: { ...state.old, value: change(state.old.value) } };
    }
  }

  /** Shows an answer; one that was kept from earlier as what it is, and only if nothing newer is known. */
  #take(value: Value): void {
    const at = ageOf(value);
    if (at === null) {
      this.replace(value);
      return;
    }
    const known = this.#known();
    const old = known && known.at >= at ? known : { value, at };
    this.#state = { kind: 'failed', failure: new Unreachable('kept from earlier'), old };
  }

  #known(): Read<Value> | null {
    const state = this.#state;
    if (state.kind === 'ready') return state.read;
    return state.kind === 'failed' ? state.old : null;
  }
}
