import { Refused, failureOf, type Failure } from '$lib/api/errors';
import type { Texts } from '$lib/i18n/texts.svelte';

/** Codes that are about one field. */
const FIELD_OF_CODE: Partial<Record<string, string>> = { wrong_password: 'currentPassword' };

/** A form that is sent once at a time, and what is wrong with it, by the name of the field. */
export class Form {
  readonly #texts: Texts;
  #isSending = $state(false);
  #errors = $state.raw<Partial<Record<string, string>>>({});
  #failure = $state.raw<Failure | null>(null);

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  get isSending(): boolean {
    return this.#isSending;
  }

  get errors(): Partial<Record<string, string>> {
    return this.#errors;
  }

  /** A failure that belongs to no field. */
  get failure(): Failure | null {
    return this.#failure;
  }

  /** Sends it unless one of the required fields is empty; whether that worked. Focuses the first field that is wrong. */
  async send(
    element: HTMLFormElement | undefined,
    required: Record<string, string>,
    write: () => Promise<unknown>,
  ): Promise<boolean> {
    if (this.#isSending) return false;
    this.#isSending = true;
    this.#failure = null;
    this.#errors = {};
    try {
      const missing = Object.entries(required).filter(([, value]) => value.trim() === '');
      if (missing.length > 0) {
        this.#errors = Object.fromEntries(missing.map(([name]) => [name, this.#texts.t.field.required]));
        return false;
      }
      await write();
      return true;
    } catch (error) {
      this.#place(failureOf(error));
      return false;
    } finally {
      this.#isSending = false;
      const [first] = Object.keys(this.#errors);
      if (first) element?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
    }
  }

  #place(failure: Failure): void {
    const errors: Partial<Record<string, string>> = {};
    if (failure instanceof Refused) {
      for (const { pointer } of failure.problem.errors ?? []) {
        if (pointer.length > 1) errors[pointer.slice(1)] = this.#texts.t.field.invalid;
      }
      const field = FIELD_OF_CODE[failure.code];
      if (field) errors[field] = this.#texts.failure(failure);
    }
    this.#errors = errors;
    if (Object.keys(errors).length === 0) this.#failure = failure;
  }
}
