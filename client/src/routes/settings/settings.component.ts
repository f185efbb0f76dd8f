import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { problem } from '$lib/api/testing';
import { enPages } from '$lib/i18n/en-pages';
import { enSettings } from '$lib/i18n/en-settings';
import { World, ada } from '../../../tests/world';
import DataPage from './DataPage.svelte';
import DevicesPage from './DevicesPage.svelte';
import ProfilePage from './ProfilePage.svelte';
import SettingsPage from './SettingsPage.svelte';

test('a theme is shown on the document and kept', async () => {
  const world = new World();
  world.fake.on('GET /api/leagues', () => ({ body: { leagues: [] } }));
  await world.session.load();
  world.show(SettingsPage, {});
  await userEvent.click(screen.getByRole('radio', { name: enSettings.account.themes.dark }));
  world.settings.apply(document.documentElement, world.texts);
  expect(document.documentElement.dataset['scheme']).toBe('dark');
  expect(new World().settings.theme).toBe('dark');
  world.settings.setTheme('system');
});

test('a profile is saved with what was changed', async () => {
  const world = new World();
  await world.signIn();
  world.fake.on('PATCH /api/user', () => ({ body: { ...ada, displayName: 'Ada B' } }));
  world.show(ProfilePage, {});
  const name = screen.getByLabelText(enSettings.settings.displayName);
  await userEvent.clear(name);
  await userEvent.type(name, 'Ada B');
  await userEvent.click(screen.getAllByRole('radio', { name: enSettings.settings.no })[0] as HTMLElement);
  await userEvent.click(screen.getByRole('button', { name: enSettings.settings.save }));
  expect(world.announcer.polite).toBe(enSettings.settings.saved);
  expect(world.session.fan?.displayName).toBe('Ada B');
  expect(world.fake.requests.at(-1)?.body).toMatchObject({ displayName: 'Ada B', leaderboardVisible: false });
});

test('another device is signed out, this one is not offered', async () => {
  const world = new World();
  await world.signIn();
  const at = '2026-11-01T12:00:00.000Z';
  const device = { kind: 'browser', deviceName: null, createdAt: at, lastSeenAt: at, expiresAt: at };
  let sessions = [
    { ...device, id: 'here', current: true },
    { ...device, id: 'there', deviceName: 'Phone', current: false },
  ];
  world.fake
    .on('GET /api/user/sessions', () => ({ body: { sessions, nextCursor: null } }))
    .on('DELETE /api/user/sessions/there', () => {
      sessions = sessions.slice(0, 1);
      return { status: 204 };
    });
  world.show(DevicesPage, {});
  await userEvent.click(await screen.findByRole('button', { name: /Phone/ }));
  expect(await screen.findByText(enSettings.settings.thisDevice)).toBeTruthy();
  expect(screen.queryByText('Phone')).toBeNull();
  expect(world.announcer.polite).toBe(enSettings.settings.ended);
});

test('an account is not deleted with a wrong password', async () => {
  const world = new World();
  await world.signIn();
  world.fake.on('DELETE /api/user', () => problem(403, 'wrong_password'));
  world.show(DataPage, {});
  await userEvent.click(screen.getByRole('button', { name: enSettings.settings.delete }));
  const password = screen.getByLabelText(enSettings.settings.confirm);
  await userEvent.type(password, 'wrong');
  await userEvent.click(
    screen.getAllByRole('button', { name: enSettings.settings.delete }).at(-1) as HTMLElement,
  );
  expect(await screen.findByText(enPages.failure.wrong_password)).toBeTruthy();
  expect(document.activeElement).toBe(password);
  expect(world.session.fan).not.toBeNull();
});
