import type { OwnEvent } from '$lib/live/own';

const NAMES: readonly OwnEvent['name'][] = [
  'claim.changed',
  'balance.changed',
  'points.awarded',
  'quest.completed',
  'achievement.unlocked',
  'resync',
];

/** Whether what happened may change what a fan can claim. */
export function changesRewards({ name }: OwnEvent): boolean {
  return NAMES.includes(name);
}
