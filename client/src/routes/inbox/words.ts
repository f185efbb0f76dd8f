import type { InboxRow } from '$lib/api/types';
import type { Home } from '$lib/i18n/en-home';
import type { Texts } from '$lib/i18n/texts.svelte';
import { href } from '$lib/router/match';
import type { IconName } from '$lib/ui/icon-names';

type Kind = keyof Home['kinds'];

const ICONS: Record<Kind, IconName> = {
  follow: 'account',
  comment: 'reply',
  reply: 'reply',
  mention: 'room',
  reaction: 'react',
  quest_completed: 'check',
  achievement: 'point',
  level: 'point',
  reward: 'coin',
  order: 'parcel',
  purchase: 'pack',
  trivia_soon: 'clock',
  streak_at_risk: 'fire',
  rank_lost: 'table',
  season: 'table',
  moderation: 'alert',
};

function isKnown(kind: string): kind is Kind {
  return kind in ICONS;
}

/** The drawing beside a notification that no fan caused. */
export function iconOf(kind: string): IconName {
  return isKnown(kind) ? ICONS[kind] : 'bell';
}

/** What fans choose by this name; that of the service for a kind which a newer one has. */
export function kindName(kind: string, texts: Texts): string {
  return isKnown(kind) ? texts.home.kinds[kind] : kind;
}

/** What a notification says, and below it the beginning of the text that it is about. */
export function wordsOf(row: InboxRow, texts: Texts): { title: string; text: string } {
  const { kind, text, subject } = row;
  const title = subject.title ?? '';
  const isComment = subject.kind === 'comment';
  const told = { who: whoOf(row, texts), n: row.actorCount, isComment, title, text };
  return {
    title: isKnown(kind) ? texts.home.says[kind](told) : text,
    text: row.actors.length > 0 && kind !== 'follow' ? title : '',
  };
}

/** The fans who caused it, those who are not named as a number. */
function whoOf({ actors, actorCount }: InboxRow, texts: Texts): string {
  const t = texts.home.inbox;
  const left = actorCount - actors.length;
  const others = left > 0 ? [t.others(left, texts.number(left))] : [];
  const all = [...actors.map(({ displayName }) => displayName), ...others];
  return all.length === 0 ? t.someone : texts.list(all);
}

/** The page that shows what a notification is about. New followers are shown themselves. */
export function addressOf({ kind, actors, actorCount, url }: InboxRow, username: string): string {
  const [newest] = actors;
  if (kind !== 'follow' || !newest) return url;
  return actorCount === 1 ? href('fan', { username: newest.username }) : href('followers', { username });
}
