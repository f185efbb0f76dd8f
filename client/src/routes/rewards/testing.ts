import type { Claim, Reward } from '$lib/api/types';

const AT = '2026-11-23T12:00:00.000Z';

export function aReward(more: Partial<Reward> = {}): Reward {
  return {
    id: 'reward-1',
    key: 'shop-10',
    name: 'Ten percent off',
    description: 'Off one purchase at the counter.',
    imageUrl: null,
    grant: { kind: 'code', amount: 1, id: null },
    cost: { kind: 'coins', amount: 40 },
    requires: [],
    remaining: null,
    perUserLimit: 1,
    period: 'season',
    validFor: 720 * 3600,
    opensAt: null,
    closesAt: null,
    claimable: true,
    why: null,
    ...more,
  };
}

export function aClaim(more: Partial<Claim> = {}): Claim {
  return {
    id: 'claim-1',
    rewardId: 'reward-1',
    reward: { name: 'Ten percent off', imageUrl: null },
    status: 'issued',
    code: '7K2M-9QTX-04HD-PZ3V',
    goods: [],
    cost: { kind: 'coins', amount: 40 },
    returned: false,
    createdAt: AT,
    expiresAt: '2026-12-23T12:00:00.000Z',
    usedAt: null,
    ...more,
  };
}
