import type { Quest, QuestStep, StepCheckKind } from '$lib/api/types';
import type { OwnEvent } from '$lib/live/own';
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

/** Whether what happened is not in the quest as it was read. */
export function changesQuest(quest: Quest | null, event: OwnEvent): boolean {
  if (event.name === 'resync') return true;
  if (quest === null) return false;
  const { id, requires, status, steps } = quest;
  const open = steps.filter((step) => step.status !== 'completed');
  if (event.name === 'step.completed') return open.some((step) => step.id === event.data.stepId);
  // Some steps count points.
  if (event.name === 'points.awarded') return open.some(({ progress }) => progress !== null);
  if (event.name !== 'quest.completed') return false;
  const { questId } = event.data;
  if (questId === id) return status !== 'completed';
  return requires.some((other) => other.questId === questId && !other.completed);
}

/** Where a fan does what a step checks. */
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

/** Where the step is done; null for a step that the fan confirms, and for a kind that a newer service has. */
export function placeOf({ check }: QuestStep): { kind: StepCheckKind; address: string } | null {
  if (!check || !(check.kind in PLACES)) return null;
  return { kind: check.kind, address: PLACES[check.kind]() };
}
