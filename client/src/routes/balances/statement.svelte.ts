import { withAgeOf } from '$lib/api/age';
import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { pageQuery } from '$lib/api/more.svelte';
import { Pages } from '$lib/api/pages.svelte';
import type { Clock } from '$lib/api/resource.svelte';
import type { CashEntry, CashStatement } from '$lib/api/types';
import { saveFile } from '$lib/save-file';
import type { Period } from './period';

/** How many entries are read at once. */
const LIMIT = 100;

/** A statement of a fan's money: its two balances, and the entries between them, the oldest first. */
export class CashReport {
  readonly entries: Pages<CashEntry>;
  readonly saving = new Attempt();
  #ends = $state.raw<Pick<CashStatement, 'opening' | 'closing' | 'currency'> | null>(null);
  readonly #api: Api;
  readonly #query: Period & { currency?: string };

  constructor(api: Api, clock: Clock, query: Period & { currency?: string }) {
    this.#api = api;
    this.#query = query;
    this.entries = new Pages(async (cursor, signal) => {
      const params = { query: { ...query, limit: LIMIT, ...pageQuery(cursor) } };
      const page = await api.call((client) =>
        client.GET('/api/cash-balance/statement', { params, signal: signal ?? null }),
      );
      this.#ends = page;
      return withAgeOf(page, { rows: page.entries, nextCursor: page.nextCursor ?? null });
    }, clock);
  }

  get ends(): Pick<CashStatement, 'opening' | 'closing' | 'currency'> | null {
    return this.#ends;
  }

  /** Reads it again, unless further pages were read: they would be lost, and they end where the first one says. */
  renew(): void {
    if ((this.entries.list.value?.rows.length ?? 0) <= LIMIT) void this.entries.list.load();
  }

  /** Saves the whole statement. Read by script: a link cannot ask for this type. */
  async save(): Promise<void> {
    const init = {
      params: { query: this.#query },
      headers: { accept: 'text/csv' },
      parseAs: 'text' as const,
      // What is kept for reading without a connection is the page.
      cache: 'no-store' as const,
    };
    const text = await this.saving.run(() =>
      this.#api.call((client) => client.GET('/api/cash-balance/statement', init)),
    );
    if (text !== null) saveFile('terrace-statement.csv', text, 'text/csv');
  }
}
