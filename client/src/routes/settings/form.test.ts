import { expect, test } from 'vitest';
import { Refused, Unreachable } from '$lib/api/errors';
import { en } from '$lib/i18n/en';
import { Texts } from '$lib/i18n/texts.svelte';
import { Form } from './form.svelte';

function refused(code: string, pointers: string[]): Refused {
  const errors = pointers.map((pointer) => ({ pointer, detail: '' }));
  const rest = { status: 422, requestId: 'r', title: '', detail: '', type: '', instance: '' };
  return new Refused({ ...rest, code, errors });
}

test('what is missing is named and nothing is sent', async () => {
  const form = new Form(new Texts());
  let sent = 0;
  expect(await form.send(undefined, { displayName: ' ' }, () => Promise.resolve((sent += 1)))).toBe(false);
  expect(form.errors).toEqual({ displayName: en.field.required });
  expect(sent).toBe(0);
});

test.each([
  [refused('validation_failed', ['/newPassword']), { newPassword: en.field.invalid }],
  [refused('wrong_password', []), { currentPassword: en.failure.wrong_password }],
])('%s lands on its field', async (failure, errors) => {
  const form = new Form(new Texts());
  expect(await form.send(undefined, {}, () => Promise.reject(failure))).toBe(false);
  expect(form.errors).toEqual(errors);
  expect(form.failure).toBeNull();
});

test.each([refused('balance_left', []), new Unreachable('gone')])(
  '%s belongs to no field',
  async (failure) => {
    const form = new Form(new Texts());
    await form.send(undefined, {}, () => Promise.reject(failure));
    expect(form.failure).toBe(failure);
    expect(await form.send(undefined, {}, () => Promise.resolve())).toBe(true);
    expect(form.failure).toBeNull();
  },
);

test('a second press sends nothing', async () => {
  const form = new Form(new Texts());
  let finish = (): void => undefined;
  const first = form.send(undefined, {}, () => new Promise<void>((resolve) => (finish = resolve)));
  expect(await form.send(undefined, {}, () => Promise.resolve())).toBe(false);
  finish();
  expect(await first).toBe(true);
});
