import { expect, test } from 'vitest';
import { Refused, Unreachable } from '$lib/api/errors';
import { en } from '$lib/i18n/en';
import { Texts } from '$lib/i18n/texts.svelte';
import { SessionForm } from './session-form.svelte';

function refused(code: string, pointers: string[]): Refused {
  const errors = pointers.map((pointer) => ({ pointer, detail: '' }));
  const problem = {
    code,
    errors,
    status: 422,
    requestId: 'r',
    title: '',
    detail: '',
    type: '',
    instance: '',
  };
  return new Refused(problem);
}

const filled = (): SessionForm => {
  const form = new SessionForm(new Texts());
  form.username = 'ada';
  form.password = 'secret-words';
  return form;
};

test('what is missing is named before anything is sent', () => {
  const form = new SessionForm(new Texts());
  expect(form.check()).toBe(false);
  expect(form.errors).toEqual({ username: en.field.required, password: en.field.required });
  expect(filled().check()).toBe(true);
});

test.each([
  [refused('username_taken', []), 'username', en.failure.username_taken],
  [refused('validation_failed', ['/password']), 'password', en.field.invalid],
])('%s lands on its field', async (failure, field, text) => {
  const form = filled();
  expect(await form.send(() => Promise.reject(failure))).toBe(false);
  expect(form.firstInvalid).toBe(field);
  expect(Object.values(form.errors)).toEqual([text]);
  expect(form.failure).toBeNull();
  expect(form.username).toBe('ada');
});

test.each([refused('invalid_credentials', []), new Unreachable('gone')])(
  '%s belongs to no field',
  async (failure) => {
    const form = filled();
    await form.send(() => Promise.reject(failure));
    expect(form.failure).toBe(failure);
    expect(await form.send(() => Promise.resolve())).toBe(true);
    expect(form.failure).toBeNull();
  },
);

test('a second press sends nothing', async () => {
  const form = filled();
  let sent = 0;
  let finish = (): void => undefined;
  const first = form.send(() => new Promise<void>((resolve) => ((finish = resolve), (sent += 1))));
  expect(form.isSending).toBe(true);
  expect(await form.send(() => Promise.resolve((sent += 1)))).toBe(false);
  finish();
  expect(await first).toBe(true);
  expect(sent).toBe(1);
});
