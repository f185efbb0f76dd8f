import type { Dashboard } from '$lib/api/types';
import type { Texts } from '$lib/i18n/texts.svelte';
import { href } from '$lib/router/match';
import type { IconName } from '$lib/ui/icon-names';

/** A line of the start page that leads to where there is more. */
export interface HomeRow {
  key: string;
  icon: IconName;
  title: string;
  text: string;
  address: string;
}

/** Something that the fan has, or that waits, and how many there are. */
interface Counted extends Omit<HomeRow, 'title'> {
  count: number;
  title: (n: number, shown: string) => string;
}

function rowsOf(all: readonly Counted[], texts: Texts): HomeRow[] {
  return all
    .filter(({ count }) => count > 0)
    .map(({ count, title, ...row }) => ({ ...row, title: title(count, texts.number(count)) }));
}

/** A free spin, and the next round of trivia. */
function gameRows({ trivia, wheel }: Dashboard, texts: Texts): Counted[] {
  const t = texts.home.dashboard;
  return [
    {
      key: 'wheel',
      icon: 'refresh',
      count: wheel?.freeSpin === true ? 1 : 0,
      title: () => t.freeSpin,
      text: wheel?.name ?? '',
      address: wheel ? href('wheel', { id: wheel.id }) : '',
    },
    {
      key: 'trivia',
      icon: 'play',
      count: trivia === null ? 0 : 1,
      title: () =>
        trivia?.status === 'scheduled' ? t.roundStarts(texts.moment(new Date(trivia.startsAt))) : t.roundOpen,
      text: trivia?.title ?? '',
      address: trivia ? href('round', { id: trivia.id }) : '',
    },
  ];
}

/** What waits for the fan, the most urgent first. */
export function waitingRows(dashboard: Dashboard, unread: number, texts: Texts): HomeRow[] {
  const { orders, packs, rewards } = dashboard;
  const t = texts.home.dashboard;
  const named = (status: string): string =>
    orders.latest.find((order) => order.status === status)?.name ?? '';
  const all: Counted[] = [
    {
      key: 'unread',
      icon: 'bell',
      count: unread,
      title: t.notifications,
      text: '',
      address: href('notifications', {}),
    },
    ...gameRows(dashboard, texts),
    {
      key: 'packs',
      icon: 'pack',
      count: packs.sealed,
      title: t.sealed,
      text: texts.list([...new Set(packs.latest.flatMap(({ pack }) => pack?.name ?? []))]),
      address: href('ownPacks', {}),
    },
    {
      key: 'rewards',
      icon: 'play',
      count: rewards.usable,
      title: t.usableRewards,
      text: texts.list([...new Set(rewards.latest.flatMap(({ reward }) => reward?.name ?? []))]),
      address: href('ownRewards', {}),
    },
    {
      key: 'pending',
      icon: 'clock',
      count: orders.pending,
      title: t.pendingOrders,
      text: named('pending'),
      address: href('orders', {}),
    },
    {
      key: 'paid',
      icon: 'parcel',
      count: orders.paid,
      title: t.paidOrders,
      text: named('paid'),
      address: href('orders', {}),
    },
  ];
  return rowsOf(all, texts);
}

/** What the fan has. */
export function ownRows({ achievements, collectibles }: Dashboard, texts: Texts): HomeRow[] {
  const t = texts.home.dashboard;
  const [latest] = achievements.latest;
  const [card] = collectibles.latest;
  const all: Counted[] = [
    {
      key: 'achievements',
      icon: 'point',
      count: achievements.unlocked,
      title: (_, shown) => t.achievements(shown, texts.number(achievements.total)),
      text: latest ? t.latest(latest.title) : '',
      address: href('achievements', {}),
    },
    {
      key: 'album',
      icon: 'picture',
      count: collectibles.distinct,
      title: t.album,
      text: card?.collectible ? t.latest(card.collectible.name) : '',
      address: href('album', {}),
    },
  ];
  return rowsOf(all, texts);
}
