import { EVENT_NAMES, eventOf, type EventName, type LiveEvent } from './events';
import { EventLog } from './log';

/** What tabs say to each other. */
export type Message =
  /** A tab leads from now on: the others say what they want. */
  | { kind: 'lead' }
  | Want
  /** A tab is hidden or closed. */
  | { kind: 'bye'; tab: string }
  /** What a tab missed, and the position that it has then. */
  | { kind: 'answer'; tab: string; events: LiveEvent[]; position: number }
  | { kind: 'event'; event: LiveEvent; position: number | null };

/** A tab shows these channels, as they were at a position. */
interface Want {
  kind: 'want';
  tab: string;
  channels: string[];
  since: number;
}

/** What is used of an `EventSource`. */
export type Source = Pick<EventSource, 'addEventListener' | 'close' | 'readyState'>;

const CLOSED = 2;
/** The service refuses more. */
const MOST_CHANNELS = 32;
/** How long wants are collected, so that several tabs open one stream. */
const COLLECT_MS = 30;
/** How long after a refusal the stream is opened again; as long again by chance, so that many clients spread. */
const PAUSE_MS = 5_000;

/** Holds the one stream of a browser and tells all tabs what it says. */
export class Leader {
  readonly #open: (address: string) => Source;
  readonly #tell: (message: Message) => void;
  readonly #refused: () => Promise<void>;
  readonly #wants = new Map<string, Want>();
  #unanswered: Want[] = [];
  #log: EventLog | null = null;
  #channels: string[] = [];
  #source: Source | null = null;
  #lastId = '';
  #collecting: ReturnType<typeof setTimeout> | undefined;
  #pause: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(
    open: (address: string) => Source,
    tell: (message: Message) => void,
    /** Runs after the stream was closed for good, before it is opened again. */
    refused: () => Promise<void>,
  ) {
    this.#open = open;
    this.#tell = tell;
    this.#refused = refused;
  }

  serve(want: Want): void {
    this.#wants.set(want.tab, want);
    this.#unanswered.push(want);
    this.#collecting ??= setTimeout(() => this.#answer(), COLLECT_MS);
  }

  forget(tab: string): void {
    this.#wants.delete(tab);
    this.#unanswered = this.#unanswered.filter((want) => want.tab !== tab);
  }

  /** Opens the stream at once if it waits after a refusal. */
  retry(): void {
    if (this.#pause !== undefined && this.#log) this.#connect(this.#log.position);
  }

  close(): void {
    this.#isClosed = true;
    this.#source?.close();
    clearTimeout(this.#collecting);
    clearTimeout(this.#pause);
  }

  #answer(): void {
    this.#collecting = undefined;
    const asked = this.#unanswered;
    this.#unanswered = [];
    if (asked.length === 0) return;
    const since = Math.min(...asked.map((want) => want.since));
    const wanted = new Set([...this.#wants.values()].flatMap((want) => want.channels));
    const isCovered = [...wanted].every((channel) => this.#channels.includes(channel));
    if (!this.#log || !isCovered || since < this.#log.from) {
      // Channels of an open stream do not change. What comes twice has no effect.
      this.#channels = [...wanted].slice(0, MOST_CHANNELS);
      this.#log = new EventLog(Math.min(since, this.#log?.position ?? since));
      this.#connect(this.#log.from);
    }
    for (const { tab, since: asSeen } of asked) {
      this.#tell({ kind: 'answer', tab, events: this.#log.after(asSeen), position: this.#log.position });
    }
  }

  #connect(since: number): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#source?.close();
    const query = new URLSearchParams({ channels: this.#channels.join(','), since: String(since) });
    const source = this.#open(`/api/stream?${query.toString()}`);
    this.#source = source;
    this.#lastId = '';
    for (const name of EVENT_NAMES) {
      source.addEventListener(name, (event) => this.#pass(name, event));
    }
    source.addEventListener('error', () => void this.#mend(source));
  }

  #pass(name: EventName, { data, lastEventId }: MessageEvent<unknown>): void {
    const event = eventOf(name, data);
    if (!event) return;
    const position = lastEventId === this.#lastId ? null : Number(lastEventId);
    this.#lastId = lastEventId;
    // The service could not tell what happened between: nothing before this position is known.
    if (name === 'resync') this.#log = new EventLog(position ?? this.#log?.position ?? 0);
    else this.#log?.add(event, position);
    this.#tell({ kind: 'event', event, position });
  }

  /** An `EventSource` connects again by itself unless the answer was not a stream; it does not say which it was. */
  async #mend(source: Source): Promise<void> {
    if (source !== this.#source || source.readyState !== CLOSED) return;
    await this.#refused();
    if (this.#isClosed || source !== this.#source) return;
    this.#pause = setTimeout(
      () => this.#log && this.#connect(this.#log.position),
      PAUSE_MS * (1 + Math.random()),
    );
  }
}
