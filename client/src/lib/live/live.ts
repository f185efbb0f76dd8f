import { createContext } from 'svelte';
import type { LiveEvent } from './events';
import { Leader, type Message, type Source } from './leader';

/** Something that is shown and kept up to date. */
export interface View {
  readonly channels: readonly string[];
  onevent: (event: LiveEvent) => void;
  /** What happened is unknown: read again, then join again. */
  onresync: () => void;
}

/** What is used of a `BroadcastChannel`. */
export interface Line {
  postMessage: (message: Message) => void;
  onmessage: ((event: MessageEvent<Message>) => void) | null;
  close: () => void;
}

/** The browser, as far as tabs share a stream. */
export interface Surroundings {
  stream: (address: string) => Source;
  line: (name: string) => Line;
  /** Missing where the page came without encryption: each tab has a stream of its own then. */
  locks: Pick<LockManager, 'request'> | undefined;
  isVisible: () => boolean;
  now: () => number;
}

/** After this long a page that comes back is read again: that is less than all that happened. */
const STALE_MS = 5 * 60_000;

/**
 * The changes of what is shown. The visible tabs of an account elect one, which holds the stream and passes events on. A
 * view reads its page, then joins from the position that the page names.
 */
export class Live {
  readonly #around: Surroundings;
  readonly #refused: () => Promise<void>;
  readonly #tab = crypto.randomUUID();
  readonly #views = new Set<View>();
  #account: string | null = null;
  /** Up to where the views are complete; `null` until one joined. */
  #position: number | null = null;
  /** The channels that the leader knows of. */
  #asked: string[] = [];
  /** Whether the leader answered: before, events may lack those between. */
  #isTold = false;
  #line: Line | null = null;
  #leader: Leader | null = null;
  #leave: () => void = () => undefined;
  #leftAt: number | null = null;

  /** `refused` finds out whether the session is over. */
  constructor(around: Surroundings, refused: () => Promise<void>) {
    this.#around = around;
    this.#refused = refused;
  }

  get position(): number | null {
    return this.#position;
  }

  /** Follows the changes that this account may see. Views join anew. */
  use(account: string): void {
    if (account === this.#account) return;
    this.hide();
    this.#views.clear();
    this.#position = null;
    this.#leftAt = null;
    this.#account = account;
    this.show();
  }

  /** Adds a view that was read at a position, or was read again. */
  join(view: View, position: number): void {
    this.#views.add(view);
    const isCovered = this.#position !== null && position >= this.#position;
    const isKnown = this.#channels().every((channel) => this.#asked.includes(channel));
    if (isCovered && isKnown) return;
    this.#position = Math.min(position, this.#position ?? position);
    this.#ask();
  }

  part(view: View): void {
    this.#views.delete(view);
  }

  /** The page is visible: takes part in the election, and asks for what it missed. */
  show(): void {
    if (this.#account === null || this.#line || !this.#around.isVisible()) return;
    const name = `terrace:live:${this.#account}`;
    this.#line = this.#around.line(name);
    this.#line.onmessage = ({ data }) => this.#take(data);
    this.#stand(name);
    const isStale = this.#leftAt !== null && this.#around.now() - this.#leftAt > STALE_MS;
    if (isStale) {
      this.#position = null;
      this.#resync();
    } else {
      this.#ask();
    }
  }

  /** The page is hidden: another tab leads. */
  hide(): void {
    if (!this.#line) return;
    this.#leftAt = this.#around.now();
    this.#leader?.close();
    this.#leader = null;
    this.#line.postMessage({ kind: 'bye', tab: this.#tab });
    this.#line.close();
    this.#line = null;
    this.#isTold = false;
    this.#leave();
  }

  /** The network is back: what could not be read is read again. */
  retry(): void {
    this.#leader?.retry();
    if (this.#line) this.#resync();
  }

  #channels(): string[] {
    return [...new Set([...this.#views].flatMap((view) => [...view.channels]))];
  }

  /** Waits until this tab leads. */
  #stand(name: string): void {
    const { locks } = this.#around;
    if (!locks) {
      this.#lead();
      return;
    }
    const wish = new AbortController();
    const gone = new Promise<void>((resolve) => {
      this.#leave = () => {
        wish.abort();
        resolve();
      };
    });
    const hold = (): Promise<void> | undefined => {
      if (wish.signal.aborted) return undefined;
      this.#lead();
      return gone;
    };
    locks.request(name, { signal: wish.signal }, hold).catch((error: unknown) => {
      if (!wish.signal.aborted) reportError(error);
    });
  }

  #lead(): void {
    this.#leader = new Leader(this.#around.stream, (message) => this.#say(message), this.#refused);
    this.#say({ kind: 'lead' });
  }

  #say(message: Message): void {
    this.#line?.postMessage(message);
    this.#take(message);
  }

  #ask(): void {
    if (!this.#line || this.#position === null || this.#views.size === 0) return;
    this.#isTold = false;
    this.#asked = this.#channels();
    this.#say({ kind: 'want', tab: this.#tab, channels: this.#asked, since: this.#position });
  }

  #take(message: Message): void {
    switch (message.kind) {
      case 'lead':
        this.#ask();
        break;
      case 'want':
        this.#leader?.serve(message);
        break;
      case 'bye':
        this.#leader?.forget(message.tab);
        break;
      case 'answer':
        if (message.tab !== this.#tab) break;
        this.#isTold = true;
        for (const event of message.events) this.#apply(event);
        this.#position = message.position;
        break;
      case 'event':
        if (!this.#isTold) break;
        this.#apply(message.event);
        if (message.position !== null) this.#position = Math.max(message.position, this.#position ?? 0);
        break;
    }
  }

  #apply(event: LiveEvent): void {
    if (event.name === 'resync') this.#resync();
    else for (const view of [...this.#views]) view.onevent(event);
  }

  #resync(): void {
    for (const view of [...this.#views]) view.onresync();
  }
}

export const [useLive, setLive] = createContext<Live>();
