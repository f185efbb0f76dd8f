import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { problem } from '$lib/api/testing';
import type { StandingList } from '$lib/api/types';
import { en } from '$lib/i18n/en';
import { enPages } from '$lib/i18n/en-pages';
import { enTrivia as t } from '$lib/i18n/en-trivia';
import { ada } from '../../../tests/world';
import { Commitments } from './commitments';
import RoundPage from './RoundPage.svelte';
import { ANSWER, ONE, PLACES, answered, lasting, open, option, over, props, show, signedIn } from './showing';
import { COMMITMENT, aProof, aSoloRound, after, standings } from './testing';

const PROOF = 'GET /api/trivia/round-1/proof';
const NEXT = 'POST /api/trivia/round-1/next';

beforeEach(() => void vi.stubGlobal('isSecureContext', true));
afterEach(() => history.replaceState(null, '', '/'));

/* --- solo ------------------------------------------------------------------------ */

test('a solo round is played question by question, and gives its points at the end', async () => {
  const solo = aSoloRound({ questionCount: 1 });
  const world = await show({ ...open(), round: solo, current: null });
  world.fake.on(NEXT, () => ({ body: { question: lasting(1), serverNow: after(1) } }));
  await userEvent.click(await screen.findByRole('button', { name: t.start }));
  const heading = await screen.findByRole('heading', { name: lasting(1).text });
  await waitFor(() => expect(document.activeElement).toBe(heading));
  const me = { joinedAt: after(0), answered: 1, score: 90, award: 15 };
  world.fake
    .on(ANSWER, () => ({ status: 201, body: answered('1-2', 90) }))
    .on(PLACES, () => ({ body: standings({ me: { rank: 8, score: 90, timeMs: 1, answered: 1 } }) }));
  const result = { correct: true, correctOptionId: '1-2', points: 90 };
  const answer = { questionId: 'question-1', optionId: '1-2', answeredAt: after(2), timeMs: 1_750 };
  const { current } = open();
  const last = { ...current, answer, result, correctOptionId: '1-2' };
  world.fake.on(ONE, () => ({ body: { ...open(), round: { ...solo, me }, current: last } }));
  await userEvent.click(option('The Saltings'));
  expect(await screen.findByText(t.result.right('90 points'))).toBeTruthy();
  expect(await screen.findByText(t.award('15 points'))).toBeTruthy();
  expect(screen.getByText(t.ownPlace('8', '341'))).toBeTruthy();
  expect(screen.getByText(t.lastShown)).toBeTruthy();
  expect(screen.queryByRole('button', { name: t.next })).toBeNull();
});

test('an unfinished question is resumed, and the next one is asked for after it', async () => {
  const world = await show({ ...open(), round: aSoloRound() });
  expect(await screen.findByRole('heading', { name: lasting(1).text })).toBeTruthy();
  expect(screen.queryByRole('button', { name: t.start })).toBeNull();
  world.fake.on(ANSWER, () => ({ status: 201, body: answered('1-0', 0) }));
  await waitFor(() => expect(option('Aldham Gasworks').getAttribute('aria-disabled')).toBe('false'));
  await userEvent.click(option('Aldham Gasworks'));
  world.fake.on(NEXT, () => problem(409, 'round_over'));
  await userEvent.click(await screen.findByRole('button', { name: t.next }));
  expect((await screen.findByRole('alert')).textContent.trim()).toBe(t.why.round_over);
});

/* --- after ----------------------------------------------------------------------- */

const row = (rank: number, name: string): StandingList['entries'][number] => ({
  rank,
  score: 300 - rank,
  timeMs: 9_000,
  answered: 3,
  user: { id: `fan-${name}`, username: name, displayName: name, pictureUrl: null },
});

