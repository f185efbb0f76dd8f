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

  more(): Promise<void> {
    return this.further.read(
      (cursor) => this.#read(cursor),
      ({ rows }, next) => ({ rows: [...rows, ...next.rows], nextCursor: next.nextCursor }),
    );
  }
}
