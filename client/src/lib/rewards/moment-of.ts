import type { Texts } from '../i18n/texts.svelte';
import type { Moment } from '../ui/moment';
import type { Reward } from './reward';

/** Of several rewards the first of these gives the moment its title. */
const ORDER = ['quest', 'visit', 'step', 'achievement', 'rank'] as const;

/** One moment for all that was earned together. */
export function momentOf(rewards: readonly Reward[], texts: Texts): Moment | null {
  const order = (reward: Reward): number => ORDER.indexOf(reward.kind);
  const [first] = [...rewards].sort((one, other) => order(one) - order(other));
  if (!first) return null;
  const lines = rewards.flatMap((reward) => lineOf(reward, reward === first, texts));
  return { title: titleOf(first, texts), ...amountOf(first, rewards, texts), lines: [...new Set(lines)] };
}

/** The moment as it is read out. */
export function inWords({ title, amount, unit, lines }: Moment): string {
  return [title, `${amount} ${unit}`, ...lines].join('. ');
}

function titleOf(reward: Reward, texts: Texts): string {
  const { quests, rewards } = texts.more;
  switch (reward.kind) {
    case 'quest':
      return quests.questEarned;
    case 'step':
      return quests.stepEarned;
    case 'visit':
      return reward.milestone === null
        ? quests.visitEarned
        : quests.milestone(texts.number(reward.milestone));
    case 'achievement':
      return rewards.achievement;
    case 'rank':
      return rewards.rank;
  }
}

function amountOf(first: Reward, rewards: readonly Reward[], texts: Texts): Pick<Moment, 'amount' | 'unit'> {
  const { play } = texts.pages;
  const { rewards: t } = texts.more;
  if (first.kind === 'rank') return { amount: texts.number(first.rank), unit: t.place };
  const points = rewards.reduce((sum, reward) => sum + ('points' in reward ? reward.points : 0), 0);
  if (first.kind !== 'achievement') return { amount: texts.change(points), unit: play.pointsUnit };
  const count = rewards.filter(({ kind }) => kind === 'achievement').length;
  return { amount: texts.change(count), unit: t.achievementUnit(count) };
}

function lineOf(reward: Reward, isFirst: boolean, texts: Texts): string[] {
  const { play } = texts.pages;
  const { rewards: t } = texts.more;
  switch (reward.kind) {
    case 'step':
    case 'quest':
      return [reward.title];
    case 'visit':
      return reward.coins > 0 ? [`+ ${play.coins(reward.coins, texts.number(reward.coins))}`] : [];
    case 'achievement':
      return [isFirst ? `${reward.title}: ${reward.text}` : t.unlocked(reward.title)];
    case 'rank':
      return [isFirst ? t.rankBefore(texts.number(reward.before)) : t.rankNow(texts.number(reward.rank))];
  }
}
