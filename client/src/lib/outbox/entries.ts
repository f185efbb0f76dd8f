/** A text that was written and is not known to have arrived. */
export interface Entry {
  /** Sending under the same key again has no second effect. */
  key: string;
  /** Who wrote it: it is never sent as another. */
  account: string;
  /** The post that it answers; `null` for a post. */
  postId: string | null;
  body: string;
  writtenAt: number;
  /** When it was first sent, arrived or not; `null` if never. */
  sentAt: number | null;
  /** The code of the problem for which it is not sent again by itself. */
  refusal: string | null;
}

/** Whether what a database holds is an entry: it has no types. */
export function isEntry(kept: unknown): kept is Entry {
  if (typeof kept !== 'object' || kept === null) return false;
  const { key, account, postId, body, writtenAt, sentAt, refusal }: Partial<Record<string, unknown>> = {
    ...kept,
  };
  const [texts, optional] = [
    [key, account, body],
    [postId, refusal],
  ];
  return (
    texts.every((text) => typeof text === 'string') &&
    optional.every((text) => text === null || typeof text === 'string') &&
    typeof writtenAt === 'number' &&
    (sentAt === null || typeof sentAt === 'number')
  );
}

/** Keys live for a day in the service. An hour less leaves room for clocks that differ. */
const KEY_LIFE_MS = 23 * 60 * 60_000;
/** Why an entry that was sent too long ago is a draft. */
export const TOO_OLD = 'too_old';

/** The entry as it is now: after the life of its key it is only sent when its author says so. */
export function aged(entry: Entry, now: number): Entry {
  const isOld = entry.refusal === null && entry.sentAt !== null && now - entry.sentAt > KEY_LIFE_MS;
  return isOld ? { ...entry, refusal: TOO_OLD } : entry;
}

/** Where entries are kept. */
export interface Keeping {
  all: () => Promise<Entry[]>;
  put: (entry: Entry) => Promise<void>;
  remove: (key: string) => Promise<void>;
}

/** Keeps entries as long as the page: where the browser keeps nothing. */
export class PageKeeping implements Keeping {
  readonly #entries = new Map<string, Entry>();

  all(): Promise<Entry[]> {
    return Promise.resolve([...this.#entries.values()]);
  }

  put(entry: Entry): Promise<void> {
    this.#entries.set(entry.key, entry);
    return Promise.resolve();
  }

  remove(key: string): Promise<void> {
    this.#entries.delete(key);
    return Promise.resolve();
  }
}
