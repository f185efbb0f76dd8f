import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test, vi } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import type { CashEntry, CashStatement } from '$lib/api/types';
import { enOwn } from '$lib/i18n/en-own';
import { enPlay } from '$lib/i18n/en-play';
import { asksGuests, readsAgain } from '../../../tests/states';
import { World } from '../../../tests/world';
import StatementPage from './StatementPage.svelte';

const { statement: t } = enOwn;
const PATH = 'GET /api/cash-balance/statement';

afterEach(() => history.replaceState(null, '', '/'));

const anEntry = (seq: number, amount: number, balanceAfter: number): CashEntry => ({
  seq,
  id: `entry-${String(seq)}`,
  amount,
  balanceAfter,
  reason: `Reason ${String(seq)}`,
  createdAt: '2026-11-23T12:00:00.000Z',
});

const aStatement = (more: Partial<CashStatement> = {}): CashStatement => ({
  currency: 'EUR',
  opening: 1250,
  closing: 751,
  entries: [anEntry(12, -499, 751)],
  nextCursor: null,
  ...more,
});

async function signedIn(): Promise<World> {
  const world = new World();
  await world.signIn();
  return world;
}

/** The amount beside a term. */
const amountAt = (term: string): string =>
  screen.getByText(term).parentElement?.querySelector('dd')?.textContent ?? '';

test('a statement loads, fails, and is read again', async () => {
  history.replaceState(null, '', '/balances/statement?currency=EUR');
  const world = await signedIn();
  await readsAgain(world, PATH, aStatement(), t.failedTitle, () => world.show(StatementPage, {}));
  expect(amountAt(t.opening)).toBe('€12.50');
  expect(amountAt(t.closing)).toBe('€7.51');
  const row = screen.getByText('Reason 12').closest('li');
  expect(row?.textContent).toContain('-€4.99');
  expect(row?.textContent).toContain(enPlay.balances.left('€7.51'));
  expect(row?.textContent).toContain('No. 12');
  expect(world.fake.requests.at(-1)?.query.get('currency')).toBe('EUR');
});

test('a time without entries says so between its balances', async () => {
  const world = await signedIn();
  world.fake.on(PATH, () => ({ body: aStatement({ closing: 1250, entries: [] }) }));
  world.show(StatementPage, {});
  await screen.findByRole('heading', { name: t.emptyTitle });
  expect(amountAt(t.closing)).toBe('€12.50');
});

test('a statement that was kept shows its age', async () => {
  const world = await signedIn();
  const headers = { 'terrace-read-at': '2026-11-22T08:00:00.000Z' };
  world.fake.on(PATH, () => ({ body: aStatement(), headers }));
  world.show(StatementPage, {});
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain(world.texts.moment(new Date(headers['terrace-read-at'])));
  expect(amountAt(t.closing)).toBe('€7.51');
});

test('the days of the form are the period, with the last day in it, and the address keeps them', async () => {
  const world = await signedIn();
  world.fake.on(PATH, () => ({ body: aStatement() }));
  world.show(StatementPage, {});
  await screen.findByText('Reason 12');
  await userEvent.type(screen.getByLabelText(t.from), '2026-11-01');
  await userEvent.type(screen.getByLabelText(t.to), '2026-11-30');
  await userEvent.click(screen.getByRole('button', { name: t.show }));
  await waitFor(() => expect(world.fake.requests.at(-1)?.query.has('from')).toBe(true));
  const query = world.fake.requests.at(-1)?.query;
  expect(query?.get('from')).toBe(new Date(2026, 10, 1).toISOString());
  expect(query?.get('to')).toBe(new Date(2026, 11, 1).toISOString());
  expect(location.search).toBe('?from=2026-11-01&to=2026-11-30');
  await userEvent.click(screen.getByRole('button', { name: t.all }));
  await waitFor(() => expect(world.fake.requests.at(-1)?.query.has('from')).toBe(false));
  expect(location.search).toBe('');
});

