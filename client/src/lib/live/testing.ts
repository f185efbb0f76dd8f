import type { LiveEvent } from './events';
import type { Message, Source } from './leader';
import { Live, type Line, type Surroundings, type View } from './live';

/** A stream that a test feeds. */
class FakeSource implements Source {
  readonly address: URL;
  readyState = 0;
  readonly #listeners = new Map<string, ((event: MessageEvent<string>) => void)[]>();

  constructor(address: string) {
    this.address = new URL(address, 'http://terrace.test');
  }

  get since(): string | null {
    return this.address.searchParams.get('since');
  }

  get channels(): string[] {
    return (this.address.searchParams.get('channels') ?? '').split(',').sort();
  }

  addEventListener(name: string, listener: unknown): void {
    const known = this.#listeners.get(name) ?? [];
    this.#listeners.set(name, [...known, listener as (event: MessageEvent<string>) => void]);
  }

  close(): void {
    this.readyState = 2;
  }

  emit(event: LiveEvent, id: string): void {
    this.emitText(event.name, JSON.stringify(event.data), id);
  }

  /** Sends a message as it arrives. */
  emitText(name: string, data: string, id: string): void {
    const message = new MessageEvent(name, { data, lastEventId: id });
    for (const listener of this.#listeners.get(name) ?? []) listener(message);
  }

  /** Ends as an `EventSource` does when the answer was not a stream. */
  refuse(): void {
    this.readyState = 2;
    this.breakOff();
  }

  /** Breaks off as an `EventSource` does that connects again by itself. */
  breakOff(): void {
    for (const listener of this.#listeners.get('error') ?? []) listener({} as MessageEvent<string>);
  }
}

type Hold = (lock: Lock | null) => Promise<void> | undefined;

/** A browser whose tabs share locks and channels. */
export class FakeBrowser {
  readonly sources: FakeSource[] = [];
  now = 0;
  isVisible = true;
  readonly #lines = new Map<string, Set<Line>>();
  readonly #locks = new Map<string, Promise<void>>();

  /** The streams that are open. */
  get open(): FakeSource[] {
    return this.sources.filter((source) => source.readyState !== 2);
  }

  surroundings(): Surroundings {
    return {
      stream: (address) => {
        const source = new FakeSource(address);
        this.sources.push(source);
        return source;
      },
      line: (name) => this.#line(name),
      locks: {
        request: (name: string, options: LockOptions, hold: Hold) => this.#lock(name, options, hold),
      } as LockManager,
      isVisible: () => this.isVisible,
      now: () => this.now,
    };
  }

  #line(name: string): Line {
    const all = this.#lines.get(name) ?? new Set<Line>();
    this.#lines.set(name, all);
    const line: Line = {
      onmessage: null,
      postMessage: (message: Message) => {
        for (const other of all) {
          if (other === line) continue;
          queueMicrotask(() => other.onmessage?.({ data: message } as MessageEvent<Message>));
        }
      },
      close: () => {
        all.delete(line);
        line.onmessage = null;
      },
    };
    all.add(line);
    return line;
  }

  async #lock(name: string, { signal, ifAvailable = false }: LockOptions, hold: Hold): Promise<void> {
    const before = this.#locks.get(name);
    if (ifAvailable && before) {
      await hold(null);
      return;
    }
    const turn = (before ?? Promise.resolve()).then(() =>
      signal?.aborted ? undefined : hold({ name, mode: 'exclusive' }),
    );
    this.#locks.set(name, turn);
    await turn;
    if (this.#locks.get(name) === turn) this.#locks.delete(name);
  }
}

/** A tab with one view, which notes the events that it receives. */
export class FakeTab implements View {
  readonly live: Live;
  readonly told: string[] = [];
  channels = ['room'];
  refusals = 0;

  constructor(browser: FakeBrowser, account = 'ada', surroundings = browser.surroundings()) {
    this.live = new Live(surroundings, () => {
      this.refusals += 1;
      return Promise.resolve();
    });
    this.live.use(account);
  }

  readonly onevent = (event: LiveEvent): void => {
    this.told.push(event.name === 'post.deleted' ? event.data.postId : event.name);
  };

  readonly onresync = (): void => void this.told.push('resync');
}

/** An event that only names a post. */
export function gone(postId: string): LiveEvent {
  return { name: 'post.deleted', data: { postId, channels: ['room'] } };
}
