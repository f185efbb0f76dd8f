/** A string that this browser keeps. Where storage is off or full, it lasts as long as the page. */
export class Persisted {
  readonly #key: string;
  #value = $state<string | null>(null);

  constructor(key: string) {
    this.#key = `terrace:${key}`;
    try {
      this.#value = localStorage.getItem(this.#key);
    } catch {
      // Storage is off: nothing was kept.
      this.#value = null;
    }
  }

  get value(): string | null {
    return this.#value;
  }

  set(value: string | null): void {
    this.#value = value;
    try {
      if (value === null) localStorage.removeItem(this.#key);
      else localStorage.setItem(this.#key, value);
    } catch {
      // Storage is off or full: the value lasts as long as the page.
    }
  }
}

/** Removes everything that was kept under a prefix. */
export function forget(prefix: string): void {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(`terrace:${prefix}`)) localStorage.removeItem(key);
    }
  } catch {
    // Storage is off: nothing was kept.
  }
}
