import { createContext } from 'svelte';
import type { Api } from '$lib/api/client';
import { Refused, failureOf, type Failure } from '$lib/api/errors';
import type { Clock } from '$lib/api/resource.svelte';
import type { Comment, Post } from '$lib/api/types';
import { aged, type Entry, type Keeping } from './entries';

/** What arrived later than it was written. */
type Sent = { kind: 'post'; post: Post } | { kind: 'comment'; comment: Comment };

/** How long after a failure the next attempt is made, unless the service says. */
const PAUSE_S = 15;

/** Runs one task at a time under a name, over all tabs. */
type Exclusive = <Value>(name: string, task: () => Promise<Value>) => Promise<Value>;

/** Posts and comments that are kept until they arrived. Each is stored before it is sent, under one key for ever. */
export class Outbox {
  #entries = $state.raw<Entry[]>([]);
  #account: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #arrived = new Set<(sent: Sent) => void>();
  readonly #api: Api;
  readonly #clock: Clock;
  readonly #keeping: Keeping;
  readonly #exclusive: Exclusive;

  constructor(api: Api, clock: Clock, keeping: Keeping, exclusive: Exclusive) {
    this.#api = api;
    this.#clock = clock;
    this.#keeping = keeping;
    this.#exclusive = exclusive;
  }

  /** What waits, or was given back, for a post, or for the room: the oldest first. */
  entries(postId: string | null): Entry[] {
    return this.#entries.filter((entry) => entry.postId === postId);
  }

  /** Calls `handler` with everything that arrives later than it was written; returns what ends that. */
  onarrived(handler: (sent: Sent) => void): () => void {
    this.#arrived.add(handler);
    return () => this.#arrived.delete(handler);
  }

  /** Sends what waits when the network is back and when the page is seen again. Returns what ends that. */
  follow(): () => void {
    const stop = new AbortController();
    const { signal } = stop;
    const flush = (): void => {
      if (document.visibilityState === 'visible') void this.flush();
    };
    addEventListener('online', flush, { signal });
    document.addEventListener('visibilitychange', flush, { signal });
    return () => {
      stop.abort();
      clearTimeout(this.#timer);
    };
  }

  /** Shows and sends what this account wrote. */
  async use(account: string | null): Promise<void> {
    this.#account = account;
    this.#entries = [];
    await this.flush();
  }

  /**
   * Sends a text by `send`. It is kept before, so that it is not lost, and waits where there is no connection; a refusal
   * throws and leaves it to the author.
   */
  async write(
    text: Pick<Entry, 'key' | 'postId' | 'body'>,
    send: () => Promise<unknown>,
  ): Promise<'sent' | 'waiting'> {
    const account = this.#account;
    if (account === null) throw new Error('no one is signed in');
    const now = this.#clock.now().getTime();
    const entry: Entry = { ...text, account, writtenAt: now, sentAt: now, refusal: null };
    await this.#keeping.put(entry);
    try {
      await this.#exclusive(account, send);
      await this.#keeping.remove(entry.key);
      return 'sent';
    } catch (error) {
      const failure = failureOf(error);
      if (isFinal(failure)) {
        await this.#keeping.remove(entry.key);
        throw failure;
      }
      this.#retryAfter(failure);
      return 'waiting';
    } finally {
      await this.#show();
    }
  }

  /** Sends what waits, in order; each tab may ask, one of them sends. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    const account = this.#account;
    await this.#show();
    if (account === null || !this.#entries.some(({ refusal }) => refusal === null)) return;
    try {
      await this.#exclusive(account, () => this.#sendAll(account));
    } catch (error) {
      this.#retryAfter(failureOf(error));
    } finally {
      await this.#show();
    }
  }

  /** Sends what was given back as a new text. */
  async sendAgain(entry: Entry): Promise<void> {
    await this.#keeping.put({ ...entry, key: crypto.randomUUID(), sentAt: null, refusal: null });
    await this.#keeping.remove(entry.key);
    await this.flush();
  }

  async discard(entry: Entry): Promise<void> {
    await this.#keeping.remove(entry.key);
    await this.#show();
  }

  async #sendAll(account: string): Promise<void> {
    if (!(await this.#is(account))) return;
    for (const kept of await this.#own(account)) {
      const entry = aged(kept, this.#clock.now().getTime());
      if (entry !== kept) await this.#keeping.put(entry);
      if (entry.refusal !== null || this.#account !== account) continue;
      await this.#deliver(entry);
    }
  }

  async #deliver(entry: Entry): Promise<void> {
    const first = { ...entry, sentAt: entry.sentAt ?? this.#clock.now().getTime() };
    await this.#keeping.put(first);
    try {
      const sent = await this.#send(first);
      await this.#keeping.remove(entry.key);
      for (const handler of this.#arrived) handler(sent);
    } catch (error) {
      const failure = failureOf(error);
      if (!(failure instanceof Refused) || !isFinal(failure)) throw failure;
      await this.#keeping.put({ ...first, refusal: failure.code });
    }
  }

  /** Whether the browser is signed in as this account now: another tab may have changed that. */
  async #is(account: string): Promise<boolean> {
    const init = { cache: 'no-store' as const };
    const fan = await this.#api.call((client) => client.GET('/api/user', init));
    return fan.id === account;
  }

  async #send({ key, postId, body }: Entry): Promise<Sent> {
    const header = { 'Idempotency-Key': key };
    if (postId === null) {
      const init = { params: { header }, body: { body } };
      const { post } = await this.#api.call((client) => client.POST('/api/locker-room', init));
      return { kind: 'post', post };
    }
    const init = { params: { path: { id: postId }, header }, body: { body } };
    const { comment } = await this.#api.call((client) => client.POST('/api/locker-room/{id}/comments', init));
    return { kind: 'comment', comment };
  }

  async #own(account: string): Promise<Entry[]> {
    const all = await this.#keeping.all();
    const own = all.filter((entry) => entry.account === account);
    return own.sort((one, other) => one.writtenAt - other.writtenAt);
  }

  async #show(): Promise<void> {
    const account = this.#account;
    const entries = account === null ? [] : await this.#own(account);
    const now = this.#clock.now().getTime();
    if (this.#account === account) this.#entries = entries.map((entry) => aged(entry, now));
  }

  #retryAfter(failure: Failure): void {
    const seconds = failure instanceof Refused ? (failure.retryAfter ?? PAUSE_S) : PAUSE_S;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), seconds * 1000);
  }
}

/** Whether sending again cannot help: the service understood and said no. */
function isFinal(failure: Failure): boolean {
  if (!(failure instanceof Refused)) return false;
  const { status } = failure.problem;
  return status < 500 && status !== 429 && status !== 401 && status !== 408;
}

export const [useOutbox, setOutbox] = createContext<Outbox>();
