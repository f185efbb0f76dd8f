import type { Dashboard, DashboardQuest, VisitStatus } from '$lib/api/types';

export function aStreak(more: Partial<VisitStatus> = {}): VisitStatus {
  return {
    streak: 3,
    longestStreak: 8,
    freezes: 1,
    visitedToday: true,
    nextVisitAt: '2999-01-01T00:00:00.000Z',
    nextMilestone: { days: 7, points: 20, coins: 5 },
    ...more,
  };
}

export function aQuest(id: string, more: Partial<DashboardQuest> = {}): DashboardQuest {
  return {
    id,
    key: id,
    title: `Quest ${id}`,
    cadence: 'once',
    status: 'active',
    totalPoints: 40,
    closesAt: null,
    completedSteps: 1,
    steps: 3,
    nextStep: {
      id: `step-${id}`,
      key: 'call',
      title: `Step of ${id}`,
      position: 2,
      required: true,
      points: 15,
      check: null,
      status: 'available',
      completedAt: null,
      progress: null,
    },
    ...more,
  };
}

/** The start page of a fan who has nothing yet. */
export function aDashboard(more: Partial<Dashboard> = {}): Dashboard {
  return {
    user: {
      id: 'fan-ada',
      username: 'ada',
      displayName: 'Ada',
      pictureUrl: null,
      favoriteTeam: null,
      followerCount: 0,
      followingCount: 0,
      points: 200,
    },
    level: { number: 2, name: 'Regular', from: 100, next: 300 },
    balances: { coins: 0, points: 0 },
    rank: { global: null, team: null },
    streak: aStreak(),
    quests: [],
    achievements: { unlocked: 0, total: 12, latest: [] },
    packs: { sealed: 0, owned: 0, latest: [] },
    collectibles: { owned: 0, distinct: 0, latest: [] },
    orders: { pending: 0, paid: 0, latest: [] },
    rewards: { usable: 0, latest: [] },
    wheel: null,
    trivia: null,
    notifications: { unread: 0 },
    trends: { topics: [], refreshedAt: null },
    streamPosition: 7,
    ...more,
  };
}
