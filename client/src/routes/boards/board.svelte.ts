import { ageOf } from '$lib/api/age';
import type { Api } from '$lib/api/client';
import { More, type Paged } from '$lib/api/more.svelte';
import { Resource } from '$lib/api/resource.svelte';
import type { LeaderboardEntry, LeaderboardPage } from '$lib/api/types';
import type { LiveEvent } from '$lib/live/events';
import type { View } from '$lib/live/live';
import { afterScores, renewedTable, type Score } from './scores';

/** Rows change places at most this often, so that one can follow them. */
const PASS_MS = 2_000;

/** Which rows of a table are shown. */
interface Cut {
  /** A season that is over; `null` for the one that is running. */
  seasonId: string | null;
  /** Whether the rows around the reader are shown instead of the first ones. */
  isAroundOwn: boolean;
}

const TOP: Cut = { seasonId: null, isAroundOwn: false };

/** One table: the page that was read first, and what was read before and after it. */
export class Board implements View, Paged {
  readonly page: Resource<LeaderboardPage>;
  readonly further: More<LeaderboardPage>;
  #isJoining = $state(false);
  readonly #api: Api;
  readonly #id: string | null;
  readonly #fanId: string | null;
  readonly #cut: Cut;
  #scores: Score[] = [];
  #isStale = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** The table with this id as this fan reads it; the global one of the season without. */
  constructor(api: Api, id: string | null, fanId: string | null = null, cut: Cut = TOP) {
    this.#api = api;
    this.#id = id;
    this.#fanId = fanId;
    this.#cut = cut;
    this.page = new Resource(async (signal) => {
      const shown = this.isLive ? this.page.value : null;
      const read = await this.#read(null, signal);
      return shown && ageOf(read) === null ? renewedTable(shown, read) : read;
    });
    this.further = new More(this.page);
  }

  /** Whether it changes as scores do. A season that is over is final, and rows around one are those of one moment. */
  get isLive(): boolean {
    return this.#cut.seasonId === null && !this.#cut.isAroundOwn;
  }

  get channels(): string[] {
    return [this.#id === null ? 'board' : `board:${this.#id}`];
  }

  readonly onevent = ({ name, data }: LiveEvent): void => {
    if (name !== 'score.changed' && name !== 'board.reset') return;
    if (!data.channels.some((channel) => this.channels.includes(channel))) return;
    if (name === 'score.changed') this.#scores.push(data);
    else this.#isStale = true;
    this.#timer ??= setTimeout(() => this.#pass());
  };

  readonly onresync = (): void => void this.page.load();

  /** Ends what waits for the next pass. */
  close(): void {
    clearTimeout(this.#timer);
  }

  get isJoining(): boolean {
    return this.#isJoining;
  }

  /** Adds the places below those that are shown. */
  more(): Promise<void> {
    return this.further.read(
      (cursor) => this.#read(cursor),
      (page, { entries, nextCursor }) => ({ ...page, nextCursor, entries: [...page.entries, ...entries] }),
    );
  }

  /** Adds the places above those that are shown. */
  earlier(): Promise<void> {
    return this.further.read(
      (cursor) => this.#read(cursor),
      (page, { entries, previousCursor }) => ({
        ...page,
        previousCursor,
        entries: [...entries, ...page.entries],
      }),
      'previousCursor',
    );
  }

  /** Lists the reader, then reads the table again. */
  async join(leaderboardId: string): Promise<void> {
    if (this.#isJoining) return;
    this.#isJoining = true;
    try {
      await this.#api.call((client) => client.POST('/api/leaderboard/join', { body: { leaderboardId } }));
      await this.page.load();
    } finally {
      this.#isJoining = false;
    }
  }

  /** Shows the changes since the last pass, and waits before the next one. */
  #pass(): void {
    const scores = this.#scores;
    this.#scores = [];
    let isStale = this.#isStale;
    this.#isStale = false;
    if (scores.length === 0 && !isStale) {
      this.#timer = undefined;
      return;
    }
    this.#timer = setTimeout(() => this.#pass(), PASS_MS);
    this.page.update((before) => {
      const { page, isKnown } = afterScores(before, scores, this.#fanId);
      isStale ||= !isKnown;
      return page;
    });
    if (isStale) void this.page.load();
  }

  #read(cursor: string | null, signal?: AbortSignal): Promise<LeaderboardPage> {
    const { seasonId, isAroundOwn } = this.#cut;
    const query = {
      ...(this.#id === null ? {} : { leaderboardId: this.#id }),
      ...(seasonId === null ? {} : { seasonId }),
      ...(cursor === null ? (isAroundOwn ? { around: 'me' } : {}) : { cursor }),
    };
    const init = { params: { query }, signal: signal ?? null };
    return this.#api.call((client) => client.GET('/api/leaderboard', init));
  }
}

/** Whether the reader's own row is among those that are shown. */
export function isListed(entries: readonly LeaderboardEntry[], fanId: string): boolean {
  return entries.some((entry) => entry.user?.id === fanId);
}
