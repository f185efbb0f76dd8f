import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { NotificationPreferences } from '$lib/api/types';
import { enHome } from '$lib/i18n/en-home';
import { Push } from '$lib/push/push.svelte';
import { FakePlace } from '$lib/push/testing';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World } from '../../../tests/world';
import PreferencesPage from './PreferencesPage.svelte';

const { kinds, preferences: t, push: p } = enHome;
const STORED = '/api/notifications/preferences';

const stored: NotificationPreferences = {
  kinds: {
    follow: { inApp: true, push: true },
    moderation: { inApp: true, push: true },
  },
  quietHours: null,
};

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  world.fake.on(`GET ${STORED}`, () => ({ body: stored }));
  return world;
}

/** The switch of a kind. */
function ofKind(kind: string, label: string): HTMLElement {
  return within(screen.getByRole('group', { name: kind })).getByRole('switch', { name: label });
}

function isOn(element: HTMLElement): boolean {
  return (element as HTMLInputElement).checked;
}

test('the choices load, fail, and are read again; decisions are always in the inbox', async () => {
  const world = await signedIn();
  await readsAgain(world, `GET ${STORED}`, stored, t.failedTitle, () => world.show(PreferencesPage, {}));
  expect(isOn(ofKind(kinds.follow, t.inApp))).toBe(true);
  const decisions = within(screen.getByRole('group', { name: kinds.moderation }));
  expect(decisions.queryByRole('switch', { name: t.inApp })).toBeNull();
  expect(decisions.getByText(t.always)).toBeTruthy();
});

test('a choice shows at once and is stored with the others', async () => {
  const world = await signedIn();
  const answer = new Deferred<{ body: unknown }>();
  world.fake.on(`PUT ${STORED}`, () => answer.promise);
  world.show(PreferencesPage, {});
  await screen.findByRole('group', { name: kinds.follow });
  await userEvent.click(ofKind(kinds.follow, t.push));
  expect(isOn(ofKind(kinds.follow, t.push))).toBe(false);
  const body = { ...stored, kinds: { ...stored.kinds, follow: { inApp: true, push: false } } };
  answer.resolve({ body });
  await waitFor(() => expect(world.fake.requests.at(-1)?.body).toEqual(body));
  expect(isOn(ofKind(kinds.follow, t.push))).toBe(false);
});

test('a choice that is refused is taken back, and said so', async () => {
  const world = await signedIn();
  world.fake.on(`PUT ${STORED}`, () => problem(429, 'rate_limited'));
  world.show(PreferencesPage, {});
  await screen.findByRole('group', { name: kinds.follow });
  await userEvent.click(ofKind(kinds.follow, t.push));
  await waitFor(() => expect(world.announcer.assertive).toContain(t.notKept));
  expect(isOn(ofKind(kinds.follow, t.push))).toBe(true);
});

test('quiet hours begin with a night, and have the times that are set', async () => {
  const world = await signedIn();
  world.fake.on(`PUT ${STORED}`, () => ({ body: world.fake.requests.at(-1)?.body }));
  world.show(PreferencesPage, {});
  await userEvent.click(await screen.findByRole('switch', { name: t.quiet }));
  await waitFor(() =>
    expect(world.fake.requests.at(-1)?.body).toMatchObject({ quietHours: { from: '22:00', to: '07:00' } }),
  );
  const from = await screen.findByLabelText(t.from);
  await userEvent.clear(from);
  await userEvent.type(from, '23:30');
  from.dispatchEvent(new Event('change', { bubbles: true }));
  await waitFor(() =>
    expect(world.fake.requests.at(-1)?.body).toMatchObject({ quietHours: { from: '23:30', to: '07:00' } }),
  );
  await userEvent.click(screen.getByRole('switch', { name: t.quiet }));
  await waitFor(() => expect(world.fake.requests.at(-1)?.body).toMatchObject({ quietHours: null }));
});

test('the choices ask guests to sign in', async () => {
  await asksGuests(PreferencesPage, {});
});

/** Shows the page in a browser that takes messages. */
async function withPush(change: (place: FakePlace) => void = () => undefined): Promise<World> {
  const world = await signedIn();
  world.fake
    .on('GET /api/club', () => ({ body: { push: true } }))
    .on('GET /api/push/key', () => ({ body: { publicKey: 'public', keyId: 'key-1' } }))
    .on('PUT /api/push/subscription', () => ({ status: 204 }))
    .on('DELETE /api/push/subscription', () => ({ status: 204 }));
  const place = new FakePlace();
  change(place);
  world.show(PreferencesPage, { push: new Push(world.fake.api, place) });
  return world;
}

test('messages are turned on by what the reader presses, and off again', async () => {
  const world = await withPush();
  await userEvent.click(await screen.findByRole('button', { name: p.turnOn }));
  expect(await screen.findByText(p.on)).toBeTruthy();
  expect(world.announcer.polite).toBe(p.turnedOn);
  await userEvent.click(screen.getByRole('button', { name: p.turnOff }));
  await screen.findByRole('button', { name: p.turnOn });
  expect(world.announcer.polite).toBe(p.turnedOff);
});

test.each<[string, string, (place: FakePlace) => void]>([
  ['forbids it', p.denied, (place) => (place.granted = 'denied')],
  ['can’t', p.unsupported, (place) => (place.isSupported = false)],
])('a browser that %s is explained, and nothing is offered', async (_, title, change) => {
  await withPush(change);
  await screen.findByRole('heading', { name: title });
  expect(screen.queryByRole('button', { name: p.turnOn })).toBeNull();
});

test('a reader who refuses learns how to change that', async () => {
  await withPush((place) => (place.answer = 'denied'));
  await userEvent.click(await screen.findByRole('button', { name: p.turnOn }));
  await screen.findByText(p.deniedText);
  expect(screen.queryByRole('button', { name: p.turnOn })).toBeNull();
});
