import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { problem } from '$lib/api/testing';
import { de } from '$lib/i18n/de';
import { enEntry } from '$lib/i18n/en-entry';
import { dePages } from '$lib/i18n/de-pages';
import { enPages } from '$lib/i18n/en-pages';
import { World } from '../../../tests/world';
import AccountPage from './AccountPage.svelte';
import SignUpPage from './SignUpPage.svelte';

async function fill(username: string, password: string): Promise<void> {
  const { session } = enEntry;
  if (username) await userEvent.type(screen.getByLabelText(session.username), username);
  if (password) await userEvent.type(screen.getByLabelText(session.password), password);
  await userEvent.click(screen.getByRole('button', { name: session.submitSignUp }));
}

test('the first field that is missing gets the focus', async () => {
  new World().show(SignUpPage, {});
  await fill('ada', '');
  const password = screen.getByLabelText(enEntry.session.password);
  expect(document.activeElement).toBe(password);
  expect(password.getAttribute('aria-invalid')).toBe('true');
});

test('a taken name is said at its field', async () => {
  const world = new World();
  world.fake.on('POST /api/register', () => problem(409, 'username_taken'));
  world.show(SignUpPage, {});
  await fill('ada', 'long enough');
  const error = await screen.findByText(enPages.failure.username_taken);
  const name = screen.getByLabelText(enEntry.session.username);
  expect(name.getAttribute('aria-describedby')).toContain(error.closest('p')?.id);
  expect(document.activeElement).toBe(name);
});

/** Texts are loaded when their language is chosen. */
const PATIENCE_MS = 20_000;

test('a choice changes the language of the page', async () => {
  const world = new World();
  await world.signIn();
  world.show(AccountPage, {});
  world.settings.setLanguage('de');
  world.settings.apply(document.documentElement, world.texts);
  await vi.waitFor(() => expect(world.texts.t).toBe(de), PATIENCE_MS);
  expect(await screen.findByRole('button', { name: dePages.session.signOut })).toBeTruthy();
  expect(document.documentElement.lang).toBe('de');
  world.settings.setLanguage('system');
});
