import { ageOf, withAgeOf } from '$lib/api/age';
import type { Api } from '$lib/api/client';
import { failureOf } from '$lib/api/errors';
import { pageQuery } from '$lib/api/more.svelte';
import { Pages, type Rows } from '$lib/api/pages.svelte';
import type { Clock } from '$lib/api/resource.svelte';
import type { Round } from '$lib/api/types';
import { ServerClock } from './server-clock.svelte';

const LIMIT = 10;
/** How long after a round began or ended the list is read again; more by chance, so that readers spread. */
const PATIENCE_MS = 500;
const SPREAD_MS = 1_500;
/** The longest wait for what is due later. */
const LONGEST_MS = 3_600_000;

/** The rounds that are open or to come, and those of the past. */
export class Rounds {
  readonly current: Pages<Round>;
  readonly past: Pages<Round>;
  readonly time = new ServerClock();
  readonly #api: Api;

  constructor(api: Api, clock: Clock) {
    this.#api = api;
    this.current = new Pages(async (cursor, signal) => {
      const page = await this.#read('current', cursor, signal);
      if (cursor === null && ageOf(page) === null) void this.#learnTime(page.rows);
      return page;
    }, clock);
    this.past = new Pages((cursor, signal) => this.#read('past', cursor, signal), clock);
  }

  /** Reads both lists again. Rows below the first page stay. */
  async renew(): Promise<void> {
    await Promise.all([this.current.renew(({ id }) => id), this.past.renew(({ id }) => id)]);
  }

  /** Reads the lists again once a round of them begins or ends. Returns what ends the wait. */
  wait(): () => void {
    const now = this.time.now();
    const rounds = this.current.list.value?.rows ?? [];
    const due = rounds.map(({ status, startsAt, closesAt }) =>
      Date.parse(status === 'scheduled' ? startsAt : closesAt),
    );
    if (now === null || due.length === 0) return () => undefined;
    const wait = Math.min(Math.max(Math.min(...due) - now, 0) + PATIENCE_MS, LONGEST_MS);
    const timer = setTimeout(() => void this.renew(), wait + SPREAD_MS * Math.random());
    return () => clearTimeout(timer);
  }

  async #read(status: 'current' | 'past', cursor: string | null, signal?: AbortSignal): Promise<Rows<Round>> {
    const params = { query: { status, limit: LIMIT, ...pageQuery(cursor) } };
    const page = await this.#api.call((client) =>
      client.GET('/api/trivia', { params, signal: signal ?? null }),
    );
    return withAgeOf(page, { rows: page.rounds, nextCursor: page.nextCursor });
  }

  /** A list does not name the time of the service: a round does. */
  async #learnTime([first]: readonly Round[]): Promise<void> {
    if (!first) return;
    const sentAt = this.time.mark();
    const init = { params: { path: { id: first.id } } };
    try {
      const read = await this.#api.call((client) => client.GET('/api/trivia/{id}', init));
      if (ageOf(read) === null) this.time.note(read.serverNow, sentAt);
    } catch (error) {
      // Without it the list says when a round begins, and counts nothing down.
      failureOf(error);
    }
  }
}
