import type { QuestStep, Quest } from '../api/types';
import type { LiveEvent } from '../live/events';

/** Something that a fan earned. */
export type Reward =
  | { kind: 'step' | 'quest'; id: string; at: string; title: string; points: number }
  | { kind: 'achievement'; id: string; at: string; title: string; text: string }
  /** A daily visit; `milestone` is the streak that it completed. */
  | { kind: 'visit'; id: string; points: number; coins: number; milestone: number | null }
  /** A better place in the table of all fans. */
  | { kind: 'rank'; id: string; rank: number; before: number };

/** The same for an answer and for the event of what it did, which come in any order. */
export function keyOf(reward: Reward): string {
  return [reward.kind, reward.id, 'at' in reward ? reward.at : ''].join(' ');
}

export function stepReward({ id, title, points, completedAt }: QuestStep): Reward {
  return { kind: 'step', id, at: completedAt ?? '', title, points };
}

/** The quest that its last step completed at this time. */
export function questReward({ id, title, bonus }: Quest, at: string): Reward {
  return { kind: 'quest', id, at, title, points: bonus };
}

/** What an event says was earned, if anything. */
export function rewardOf({ name, data }: LiveEvent): Reward | null {
  if (name === 'step.completed') {
    const { stepId: id, completedAt: at, title, points } = data;
    return { kind: 'step', id, at, title, points };
  }
  if (name === 'quest.completed') {
    const { questId: id, completedAt: at, title, bonus: points } = data;
    return { kind: 'quest', id, at, title, points };
  }
  if (name === 'achievement.unlocked') {
    const { key: id, unlockedAt: at, title, description: text } = data;
    return { kind: 'achievement', id, at, title, text };
  }
  return null;
}
