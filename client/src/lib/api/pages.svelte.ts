import { More, type Paged } from './more.svelte';
import { Resource, systemClock, type Clock } from './resource.svelte';

/** The rows of a list as far as they were read. */
export interface Rows<Row> {
  rows: readonly Row[];
  nextCursor: string | null;
}

/** A list of rows that is read page by page. */
export class Pages<Row> implements Paged {
  readonly list: Resource<Rows<Row>>;
  readonly further: More<Rows<Row>>;
  readonly #read: (cursor: string | null, signal?: AbortSignal) => Promise<Rows<Row>>;

  constructor(
    read: (cursor: string | null, signal?: AbortSignal) => Promise<Rows<Row>>,
    clock: Clock = systemClock,
  ) {
    this.#read = read;
    this.list = new Resource((signal) => read(null, signal), clock);
    this.further = new More(this.list);
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

  more(): Promise<void> {
    return this.further.read(
      (cursor) => this.#read(cursor),
      ({ rows }, next) => ({ rows: [...rows, ...next.rows], nextCursor: next.nextCursor }),
    );
  }
}
