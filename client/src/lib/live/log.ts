import type { LiveEvent } from './events';

/** How many events are kept for tabs that ask for what they missed. */
const MOST_EVENTS = 1000;

interface Entry {
  event: LiveEvent;
  /** `null` until the last event of the same position came. */
  position: number | null;
}

/** The newest events of the stream, complete after a position. */
export class EventLog {
  #from: number;
  #position: number;
  #entries: Entry[] = [];
  readonly #most: number;

  constructor(from: number, most = MOST_EVENTS) {
    this.#from = from;
    this.#position = from;
    this.#most = most;
  }

  /** The position after which no event is missing. */
  get from(): number {
    return this.#from;
  }

  /** The position of the newest event. */
  get position(): number {
    return this.#position;
  }

  /** Adds an event. Of several events at one position only the last has it. */
  add(event: LiveEvent, position: number | null): void {
    this.#entries.push({ event, position });
    if (position === null) return;
    let place = this.#entries.length - 2;
    for (let entry = this.#entries[place]; entry?.position === null; entry = this.#entries[place]) {
      this.#entries[place] = { event: entry.event, position };
      place -= 1;
    }
    this.#position = Math.max(this.#position, position);
    while (this.#entries.length > this.#most) this.#from = this.#entries.shift()?.position ?? this.#from;
  }

  /** What came after a position. */
  after(position: number): LiveEvent[] {
    const later = this.#entries.filter((entry) => entry.position === null || entry.position > position);
    return later.map(({ event }) => event);
  }
}
