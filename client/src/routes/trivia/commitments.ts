import { Persisted } from '$lib/persisted.svelte';

/** Of how many rounds it is kept. */
const KEPT = 30;

/** The commitments that this browser saw before rounds ended. */
export class Commitments {
  readonly #name: string;

  constructor(fanId: string | null) {
    this.#name = `rounds:${fanId ?? 'guest'}`;
  }

  /** Notes what is shown before a round is over. What was seen first stays. */
  note(roundId: string, commitment: string): void {
    if (this.of(roundId) !== null) return;
    const kept = new Persisted(this.#name);
    kept.set([`${roundId} ${commitment}`, ...linesOf(kept)].slice(0, KEPT).join('\n'));
  }

  /** What was seen of a round before its end; null if another browser saw it, or long ago. */
  of(roundId: string): string | null {
    const start = `${roundId} `;
    const line = linesOf(new Persisted(this.#name)).find((each) => each.startsWith(start));
    return line?.slice(start.length) ?? null;
  }
}

const linesOf = ({ value }: Persisted): string[] => (value === null || value === '' ? [] : value.split('\n'));
