import { failureOf, type Failure } from './errors';
import { Resource, systemClock, type Clock } from './resource.svelte';

/** The rows of a list as far as they were read. */
export interface Rows<Row> {
  rows: readonly Row[];
  nextCursor: string | null;
}

/** A list that is read page by page. */
export class Pages<Row> {
  readonly list: Resource<Rows<Row>>;
  readonly #read: (cursor: string | null, signal?: AbortSignal) => Promise<Rows<Row>>;
  #isReadingMore = $state(false);
  #failure = $state.raw<Failure | null>(null);

  constructor(
    read: (cursor: string | null, signal?: AbortSignal) => Promise<Rows<Row>>,
    clock: Clock = systemClock,
  ) {
    this.#read = read;
    this.list = new Resource((signal) => read(null, signal), clock);
  }

  get isReadingMore(): boolean {
    return this.#isReadingMore;
  }

  /** Why the next page was not read. */
  get failure(): Failure | null {
    return this.#failure;
  }

  /** Reads the first page again and keeps the rows below it. New rows come first. */
  async renew(keyOf: (row: Row) => string): Promise<void> {
    const before = this.list.value;
    await this.list.load();
    const read = this.list.value;
    if (!before || !read || before === read) return;
    const last = read.rows.at(-1);
    const place = last ? before.rows.findIndex((row) => keyOf(row) === keyOf(last)) : -1;
    const below = place < 0 ? [] : before.rows.slice(place + 1);
    if (below.length === 0) return;
    this.list.update(({ rows }) => ({ rows: [...rows, ...below], nextCursor: before.nextCursor }));
  }

  async more(): Promise<void> {
    const cursor = this.list.value?.nextCursor ?? null;
    if (this.#isReadingMore || cursor === null) return;
    this.#isReadingMore = true;
    this.#failure = null;
    try {
      const next = await this.#read(cursor);
      // The list was read anew meanwhile: the page belongs to the one before.
      if (this.list.value?.nextCursor !== cursor) return;
      this.list.update(({ rows }) => ({ rows: [...rows, ...next.rows], nextCursor: next.nextCursor }));
    } catch (error) {
      this.#failure = failureOf(error);
    } finally {
      this.#isReadingMore = false;
    }
  }
}

/** The query of a page of a list. */
export function pageQuery(cursor: string | null): { cursor?: string } {
  return cursor === null ? {} : { cursor };
}
