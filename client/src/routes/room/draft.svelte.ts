import { Attempt } from '$lib/api/attempt.svelte';
import { Persisted } from '$lib/persisted.svelte';
import type { Draft } from './room.svelte';

/** How long a text may be, in characters as the service counts them. */
export const LONGEST = 2000;

export function lengthOf(text: string): number {
  return [...text.trim()].length;
}

/** A text that is being written. It is kept until it was sent, over reloads too. */
export class DraftText {
  readonly attempt = new Attempt();
  readonly #kept: Persisted;
  #text = $state('');
  /** The key of the text as it is: sending the same text again has no second effect. */
  #key = crypto.randomUUID();

  constructor(place: string) {
    this.#kept = new Persisted(`draft:${place}`);
    this.#text = this.#kept.value ?? '';
  }

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    this.renew();
    this.#kept.set(text === '' ? null : text);
  }

  /** Gives the text another key: what is sent with it changed. */
  renew(): void {
    this.#key = crypto.randomUUID();
  }

  get left(): number {
    return LONGEST - lengthOf(this.#text);
  }

  get canSend(): boolean {
    return !this.attempt.isRunning && this.left >= 0 && this.#text.trim() !== '';
  }

  /** Sends the text; it stays if that fails. Whether it was sent. */
  async send(write: (draft: Draft) => Promise<unknown>): Promise<boolean> {
    if (!this.canSend) return false;
    const sent = await this.attempt.run(async () => {
      await write({ key: this.#key, body: this.#text.trim() });
      this.text = '';
      return true;
    });
    return sent ?? false;
  }
}
