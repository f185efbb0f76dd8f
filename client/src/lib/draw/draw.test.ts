import { expect, test } from 'vitest';
import type { Proof, Rarity } from '../api/types';
import { recompute } from './draw';

const ID = '00000000-0000-7000-8000-00000000000';

/** The opening that docs/fair-draws.md works through. */
function opening() {
  const slot: Proof['table']['slots'][number] = [
    {
      rarity: 'common',
      weight: 9,
      collectibles: [
        { id: `${ID}1`, weight: 3 },
        { id: `${ID}2`, weight: 1 },
      ],
    },
    {
      rarity: 'rare',
      weight: 1,
      collectibles: [
        { id: `${ID}3`, weight: 1 },
        { id: `${ID}4`, weight: 1 },
      ],
    },
  ];
  const proof: Proof = {
    algorithm: 'hmac-sha256-v1',
    serverSeed: '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',
    serverSeedHash: '630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd',
    clientSeed: 'kop',
    clientSeedSource: 'client',
    nonce: 1,
    table: { guarantee: 'rare', slots: [slot, slot] },
    tableHash: '74e960f417a5ac5a38b0011536ea60c3992d10793316ba0b153495918f1ad22f',
  };
  return {
    collectibles: [
      { collectible: { id: `${ID}1`, rarity: 'common' as Rarity } },
      { collectible: { id: `${ID}3`, rarity: 'rare' as Rarity } },
    ],
    proof,
  };
}

test('the documented opening comes to the documented words and rows', async () => {
  const { slots, ...rest } = await recompute(opening(), crypto.subtle);
  expect(rest).toMatchObject({ isSeedTrue: true, isTableTrue: true, areRowsTrue: true });
  expect(slots).toEqual([
    {
      message: 'kop:1:0',
      isGuaranteed: false,
      rarity: 'common',
      rarityChoice: { word: 18405724891902812185n, total: 10n, remainder: 5n },
      collectibleId: `${ID}1`,
      collectibleChoice: { word: 17660504948627855992n, total: 4n, remainder: 0n },
    },
    {
      message: 'kop:1:1',
      isGuaranteed: true,
      rarity: 'rare',
      rarityChoice: { word: 0x67891683bd76f4cdn, total: 1n, remainder: 0n },
      collectibleId: `${ID}3`,
      collectibleChoice: { word: 2834392344375808502n, total: 2n, remainder: 0n },
    },
  ]);
});

test.each([
  ['seed', { serverSeed: 'ff'.repeat(32) }, { isSeedTrue: false, isTableTrue: true }],
  ['table', { tableHash: '00'.repeat(32) }, { isSeedTrue: true, isTableTrue: false, areRowsTrue: true }],
  ['nonce', { nonce: 3 }, { isSeedTrue: true, isTableTrue: true, areRowsTrue: false }],
])('another %s is noticed', async (_, change, expected) => {
  const answer = opening();
  const checked = await recompute({ ...answer, proof: { ...answer.proof, ...change } }, crypto.subtle);
  expect(checked).toMatchObject(expected);
});

test('rows that were not drawn are noticed', async () => {
  const answer = opening();
  const rows = [...answer.collectibles].reverse();
  expect((await recompute({ ...answer, collectibles: rows }, crypto.subtle)).areRowsTrue).toBe(false);
  const fewer = answer.collectibles.slice(0, 1);
  expect((await recompute({ ...answer, collectibles: fewer }, crypto.subtle)).areRowsTrue).toBe(false);
});