test('a period that ends before it begins is not asked for', async () => {
  const world = await signedIn();
  world.fake.on(PATH, () => ({ body: aStatement() }));
  world.show(StatementPage, {});
  await screen.findByText('Reason 12');
  const before = world.fake.requests.length;
  await userEvent.type(screen.getByLabelText(t.from), '2026-11-30');
  const to = screen.getByLabelText(t.to);
  await userEvent.type(to, '2026-11-01');
  await userEvent.click(screen.getByRole('button', { name: t.show }));
  expect(await screen.findByText(t.reversed)).toBeTruthy();
  expect(to.getAttribute('aria-invalid')).toBe('true');
  await waitFor(() => expect(document.activeElement).toBe(to));
  expect(world.fake.requests.length).toBe(before);
});

test('a statement goes on, and an event does not take back what was read', async () => {
  const world = await signedIn();
  const first = Array.from({ length: 100 }, (_, place) => anEntry(place + 1, 1, place + 1));
  const pages = [
    aStatement({ entries: first, nextCursor: 'next' }),
    aStatement({ entries: [anEntry(101, 1, 101)] }),
  ];
  world.fake.on(PATH, ({ url }) => ({ body: pages[new URL(url).searchParams.has('cursor') ? 1 : 0] }));
  world.show(StatementPage, {});
  await userEvent.click(await screen.findByRole('button', { name: t.more }));
  await screen.findByText('Reason 101');
  const before = world.fake.requests.length;
  world.own.publish({
    name: 'balance.changed',
    data: { channels: ['me'], account: 'EUR', balance: 1, changedAt: '2026-11-23T12:01:00.000Z' },
  });
  expect(world.fake.requests.length).toBe(before);
  expect(screen.getByText('Reason 101')).toBeTruthy();
});

test('money that comes in appears', async () => {
  const world = await signedIn();
  let statement = aStatement();
  world.fake.on(PATH, () => ({ body: statement }));
  world.show(StatementPage, {});
  await screen.findByText('Reason 12');
  statement = aStatement({ closing: 1000, entries: [anEntry(12, -499, 751), anEntry(13, 249, 1000)] });
  world.own.publish({
    name: 'balance.changed',
    data: { channels: ['me'], account: 'EUR', balance: 1000, changedAt: '2026-11-23T12:01:00.000Z' },
  });
  expect(await screen.findByText('Reason 13')).toBeTruthy();
  expect(screen.getByText('Reason 13').closest('li')?.textContent).toContain('+€2.49');
});

test('the whole statement is saved as CSV, once at a time, and a refusal says why', async () => {
  history.replaceState(null, '', '/balances/statement?currency=EUR&from=2026-11-01');
  const saved: Blob[] = [];
  vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => {
    saved.push(blob as Blob);
    return 'blob:statement';
  });
  const world = await signedIn();
  const answer = new Deferred<ReturnType<typeof problem>>();
  const asked: Request[] = [];
  world.fake.on(PATH, (request) => {
    if (request.headers.get('accept') !== 'text/csv') return { body: aStatement() };
    asked.push(request);
    return asked.length === 1 ? answer.promise : { body: 'seq,id' };
  });
  world.show(StatementPage, {});
  await userEvent.click(await screen.findByRole('button', { name: t.download }));
  await userEvent.click(screen.getByRole('button', { name: t.downloading }));
  expect(asked).toHaveLength(1);
  answer.resolve(problem(429, 'rate_limited'));
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toBe(world.texts.t.failure.rate_limited);
  await userEvent.click(within(document.body).getByRole('button', { name: t.download }));
  await waitFor(() => expect(saved).toHaveLength(1));
  expect(saved[0]?.type).toBe('text/csv');
  // A file is the whole period, and is kept nowhere.
  const { searchParams } = new URL(asked[1]?.url ?? '');
  expect([...searchParams.keys()].sort()).toEqual(['currency', 'from']);
  expect(asked[1]?.cache).toBe('no-store');
});

test('a statement asks guests to sign in', async () => {
  await asksGuests(StatementPage, {});
});
