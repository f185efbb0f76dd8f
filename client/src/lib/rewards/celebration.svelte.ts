import type { Api } from '../api/client';
import { failureOf } from '../api/errors';
import type { LeaderboardPage } from '../api/types';
import type { Texts } from '../i18n/texts.svelte';
import type { LiveEvent } from '../live/events';
import type { Live, View } from '../live/live';
import type { OwnEvents } from '../live/own';
import { Persisted } from '../persisted.svelte';
import type { Session } from '../session.svelte';
import type { Announcer } from '../ui/announcer.svelte';
import type { Moment } from '../ui/moment';
import { keyOf, rewardOf, type Reward } from './reward';

/** How long events are collected, so that what was earned together is shown together. */
const COLLECT_MS = 250;
/** How much longer a window collects that has not the focus: of several, the one that is used shows the moment. */
const ASIDE_MS = 500;
/** How long a moment waits for the fan's place in the table. */
const PLACE_MS = 1_000;
/** After how long the table is read again if that failed. */
const RETRY_MS = 15_000;

/** The browser, as far as tabs agree on which of them shows a moment. */
export interface Scene {
  /** Claims what was earned together. Returns the names that this tab was the first to claim. */
  claim: (names: readonly string[]) => Promise<readonly string[]>;
  hasFocus: () => boolean;
  /** Whether the fan writes, answers a question or awaits an outcome, which no moment interrupts. */
  isOccupied: () => boolean;
}

interface Parts {
  api: Api;
  announcer: Announcer;
  live: Live;
  own: OwnEvents;
  session: Session;
  texts: Texts;
  scene: Scene;
}

/** Follows what happens to the fan: shows what was earned, and keeps the balances. */
export class Celebration implements View {
  readonly channels = ['me'];
  #moment = $state.raw<Moment | null>(null);
  #rewards: readonly Reward[] = [];
  #pending: Reward[] = [];
  #place: { seasonId: string; rank: number } | null = null;
  #collecting: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isEnded = false;
  readonly #known = new Set<string>();
  /** The keys of what was earned in this tab. */
  readonly #earned = new Set<string>();
  readonly #parts: Parts;
  /** When the newest reward was earned that this browser knows of. */
  readonly #newest: Persisted;
  /** What was earned until then was seen before: a stream can begin earlier. */
  readonly #seenUntil: string;

  constructor(parts: Parts, fanId: string) {
    this.#parts = parts;
    this.#newest = new Persisted(`rewards:${fanId}`);
    this.#seenUntil = this.#newest.value ?? '';
  }

  get moment(): Moment | null {
    return this.#moment;
  }

