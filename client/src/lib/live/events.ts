import type { components } from '../api/schema';

type Schemas = components['schemas'];

/** The data of each event, by its name. */
export interface EventData {
  'post.created': Schemas['CombinedPostCreated'];
  'post.edited': Schemas['CombinedPostEdited'];
  'post.deleted': Schemas['CombinedPostDeleted'];
  'comment.created': Schemas['CombinedCommentCreated'];
  'comment.edited': Schemas['CombinedCommentEdited'];
  'comment.liked': Schemas['CombinedCommentLiked'];
  'comment.deleted': Schemas['CombinedCommentDeleted'];
  'reaction.changed': Schemas['CombinedReactionChanged'];
  'score.changed': Schemas['CombinedScoreChanged'];
  'board.reset': Schemas['CombinedBoardReset'];
  'points.awarded': Schemas['CombinedPointsEntry'];
  'step.completed': Schemas['CombinedStepCompleted'];
  'quest.completed': Schemas['CombinedQuestCompleted'];
  'achievement.unlocked': Schemas['CombinedAchievementUnlocked'];
  'purchase.changed': Schemas['CombinedPurchaseChanged'];
  'order.changed': Schemas['CombinedOrderChanged'];
  'balance.changed': Schemas['CombinedBalanceChanged'];
  'notification.created': Schemas['CombinedNotificationCreated'];
  'notification.read': Schemas['CombinedNotificationRead'];
  'wallet.changed': Schemas['CombinedWalletChanged'];
  'claim.changed': Schemas['CombinedClaimChanged'];
  'spin.completed': Schemas['CombinedSpinCompleted'];
  'question.opened': Schemas['CombinedQuestionOpened'];
  'question.closed': Schemas['CombinedQuestionClosed'];
  'standings.changed': Schemas['CombinedStandingsChanged'];
  'round.ended': Schemas['CombinedRoundEnded'];
  resync: Schemas['CombinedResync'];
}

export type EventName = keyof EventData;

/** An event of the stream. */
export type LiveEvent = { [Name in EventName]: { name: Name; data: EventData[Name] } }[EventName];

const NAMED: Record<EventName, true> = {
  'post.created': true,
  'post.edited': true,
  'post.deleted': true,
  'comment.created': true,
  'comment.edited': true,
  'comment.liked': true,
  'comment.deleted': true,
  'reaction.changed': true,
  'score.changed': true,
  'board.reset': true,
  'points.awarded': true,
  'step.completed': true,
  'quest.completed': true,
  'achievement.unlocked': true,
  'purchase.changed': true,
  'order.changed': true,
  'balance.changed': true,
  'notification.created': true,
  'notification.read': true,
  'wallet.changed': true,
  'claim.changed': true,
  'spin.completed': true,
  'question.opened': true,
  'question.closed': true,
  'standings.changed': true,
  'round.ended': true,
  resync: true,
};

function isNamed(name: string): name is EventName {
  return name in NAMED;
}

export const EVENT_NAMES = Object.keys(NAMED).filter(isNamed);

/** The event that a message of the stream holds; null if it lacks what every event has. */
export function eventOf(name: EventName, text: unknown): LiveEvent | null {
  if (typeof text !== 'string') return null;
  const data: unknown = JSON.parse(text);
  const event = { name, data };
  return isEvent(event) ? event : null;
}

function isEvent(event: { name: EventName; data: unknown }): event is LiveEvent {
  const { data } = event;
  return typeof data === 'object' && data !== null && 'channels' in data && Array.isArray(data.channels);
}
