import { failureOf, type Failure } from './errors';

/** Something that is asked of the service, once at a time, and why it failed. */
export class Attempt {
  #isRunning = $state(false);
  #failure = $state.raw<Failure | null>(null);

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Why the last one failed. */
  get failure(): Failure | null {
    return this.#failure;
  }

  /** Asks, and returns the answer; null if that failed. While one runs, another one does nothing. */
  async run<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
    if (this.#isRunning) return null;
    this.#isRunning = true;
    this.#failure = null;
    try {
      return await ask();
    } catch (error) {
      this.#failure = failureOf(error);
      return null;
    } finally {
      this.#isRunning = false;
    }
  }
}
