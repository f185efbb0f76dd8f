import { Attempt } from './attempt.svelte';
import type { Resource } from './resource.svelte';

interface Cursors {
  nextCursor?: string | null;
  previousCursor?: string | null;
}

/** The pages of a list beyond the one that was read first. */
export class More<Page extends Cursors> extends Attempt {
  readonly #list: Resource<Page>;

  constructor(list: Resource<Page>) {
    super();
    this.#list = list;
  }

  /** Whether the list goes on. */
  get isLeft(): boolean {
    return this.#list.value?.nextCursor != null;
  }

  /** Reads the page at a cursor of the list and adds it. */
  async read<Next>(
    read: (cursor: string, shown: Page) => Promise<Next>,
    added: (shown: Page, next: Next) => Page,
    cursor: keyof Cursors = 'nextCursor',
  ): Promise<void> {
    const shown = this.#list.value;
    const at = shown?.[cursor];
    if (!shown || at == null) return;
    await this.run(async () => {
      const next = await read(at, shown);
      // A list that was read anew meanwhile begins elsewhere.
      this.#list.update((page) => (page[cursor] === at ? added(page, next) : page));
    });
  }
}

/** A list that is read page by page. */
export interface Paged {
  readonly further: Pick<More<Cursors>, 'failure' | 'isLeft' | 'isRunning'>;
  more: () => Promise<void>;
}

/** The query of a page of a list. */
export function pageQuery(cursor: string | null): { cursor?: string } {
  return cursor === null ? {} : { cursor };
}
