import { Attempt } from '$lib/api/attempt.svelte';
import { Refused, type Failure } from '$lib/api/errors';
import type { Texts } from '$lib/i18n/texts.svelte';

/** Codes that are about one field. */
const FIELD_OF_CODE: Partial<Record<string, string>> = {
  username_taken: 'username',
  wrong_password: 'currentPassword',
};

/** A form that is sent once at a time, and what is wrong with it. */
export class Form {
  readonly #texts: Texts;
  readonly #attempt = new Attempt();
  #missing = $state.raw<string[]>([]);

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  get isSending(): boolean {
    return this.#attempt.isRunning;
  }

  /** What is wrong, by the name of the field. */
  get errors(): Partial<Record<string, string>> {
    const { field } = this.#texts.pages;
    const errors = Object.fromEntries(this.#missing.map((name) => [name, field.required]));
    const { failure } = this.#attempt;
    if (failure instanceof Refused) {
      for (const { pointer } of failure.problem.errors ?? []) {
        if (pointer.length > 1) errors[pointer.slice(1)] = field.invalid;
      }
      const name = FIELD_OF_CODE[failure.code];
      if (name) errors[name] = this.#texts.failure(failure);
    }
    return errors;
  }

  /** A failure that belongs to no field. */
  get failure(): Failure | null {
    return Object.keys(this.errors).length === 0 ? this.#attempt.failure : null;
  }

  /** Sends it unless one of the required fields is empty; whether that worked. Focuses the first field that is wrong. */
  async send(
    element: HTMLFormElement | undefined,
    required: Record<string, string>,
    write: () => Promise<unknown>,
  ): Promise<boolean> {
    const isSent = await this.#attempt.run(async () => {
      this.#missing = Object.keys(required).filter((name) => required[name] === '');
      if (this.#missing.length > 0) return false;
      await write();
      return true;
    });
    const [first] = Object.keys(this.errors);
    if (first) element?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
    return isSent ?? false;
  }
}
