import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readAs } from './member';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const { service, browser } = await staged(Stage.open());
const { url } = service;

/** A picture of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

interface Profile {
  displayName: string;
  pictureUrl: string | null;
  collectionVisible: boolean;
}

test('a fan changes the profile, the picture, and signs another device out', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: { width: 390, height: 844 } });
  const { page } = visitor;
  const other = await Visitor.arrive(browser, url);
  await other.signIn();
  await visitor.signIn();
  await page.goto('/settings/profile');
  await page.getByLabel('What others read').fill('Mia of row 14');
  await page
    .getByRole('group', { name: 'Show my collection on my profile' })
    .getByRole('radio', { name: 'No' })
    .check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('status').filter({ hasText: 'Saved.' }).waitFor({ state: 'attached' });
  expect(await readAs<Profile>(page, '/api/user')).toMatchObject({
    displayName: 'Mia of row 14',
    collectionVisible: false,
  });

  await page
    .getByLabel('Choose a picture')
    .setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer: PIXEL });
  await page.getByRole('button', { name: 'Remove the picture' }).waitFor();
  const { pictureUrl } = await readAs<Profile>(page, '/api/user');
  expect(pictureUrl).toMatch(/^\/media\//);
  await page
    .getByLabel('Choose another picture')
    .setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
  await page.getByText('This file can’t be read as a picture.').waitFor();

  await page.goto('/settings/devices');
  await page
    .getByRole('button', { name: /Sign out Browser/ })
    .first()
    .click();
  await page.getByRole('button', { name: /Sign out Browser/ }).waitFor({ state: 'detached' });
  const { sessions } = await readAs<{ sessions: { current: boolean }[] }>(page, '/api/user/sessions');
  expect(sessions.map(({ current }) => current)).toEqual([true]);
  expect((await other.page.request.get('/api/user')).status()).toBe(401);
  await other.leave();
  await visitor.leave();
});

test('a fan takes the data along and deletes the account', async () => {
  const visitor = await Visitor.arrive(browser, url, { viewport: { width: 390, height: 844 } });
  const { page } = visitor;
  await page.goto('/sign-up');
  await page.getByLabel('Name', { exact: true }).fill('leaver');
  await page.getByLabel('Password', { exact: true }).fill('a scarf on row 14');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Choose your club' }).waitFor();
  const { id } = await readAs<{ id: string }>(page, '/api/user');

  await page.goto('/settings/data');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download your data' }).click();
  const file = await (await download).path();
  const data = JSON.parse(readFileSync(file, 'utf8')) as { profile: { username: string } };
  expect(data.profile.username).toBe('leaver');

  await page.getByRole('button', { name: 'Delete the account' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete your account for good?' });
  await dialog.getByLabel('Your password, to confirm').fill('not the password');
  await dialog.getByRole('button', { name: 'Delete the account' }).click();
  await dialog.getByText('The password is wrong.').waitFor();
  await visitor.expectAccessible();
  expect((await page.request.get(`/api/users/${id}`)).status()).toBe(200);
  await dialog.getByLabel('Your password, to confirm').fill('a scarf on row 14');
  await dialog.getByRole('button', { name: 'Delete the account' }).click();
  await page.waitForURL('**/room');
  await page.getByRole('link', { name: 'Sign in to post' }).waitFor();
  expect((await page.request.get(`/api/users/${id}`)).status()).toBe(404);
  await visitor.leave();
});
