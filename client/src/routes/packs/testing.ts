import type { AlbumEntry, OpenResult, Pack, Purchase, Rarity, UserPack } from '$lib/api/types';

const AT = '2026-11-23T12:00:00.000Z';

export function aPack(more: Partial<Pack> = {}): Pack {
  return {
    id: 'pack-1',
    key: 'away-days',
    name: 'Away days',
    description: 'Cards of the away end',
    imageUrl: null,
    price: { kind: 'coins', amount: 10, currency: null },
    available: true,
    remaining: null,
    perUserLimit: null,
    owned: 0,
    bought: 0,
    opensAt: null,
    closesAt: null,
    slots: 3,
    guarantee: null,
    odds: [{ rarity: 'common', probability: 0.75, atLeastOne: 0.98 }],
    ...more,
  };
}

const card = { id: 'pack-1', key: 'away-days', name: 'Away days', imageUrl: null };

export function aCopy(more: Partial<UserPack> = {}): UserPack {
  return {
    id: 'copy-1',
    packId: 'pack-1',
    pack: card,
    purchaseId: 'purchase-1',
    nonce: 1,
    status: 'sealed',
    serverSeedHash: 'f00d',
    purchasedAt: AT,
    openedAt: null,
    ...more,
  };
}

export function aPurchase(more: Partial<Purchase> = {}): Purchase {
  return {
    id: 'purchase-1',
    packId: 'pack-1',
    pack: card,
    quantity: 1,
    status: 'pending',
    price: { kind: 'money', amount: 499, currency: 'EUR' },
    checkoutUrl: 'https://pay.test/1',
    expiresAt: null,
    createdAt: AT,
    ...more,
  };
}

export function anEntry(id: string, rarity: Rarity, owned: number): AlbumEntry {
  const collectible = { id, key: id, name: `Card ${id}`, rarity, imageUrl: '', teamId: null };
  return { collectible, edition: null, owned, firstAcquiredAt: owned > 0 ? AT : null };
}

/** A copy that holds one card for each of these rarities. */
export function anOpening(...rarities: Rarity[]): OpenResult {
  return {
    userPack: aCopy({ status: 'opened', openedAt: AT }),
    collectibles: rarities.map((rarity, place) => ({
      id: `row-${String(place)}`,
      collectible: anEntry(String(place), rarity, 1).collectible,
      userPackId: 'copy-1',
      serial: null,
      edition: null,
      acquiredAt: AT,
      source: 'pack',
      token: null,
    })),
    proof: {
      algorithm: 'hmac-sha256-v1',
      serverSeed: '00',
      serverSeedHash: 'f00d',
      clientSeed: 'c0ffee',
      clientSeedSource: 'client',
      nonce: 1,
      tableHash: '00',
      table: { guarantee: null, slots: [] },
    },
  };
}
