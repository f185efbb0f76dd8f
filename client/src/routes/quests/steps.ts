import type { Quest, QuestStep, StepCheckKind } from '$lib/api/types';
import { href } from '$lib/router/match';

type StepState = 'done' | 'next' | 'locked';

/** Whether a step is done, can be done now, or has to wait. */
export function stepState(quest: Quest, step: QuestStep): StepState {
  if (step.status === 'completed') return 'done';
  if (quest.locked || quest.status !== 'active') return 'locked';
  if (!quest.sequential) return 'next';
  const isFirst = quest.steps.every(
    ({ position, required, status }) => position >= step.position || !required || status === 'completed',
  );
  return isFirst ? 'next' : 'locked';
}

export function doneSteps(quest: Quest): number {
  return quest.steps.filter(({ status }) => status === 'completed').length;
}

/** Where a fan does what a step checks; null for kinds that this client does not know. */
const PLACES: Record<StepCheckKind, () => string> = {
  choose_favorite_team: () => href('chooseTeam', {}),
  upload_profile_picture: () => href('settingsProfile', {}),
  complete_profile: () => href('settingsProfile', {}),
  join_leaderboard: () => href('table', {}),
  points_threshold: () => href('balances', {}),
  rank_threshold: () => href('table', {}),
  follow_user: () => href('room', {}),
  get_followers: () => href('room', {}),
};

export function placeOf(step: QuestStep): { kind: StepCheckKind; address: string } | null {
  const kind = step.check?.kind ?? '';
  if (!isKnown(kind)) return null;
  return { kind, address: PLACES[kind]() };
}

function isKnown(kind: string): kind is StepCheckKind {
  return kind in PLACES;
}
