import { Persisted } from '$lib/persisted.svelte';
import { Refused } from './errors';
import type { Clock } from './resource.svelte';

/** Keys are kept by the service for 24 hours; an older one would do the same again. */
const KEY_LASTS_MS = 23 * 3_600_000;

interface Kept {
  at: number;
  key: string;
  content: string;
}

/** A request that is made once: its key outlives the page until an answer says what became of it. */
export class KeptRequest {
  readonly #clock: Clock;
  readonly #kept: Persisted;

  constructor(clock: Clock, name: string) {
    this.#clock = clock;
    this.#kept = new Persisted(name);
  }

  /** The content of a request that was sent and whose answer never arrived; null if there is none. */
  get kept(): string | null {
    return this.#read()?.content ?? null;
  }

  /** Whether a request with this content was sent whose answer never arrived. */
  isKept(content = ''): boolean {
    return this.kept === content;
  }

  /** Sends a request under its key: the same one as before if what became of the same content is not known. */
  async send<Answer>(content: string, send: (key: string) => Promise<Answer>): Promise<Answer> {
    const before = this.#read();
    const { at, key } =
      before?.content === content ? before : { at: this.#clock.now().getTime(), key: crypto.randomUUID() };
    this.#kept.set(`${String(at)} ${key} ${content}`);
    try {
      const answer = await send(key);
      this.#kept.set(null);
      return answer;
    } catch (error) {
      // A request that was refused did nothing; one that got lost, or met a failing service, may have.
      if (error instanceof Refused && error.problem.status < 500) this.#kept.set(null);
      throw error;
    }
  }

  #read(): Kept | null {
    const [at, key, ...rest] = this.#kept.value?.split(' ') ?? [];
    if (at === undefined || key === undefined) return null;
    const isFresh = this.#clock.now().getTime() - Number(at) < KEY_LASTS_MS;
    return isFresh ? { at: Number(at), key, content: rest.join(' ') } : null;
  }
}
