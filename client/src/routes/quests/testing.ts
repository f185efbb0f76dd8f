import type { Quest, QuestStep, VisitStatus } from '$lib/api/types';

export function aStep(id: string, more: Partial<QuestStep> = {}): QuestStep {
  return {
    id,
    key: id,
    title: `Step ${id}`,
    position: 1,
    required: true,
    points: 5,
    check: null,
    status: 'available',
    completedAt: null,
    progress: null,
    ...more,
  };
}

export function aQuest(more: Partial<Quest> = {}): Quest {
  return {
    id: 'quest-1',
    key: 'matchday',
    title: 'Match day',
    description: 'Be there',
    cadence: 'once',
    teamId: null,
    bonus: 0,
    totalPoints: 10,
    sequential: false,
    opensAt: null,
    closesAt: null,
    status: 'active',
    requires: [],
    locked: false,
    steps: [aStep('a'), aStep('b', { position: 2 })],
    ...more,
  };
}

export function aStreak(more: Partial<VisitStatus> = {}): VisitStatus {
  return {
    streak: 3,
    longestStreak: 8,
    freezes: 1,
    visitedToday: false,
    nextVisitAt: '2026-11-24T00:00:00.000Z',
    nextMilestone: { days: 7, points: 20, coins: 5 },
    ...more,
  };
}
