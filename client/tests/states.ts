import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import type { Component } from 'svelte';
import { expect } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import { en } from '$lib/i18n/en';
import { World } from './world';

/**
 * Shows a page that reads this: a skeleton until there is an answer, the reason and the request's id after a failure, and
 * what `body` holds once it was read again.
 */
export async function readsAgain(
  world: World,
  name: string,
  body: unknown,
  failedTitle: string,
  show: () => void,
): Promise<void> {
  const answer = new Deferred<ReturnType<typeof problem>>();
  world.fake.on(name, () => answer.promise);
  show();
  await screen.findAllByRole('status', { name: en.state.loading });
  expect(screen.queryByRole('alert')).toBeNull();
  answer.resolve(problem(500, 'internal'));
  const alert = await screen.findByRole('alert');
  expect(within(alert).getByRole('heading', { name: failedTitle })).toBeTruthy();
  expect(alert.textContent).toContain('request-1');
  world.fake.on(name, () => ({ body }));
  await userEvent.click(within(alert).getByRole('button', { name: en.state.retry }));
  await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
  expect(screen.queryByRole('status', { name: en.state.loading })).toBeNull();
}

/** Shows a page to a guest, of whom it asks to sign in without asking the service for anything. */
export async function asksGuests<Props extends object>(
  component: Component<Props>,
  props: Props,
): Promise<void> {
  const world = await World.ofGuest();
  world.show<Props>(component, props);
  expect(await screen.findByRole('link', { name: en.nav.signIn })).toBeTruthy();
  expect(screen.queryByRole('alert')).toBeNull();
  expect(world.fake.requests).toEqual([]);
}
