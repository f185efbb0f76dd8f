import { expect, test } from 'vitest';
import type { Grant, RewardRequirement } from '$lib/api/types';
import { durationIn } from '$lib/i18n/figures';
import { placeOfGrant } from '$lib/grants';
import { enOwn } from '$lib/i18n/en-own';
import { enPages } from '$lib/i18n/en-pages';
import { Texts } from '$lib/i18n/texts.svelte';
import { ada } from '../../../tests/world';
import { aClaim, aReward } from './testing';
import { claimNote, claimStatus, conditionsOf, costText, leftAfter, shortWhy, whyText } from './words';

const texts = new Texts({ pages: enPages, own: enOwn });
const { rewards: t, claims: c } = enOwn;

const requirements: [RewardRequirement, string, string | null][] = [
  [{ kind: 'level', value: 5, met: false }, 'Level 5', '/quests'],
  [
    { kind: 'quest', value: 'q1', title: 'Welcome', met: false },
    t.requirement.quest('Welcome'),
    '/quests/q1',
  ],
  [{ kind: 'quest', value: 'q1', title: null, met: false }, t.requirement.unknown, null],
  [
    { kind: 'achievement', value: 'loyal', title: 'Loyal', met: false },
    t.requirement.achievement('Loyal'),
    '/achievements',
  ],
  [{ kind: 'rank', value: 1000, met: false }, t.requirement.rank('1,000'), '/table'],
  [{ kind: 'points', value: 500, met: false }, t.requirement.points('500 points'), '/quests'],
];

test.each(requirements)('%j is %s, met at %s', (requirement, text, address) => {
  const [condition] = conditionsOf({ requires: [requirement] }, texts);
  expect(condition).toMatchObject({ text, isMet: false });
  expect(condition?.way?.address ?? null).toBe(address);
});

test('what is met leads nowhere, and a guest learns the way', () => {
  const [met, unknown] = conditionsOf(
    {
      requires: [
        { kind: 'level', value: 5, met: true },
        { kind: 'rank', value: 3, met: null },
      ],
    },
    texts,
  );
  expect(met).toEqual({ text: 'Level 5', isMet: true, way: null });
  expect(unknown).toMatchObject({ isMet: null, way: { address: '/table' } });
});

test.each([
  ['reward_closed', t.why.reward_closed],
  ['requirement_not_met', t.why.requirement_not_met],
  ['sold_out', t.why.sold_out],
  ['account_too_new', t.why.account_too_new],
  ['insufficient_balance', t.lacking('15 coins')],
  ['authentication_required', null],
  [null, null],
])('%s reads %s', (code, expected) => {
  const fan = { ...ada, balances: { coins: 25, points: 0 } };
  expect(whyText(code, aReward(), fan, texts)).toBe(expected);
});

test.each(['ever', 'day', 'season'] as const)('a limit of each %s says when it is there again', (period) => {
  expect(whyText('limit_reached', aReward({ period }), ada, texts)).toBe(t.reached[period]);
});

test('a reason has a short form, if there is one', () => {
  expect(shortWhy({ why: 'sold_out' }, texts)).toBe(t.short.sold_out);
  expect(shortWhy({ why: 'authentication_required' }, texts)).toBeNull();
  expect(shortWhy({ why: null }, texts)).toBeNull();
});

test('costs, and what is left after them', () => {
  const fan = { ...ada, balances: { coins: 25, points: 1200 } };
  expect(costText(null, texts)).toBe(t.free);
  expect(costText({ kind: 'points', amount: 1150 }, texts)).toBe('1,150 points');
  expect(leftAfter({ kind: 'points', amount: 1150 }, fan)).toBe(50);
  expect(leftAfter({ kind: 'coins', amount: 40 }, fan)).toBe(-15);
  expect(leftAfter(null, fan)).toBeNull();
  expect(leftAfter({ kind: 'coins', amount: 40 }, null)).toBeNull();
});

const at = (time: string): string => texts.dateTime(new Date(time));
const claim = aClaim();

test.each([
  [claim, 'issued', c.expiresAt(at(claim.expiresAt ?? ''))],
  [aClaim({ expiresAt: null }), 'issued', c.claimedAt(at(claim.createdAt))],
  [aClaim({ status: 'used', usedAt: claim.createdAt }), 'used', c.usedAt(at(claim.createdAt))],
  [aClaim({ status: 'expired' }), 'expired', c.expiredAt(at(claim.expiresAt ?? ''))],
  [aClaim({ status: 'revoked' }), 'revoked', c.status.revoked],
  [aClaim({ status: 'used', code: null }), 'given', c.claimedAt(at(claim.createdAt))],
] as const)('a claim says what became of it', (shown, status, note) => {
  expect(claimStatus(shown)).toBe(status);
  expect(claimNote(shown, texts)).toBe(note);
});

test('a time of use is said in days, or hours', () => {
  expect(durationIn('en', 720 * 3600)).toBe('30 days');
  expect(durationIn('en', 24 * 3600)).toBe('24 hours');
});

const places: [Grant['kind'], string | null][] = [
  ['points', '/balances'],
  ['coins', '/balances'],
  ['pack', '/my-packs'],
  ['collectible', '/collection'],
  ['product', '/shop/products/id-1'],
  ['code', null],
  ['nothing', null],
];

test.each(places)('%s that was given is found at %s', (kind, place) => {
  expect(placeOfGrant({ kind, amount: 1, id: 'id-1' })).toBe(place);
});