  /** Follows the fan's events from a position on. Returns what ends that. */
  start(since: number | null): () => void {
    const stop = this.#parts.own.on((event) => {
      if (event.name === 'earned') for (const reward of event.rewards) this.#earn(reward);
    });
    if (since !== null) this.#parts.live.join(this, since);
    void this.#begin(since !== null);
    return () => {
      this.#isEnded = true;
      stop();
      this.#parts.live.part(this);
      clearTimeout(this.#collecting);
      clearTimeout(this.#retry);
    };
  }

  close(): void {
    this.#rewards = [];
    this.#moment = null;
  }

  readonly onevent = (event: LiveEvent): void => {
    if (!event.data.channels.includes('me')) return;
    this.#parts.own.publish(event);
    if (event.name === 'notification.created' || event.name === 'notification.read') {
      this.#parts.session.noteUnread(event.data.unread);
      return;
    }
    const reward = rewardOf(event);
    if (reward) this.#notice(reward);
    this.#collect(COLLECT_MS + (this.#parts.scene.hasFocus() ? 0 : ASIDE_MS));
  };

  readonly onresync = (): void => {
    this.#parts.own.publish({ name: 'resync', data: { channels: this.channels } });
    void this.#parts.session.refresh();
    void this.#begin();
  };

  /** Reads where the fan stands, and joins the stream there unless that is done. */
  async #begin(isJoined = false): Promise<void> {
    clearTimeout(this.#retry);
    const table = await this.#readTable();
    if (this.#isEnded) return;
    if (!table) this.#retry = setTimeout(() => void this.#begin(isJoined), RETRY_MS);
    else if (!isJoined) this.#parts.live.join(this, table.streamPosition);
  }

  /** Takes what the fan has just earned in this tab: it is shown here, whatever other tabs do. */
  #earn(reward: Reward): void {
    const key = keyOf(reward);
    this.#earned.add(key);
    void this.#parts.scene.claim([key]);
    if (this.#note(reward)) this.#pending.push(reward);
    this.#collect(0);
  }

  #notice(reward: Reward): void {
    const isSeen = 'at' in reward && reward.at <= this.#seenUntil;
    if (!isSeen && this.#note(reward)) this.#pending.push(reward);
  }

  /** Whether a reward is new to this tab. */
  #note(reward: Reward): boolean {
    const key = keyOf(reward);
    if (this.#known.has(key)) return false;
    this.#known.add(key);
    if ('at' in reward && reward.at > (this.#newest.value ?? '')) this.#newest.set(reward.at);
    return true;
  }

  #collect(wait: number): void {
    this.#collecting ??= setTimeout(() => void this.#settle(), wait);
  }

  /** Shows what was collected, with the place in the table that it led to. */
  async #settle(): Promise<void> {
    this.#collecting = undefined;
    void this.#parts.session.refresh();
    const gain = this.#gain();
    const inTime = await Promise.race([gain, pause(PLACE_MS)]);
    if (inTime === undefined) void gain.then((late) => this.#show(late ? [late] : []));
    const pending = this.#pending;
    this.#pending = [];
    await this.#show(inTime ? [...pending, inTime] : pending);
  }

  async #show(rewards: readonly Reward[]): Promise<void> {
    const { announcer, scene, texts } = this.#parts;
    if (rewards.length === 0) return;
    const claimed = new Set([...(await scene.claim(rewards.map(keyOf))), ...this.#earned]);
    const mine = rewards.filter((reward) => claimed.has(keyOf(reward)));
    const loaded = mine.length > 0 ? await load(texts) : null;
    if (!loaded || this.#isEnded) return;
    const moment = loaded.momentOf(mine, texts);
    if (!moment) return;
    const words = loaded.inWords(moment);
    if (this.#rewards.length === 0 && scene.isOccupied()) {
      announcer.toast(words);
      return;
    }
    announcer.announce(words);
    this.#rewards = [...this.#rewards, ...mine];
    this.#moment = loaded.momentOf(this.#rewards, texts);
  }

  /** The better place that the fan has since the table was last read. */
  async #gain(): Promise<Reward | null> {
    const before = this.#place;
    const me = (await this.#readTable())?.me;
    const now = this.#place;
    if (!me || !before || !now || now.seasonId !== before.seasonId || now.rank >= before.rank) return null;
    const id = `${now.seasonId}:${String(me.points)}`;
    const gain: Reward = { kind: 'rank', id, rank: now.rank, before: before.rank };
    return this.#note(gain) ? gain : null;
  }

  /** The table of all fans, as far as it says where the fan stands and where the stream continues. */
  async #readTable(): Promise<LeaderboardPage | null> {
    try {
      const init = { params: { query: { limit: 1 } }, cache: 'no-store' as const };
      const table = await this.#parts.api.call((client) => client.GET('/api/leaderboard', init));
      this.#place = table.me ? { seasonId: table.season.id, rank: table.me.rank } : null;
      return table;
    } catch (error) {
      failureOf(error);
      return null;
    }
  }
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What puts a moment into words, and its texts; `null` if they could not be loaded. */
async function load(texts: Texts) {
  try {
    const [words] = await Promise.all([import('./moment-of'), texts.load('pages', 'more')]);
    return words;
  } catch {
    // There is no connection, or a newer client replaced this one: the page shows what was earned.
    return null;
  }
}
