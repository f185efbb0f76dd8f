import { Refused, failureOf, type Failure } from '$lib/api/errors';
import type { Texts } from '$lib/i18n/texts.svelte';

export type FieldName = 'username' | 'password' | 'displayName';

const FIELDS: readonly FieldName[] = ['username', 'password', 'displayName'];

/** What a person entered to sign in or up, and what is wrong with it. */
export class SessionForm {
  username = $state('');
  password = $state('');
  displayName = $state('');
  #isSending = $state(false);
  #errors = $state.raw<Partial<Record<FieldName, string>>>({});
  #failure = $state.raw<Failure | null>(null);
  readonly #texts: Texts;

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  get isSending(): boolean {
    return this.#isSending;
  }

  get errors(): Partial<Record<FieldName, string>> {
    return this.#errors;
  }

  /** A failure that belongs to no field. */
  get failure(): Failure | null {
    return this.#failure;
  }

  get firstInvalid(): FieldName | null {
    return FIELDS.find((field) => this.#errors[field] !== undefined) ?? null;
  }

  /** Checks what can be checked here. */
  check(): boolean {
    const { field } = this.#texts.t;
    const errors: Partial<Record<FieldName, string>> = {};
    if (this.username.trim() === '') errors.username = field.required;
    if (this.password === '') errors.password = field.required;
    this.#errors = errors;
    return this.firstInvalid === null;
  }

  /** Sends it; whether that worked. Sending again before the answer does nothing. */
  async send(write: () => Promise<unknown>): Promise<boolean> {
    if (this.#isSending) return false;
    this.#isSending = true;
    this.#failure = null;
    this.#errors = {};
    try {
      await write();
      return true;
    } catch (error) {
      this.#place(failureOf(error));
      return false;
    } finally {
      this.#isSending = false;
    }
  }

  /** Shows a failure at the field that it is about. */
  #place(failure: Failure): void {
    const errors: Partial<Record<FieldName, string>> = {};
    if (failure instanceof Refused) {
      for (const { pointer } of failure.problem.errors ?? []) {
        const field = FIELDS.find((name) => pointer === `/${name}`);
        if (field) errors[field] = this.#texts.t.field.invalid;
      }
      if (failure.code === 'username_taken') errors.username = this.#texts.t.failure.username_taken;
    }
    this.#errors = errors;
    if (this.firstInvalid === null) this.#failure = failure;
  }
}
