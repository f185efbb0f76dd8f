import { withAgeOf } from '$lib/api/age';
import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import type { Failure } from '$lib/api/errors';
import { pageQuery } from '$lib/api/more.svelte';
import { Pages, type Rows } from '$lib/api/pages.svelte';
import type { Clock } from '$lib/api/resource.svelte';
import type { InboxRow } from '$lib/api/types';
import type { OwnEvent } from '$lib/live/own';
import { Wishes } from '$lib/wishes.svelte';

/** How long events are collected before the list is read again. */
const COLLECT_MS = 250;

interface Handlers {
  /** How much is unread now. */
  onUnread: (unread: number) => void;
  /** A notification that could not be marked is unread again. */
  onRollback: (failure: Failure) => void;
}

/** What a fan is notified of. */
export class Inbox {
  readonly groups: Pages<InboxRow>;
  /** Marking everything as read. */
  readonly marking = new Attempt();
  readonly #api: Api;
  readonly #onUnread: (unread: number) => void;
  readonly #marked: Wishes<boolean>;
  /** Everything up to there can be marked as read at once. */
  #position = 0;
  #collecting: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api, clock: Clock, { onUnread, onRollback }: Handlers) {
    this.#api = api;
    this.#onUnread = onUnread;
    this.groups = new Pages((cursor, signal) => this.#read(cursor, signal), clock);
    this.#marked = new Wishes((id) => this.#send({ ids: [id] }), onRollback);
  }

  /** Whether a notification is unread, as the reader wants it. */
  isUnread({ id, readAt }: InboxRow): boolean {
    return !this.#marked.over(id, readAt !== null);
  }

  async markRead(row: InboxRow): Promise<void> {
    if (this.isUnread(row)) await this.#marked.set(row.id, true);
  }

  /** Marks all that was there when the list was read. What came since stays unread. */
  async markAll(): Promise<boolean> {
    const isDone = await this.marking.run(async () => {
      await this.#send({ upTo: this.#position });
      return true;
    });
    if (isDone) await this.#renew();
    return isDone ?? false;
  }

  /** Takes over what happens while the list is shown. */
  readonly onchange = (event: OwnEvent): void => {
    if (event.name === 'notification.created') {
      const { notification, streamPosition } = event.data;
      this.#position = Math.max(this.#position, streamPosition);
      this.#change((rows) => withRow(rows, notification));
    } else if (event.name === 'notification.read') {
      const { ids, upTo } = event.data;
      if (upTo === null) this.#change((rows) => withRead(rows, ids));
      else this.#renewSoon();
    } else if (event.name === 'resync') {
      this.#renewSoon();
    }
  };

  stop(): void {
    clearTimeout(this.#collecting);
  }

  #renew(): Promise<void> {
    return this.groups.renew(({ id }) => id);
  }

  #renewSoon(): void {
    this.#collecting ??= setTimeout(() => {
      this.#collecting = undefined;
      void this.#renew();
    }, COLLECT_MS);
  }

  #change(change: (rows: readonly InboxRow[]) => InboxRow[]): void {
    const { list } = this.groups;
    list.update((page) => ({ ...page, rows: change(page.rows) }));
    // What is being read now may be older than the change.
    if (list.isReading) this.#renewSoon();
  }

  async #read(cursor: string | null, signal?: AbortSignal): Promise<Rows<InboxRow>> {
    const init = { params: { query: pageQuery(cursor) }, signal: signal ?? null };
    const page = await this.#api.call((client) => client.GET('/api/notifications', init));
    if (cursor === null) {
      this.#position = page.streamPosition;
      this.#onUnread(page.unread);
    }
    return withAgeOf(page, { rows: page.notifications, nextCursor: page.nextCursor ?? null });
  }

  async #send(body: { ids: string[] } | { upTo: number }): Promise<void> {
    const { unread } = await this.#api.call((client) => client.POST('/api/notifications/read', { body }));
    this.#onUnread(unread);
    if ('ids' in body) this.#change((rows) => withRead(rows, body.ids));
  }
}

/** The list with a group that is new or has changed, at the place of its first event. */
function withRow(rows: readonly InboxRow[], row: InboxRow): InboxRow[] {
  const others = rows.filter(({ id }) => id !== row.id);
  return [...others, row].sort((one, other) => other.createdAt.localeCompare(one.createdAt));
}

function withRead(rows: readonly InboxRow[], ids: readonly string[]): InboxRow[] {
  const now = new Date().toISOString();
  return rows.map((row) => (ids.includes(row.id) ? { ...row, readAt: row.readAt ?? now } : row));
}