test('the end shows the own place and points, and the places of all', async () => {
  const me = { joinedAt: after(0), answered: 3, score: 258, award: 258 };
  const world = await show(over({ me }), {
    entries: [row(1, 'noor'), { ...row(2, 'x'), user: null }],
    me: { rank: 42, score: 258, timeMs: 9_000, answered: 3 },
    nextCursor: 'more',
  });
  const rows = await screen.findAllByRole('row');
  expect(rows.map(({ textContent }) => textContent.replaceAll(/\s+/g, ' ').trim()).slice(1)).toEqual([
    expect.stringContaining('noor'),
    expect.stringContaining(enPages.fan.hidden),
    expect.stringMatching(/^42.*Ada.*258$/),
  ]);
  for (const text of [t.award('258 points'), t.of('341'), t.scored('258 points')])
    expect(screen.getByText(text)).toBeTruthy();
  world.fake.on(PLACES, () => ({ body: standings({ entries: [row(3, 'sam')] }) }));
  await userEvent.click(screen.getByRole('button', { name: t.moreStandings }));
  expect(await screen.findByRole('link', { name: 'sam' })).toBeTruthy();
});

test('the points come with an event, a moment after the end', async () => {
  const world = await show(over());
  expect(await screen.findByText(t.awardSoon)).toBeTruthy();
  const me = { joinedAt: after(0), answered: 3, score: 90, award: 90 };
  world.fake.on(ONE, () => ({ body: over({ me }) }));
  world.own.publish({ name: 'points.awarded', data: { channels: ['me'] } } as Parameters<
    typeof world.own.publish
  >[0]);
  expect(await screen.findByText(t.award('90 points'))).toBeTruthy();
});

test('the standings can be read again where they did not load', async () => {
  const world = await signedIn();
  world.fake.on(ONE, () => ({ body: over() })).on(PLACES, () => problem(500, 'internal'));
  world.show(RoundPage, props);
  expect((await screen.findByRole('alert')).textContent).toContain(t.standingsFailed);
  world.fake.on(PLACES, () => ({ body: standings({ entries: [row(1, 'noor')] }) }));
  await userEvent.click(screen.getByRole('button', { name: en.state.retry }));
  expect(await screen.findByRole('link', { name: 'noor' })).toBeTruthy();
});

test('a cancelled round leads to the others', async () => {
  await show(over({ status: 'cancelled' }));
  expect(await screen.findByRole('heading', { name: t.cancelledTitle })).toBeTruthy();
  expect(screen.getByRole('link', { name: t.toOthers }).getAttribute('href')).toBe('/trivia');
});

test('the proof is read and computed again, with the commitment that this browser saw', async () => {
  new Commitments(ada.id).note('round-1', COMMITMENT);
  const world = await show(over());
  world.fake.on(PROOF, () => problem(500, 'internal'));
  await userEvent.click(await screen.findByRole('button', { name: t.proof.check }));
  expect((await screen.findByRole('alert')).textContent).toContain(t.proof.failedTitle);
  world.fake.on(PROOF, () => ({ body: aProof() }));
  await userEvent.click(screen.getByRole('button', { name: t.proof.check }));
  expect(await screen.findByText(t.proof.isTrue)).toBeTruthy();
  for (const text of [t.proof.commitment, t.proof.promised, t.proof.rights, t.proof.lines, t.proof.ids])
    expect(screen.getByText(text).closest('li')?.textContent).toContain(enPages.draw.holds);
  expect(screen.getByText('1892')).toBeTruthy();
  expect(world.announcer.polite).toBe(t.proof.isTrue);
  await waitFor(() => expect(document.activeElement?.textContent).toBe(t.proof.title));
});

test('a proof with another right option is found out', async () => {
  const world = await show(over());
  const [first, ...others] = aProof().questions;
  const wrong = first && { ...first, correctOptionId: first.options[0]?.id ?? '' };
  world.fake.on(PROOF, () => ({ body: aProof({ questions: wrong ? [wrong, ...others] : [] }) }));
  await userEvent.click(await screen.findByRole('button', { name: t.proof.check }));
  expect(await screen.findByText(t.proof.isFalse)).toBeTruthy();
  expect(screen.getByText(t.proof.commitment).closest('li')?.textContent).toContain(enPages.draw.fails);
  expect(screen.getByText(t.proof.notSeen)).toBeTruthy();
});
