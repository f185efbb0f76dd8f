import { amountText } from '$lib/amounts';
import type { Claim, OwnProfile, Reward, RewardRequirement } from '$lib/api/types';
import type { Texts } from '$lib/i18n/texts.svelte';
import { href } from '$lib/router/match';

/** Something that a reward asks for, in words. */
export interface Condition {
  text: string;
  /** Null where the reader is signed out. */
  isMet: boolean | null;
  /** How to meet it; null where nothing leads there. */
  way: { address: string; text: string } | null;
}

function nameOf(requirement: RewardRequirement, texts: Texts): string {
  const t = texts.own.rewards.requirement;
  switch (requirement.kind) {
    case 'level':
      return t.level(texts.number(requirement.value));
    case 'quest':
      return requirement.title === null ? t.unknown : t.quest(requirement.title);
    case 'achievement':
      return requirement.title === null ? t.unknown : t.achievement(requirement.title);
    case 'rank':
      return t.rank(texts.number(requirement.value));
    case 'points':
      return t.points(texts.pages.play.points(requirement.value, texts.number(requirement.value)));
  }
}

/** The page on which a requirement is met. */
function addressOf(requirement: RewardRequirement): string | null {
  switch (requirement.kind) {
    case 'quest':
      return requirement.title === null ? null : href('quest', { id: requirement.value });
    case 'achievement':
      return requirement.title === null ? null : href('achievements', {});
    case 'rank':
      return href('table', {});
    case 'level':
    case 'points':
      return href('quests', {});
  }
}

/** What a reward asks for. */
export function conditionsOf({ requires }: Pick<Reward, 'requires'>, texts: Texts): Condition[] {
  return requires.map((requirement) => {
    const address = requirement.met === true ? null : addressOf(requirement);
    return {
      text: nameOf(requirement, texts),
      isMet: requirement.met,
      way: address === null ? null : { address, text: texts.own.rewards.way[requirement.kind] },
    };
  });
}

/** What a claim costs, in words. */
export function costText(cost: Reward['cost'], texts: Texts): string {
  return cost === null
    ? texts.own.rewards.free
    : amountText(cost.amount, { kind: cost.kind, currency: null }, texts);
}

/** What a fan has of the kind of a cost after paying it; null where there is no cost or no fan. */
export function leftAfter(cost: Reward['cost'], fan: OwnProfile | null): number | null {
  return cost === null || fan === null ? null : fan.balances[cost.kind] - cost.amount;
}

/** Why a reward cannot be claimed, in a word or two; null if it can, or the reader is signed out. */
export function shortWhy({ why }: Pick<Reward, 'why'>, texts: Texts): string | null {
  const known: Record<string, string> = texts.own.rewards.short;
  return why === null ? null : (known[why] ?? null);
}

/** What a code means for the claim of a reward, in words; null if there are none for it. */
export function whyText(
  code: string | null,
  reward: Reward,
  fan: OwnProfile | null,
  texts: Texts,
): string | null {
  const t = texts.own.rewards;
  if (code === null) return null;
  if (code === 'limit_reached') return t.reached[reward.period];
  const left = leftAfter(reward.cost, fan);
  if (code === 'insufficient_balance' && reward.cost && left !== null && left < 0) {
    return t.lacking(costText({ ...reward.cost, amount: -left }, texts));
  }
  const known: Record<string, string> = t.why;
  return known[code] ?? null;
}

/** The state of a claim as its fan sees it: goods are there at once, and nothing is left to use. */
export function claimStatus({ status, code }: Pick<Claim, 'status' | 'code'>): Claim['status'] | 'given' {
  return status === 'used' && code === null ? 'given' : status;
}

/** What happened to a claim, or until when it can be used. */
export function claimNote(claim: Claim, texts: Texts): string {
  const t = texts.own.claims;
  const at = (time: string): string => texts.dateTime(new Date(time));
  switch (claimStatus(claim)) {
    case 'issued':
      return claim.expiresAt === null ? t.claimedAt(at(claim.createdAt)) : t.expiresAt(at(claim.expiresAt));
    case 'used':
      return claim.usedAt === null ? t.status.used : t.usedAt(at(claim.usedAt));
    case 'expired':
      return claim.expiresAt === null ? t.status.expired : t.expiredAt(at(claim.expiresAt));
    case 'given':
      return t.claimedAt(at(claim.createdAt));
    case 'revoked':
      return t.status.revoked;
  }
}
