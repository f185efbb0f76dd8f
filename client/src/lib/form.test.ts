import { expect, test } from 'vitest';
import { Refused, Unreachable } from '$lib/api/errors';
import { Form } from './form.svelte';
import { enPages } from './i18n/en-pages';
import { Texts } from './i18n/texts.svelte';

function refused(code: string, pointers: string[]): Refused {
  const errors = pointers.map((pointer) => ({ pointer, detail: '' }));
  const rest = { status: 422, requestId: 'r', title: '', detail: '', type: '', instance: '' };
  return new Refused({ ...rest, code, errors });
}

const aForm = (): Form => new Form(new Texts({ pages: enPages }));

test('what is missing is named and nothing is sent', async () => {
  const form = aForm();
  let sent = 0;
  const send = (username: string): Promise<boolean> =>
    form.send(undefined, { username, password: ' ' }, () => Promise.resolve((sent += 1)));
  expect(await send('')).toBe(false);
  expect(form.errors).toEqual({ username: enPages.field.required });
  expect(sent).toBe(0);
  expect(await send('ada')).toBe(true);
  expect(form.errors).toEqual({});
});

test.each([
  [refused('validation_failed', ['/newPassword']), { newPassword: enPages.field.invalid }],
  [refused('wrong_password', []), { currentPassword: enPages.failure.wrong_password }],
  [refused('username_taken', []), { username: enPages.failure.username_taken }],
])('%s lands on its field', async (failure, errors) => {
  const form = aForm();
  expect(await form.send(undefined, {}, () => Promise.reject(failure))).toBe(false);
  expect(form.errors).toEqual(errors);
  expect(form.failure).toBeNull();
});

test.each([refused('balance_left', []), refused('invalid_credentials', []), new Unreachable('gone')])(
  '%s belongs to no field',
  async (failure) => {
    const form = aForm();
    await form.send(undefined, {}, () => Promise.reject(failure));
    expect(form.failure).toBe(failure);
    expect(await form.send(undefined, {}, () => Promise.resolve())).toBe(true);
    expect(form.failure).toBeNull();
  },
);

test('a second press sends nothing', async () => {
  const form = aForm();
  let sent = 0;
  let finish = (): void => undefined;
  const first = form.send(undefined, {}, () => {
    sent += 1;
    return new Promise<void>((resolve) => (finish = resolve));
  });
  expect(form.isSending).toBe(true);
  expect(await form.send(undefined, {}, () => Promise.resolve((sent += 1)))).toBe(false);
  finish();
  expect(await first).toBe(true);
  expect(sent).toBe(1);
});
