import { PageKeeping, isEntry, type Entry, type Keeping } from './entries';

const STORE = 'outbox';

/** Keeps entries in the browser's database; where there is none, as long as the page. */
export class DatabaseKeeping implements Keeping {
  readonly #fallback = new PageKeeping();
  readonly #open = openDatabase();

  async all(): Promise<Entry[]> {
    const kept = await this.#run<unknown[]>('readonly', (store) => store.getAll());
    // What another version of the client kept in its own form stays for that version.
    return [...(kept?.result ?? []).filter(isEntry), ...(await this.#fallback.all())];
  }

  async put(entry: Entry): Promise<void> {
    const kept = await this.#run('readwrite', (store) => store.put(entry));
    if (kept === null) await this.#fallback.put(entry);
  }

  async remove(key: string): Promise<void> {
    await this.#run('readwrite', (store) => store.delete(key));
    await this.#fallback.remove(key);
  }

  /** What the request gave once it is written; `null` if nothing can be kept. */
  async #run<Result>(
    mode: IDBTransactionMode,
    request: (store: IDBObjectStore) => IDBRequest<Result>,
  ): Promise<{ result: Result } | null> {
    const database = await this.#open;
    if (!database) return null;
    return new Promise((resolve) => {
      const work = database.transaction(STORE, mode, { durability: 'strict' });
      const made = request(work.objectStore(STORE));
      work.oncomplete = () => resolve({ result: made.result });
      work.onabort = () => resolve(null);
    });
  }
}

function openDatabase(): Promise<IDBDatabase | null> {
  return new Promise((resolve) => {
    try {
      const opening = indexedDB.open('terrace', 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: 'key' });
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => resolve(null);
    } catch {
      // Storage is off.
      resolve(null);
    }
  });
}

/** Runs a task under a lock of the browser; where it has none, each tab by itself: a key makes that harmless. */
export function exclusive<Value>(name: string, task: () => Promise<Value>): Promise<Value> {
  const { locks }: { locks?: LockManager } = navigator;
  if (!locks) return task();
  return new Promise((resolve, reject) => {
    locks.request(`terrace:outbox:${name}`, () => task().then(resolve, reject)).catch(reject);
  });
}
