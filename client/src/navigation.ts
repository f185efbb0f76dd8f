import type { Part, Texts } from '$lib/i18n/texts.svelte';
import { href } from '$lib/router/match';
import type { RouteName } from '$lib/router/paths';
import type { NavItem } from '$lib/ui/MainNav.svelte';

const ROOM: readonly RouteName[] = [
  'room',
  'share',
  'post',
  'tag',
  'trends',
  'search',
  'team',
  'fans',
  'fan',
  'followers',
  'followed',
];

const PLAY: readonly RouteName[] = [
  'quests',
  'quest',
  'achievements',
  'packs',
  'pack',
  'copy',
  'ownPacks',
  'purchase',
  'album',
  'balances',
];

const ACCOUNT: readonly RouteName[] = [
  'account',
  'blocks',
  'settings',
  'settingsProfile',
  'settingsPassword',
  'settingsDevices',
  'settingsData',
];

/** The texts that a page needs and that are not there from the start. */
export function textsOf(name: RouteName): Part[] {
  if (name === 'home' || name === 'room') return [];
  const hasMore = name === 'table' || name === 'share' || PLAY.includes(name) || ACCOUNT.includes(name);
  return hasMore ? ['pages', 'more'] : ['pages'];
}

/** Whether the table stands beside a page on a wide screen; reveals, payments and forms stand alone. */
export function hasTableBeside(name: RouteName): boolean {
  if (name === 'copy' || name === 'purchase' || name === 'blocks') return false;
  return PLAY.includes(name) || name === 'account' || name === 'settings';
}

/** The items of the main navigation; the one to which the shown page belongs is marked. */
export function navigation({ t }: Texts, shown: RouteName | null): NavItem[] {
  const isIn = (names: readonly RouteName[]): boolean => shown !== null && names.includes(shown);
  return [
    {
      href: href('room', {}),
      icon: 'room',
      label: t.nav.room,
      longLabel: t.nav.roomLong,
      isCurrent: isIn(ROOM),
    },
    {
      href: href('quests', {}),
      icon: 'play',
      label: t.nav.play,
      longLabel: t.nav.play,
      isCurrent: isIn(PLAY),
    },
    {
      href: href('table', {}),
      icon: 'table',
      label: t.nav.table,
      longLabel: t.nav.table,
      isCurrent: isIn(['table']),
    },
    {
      href: href('account', {}),
      icon: 'account',
      label: t.nav.account,
      longLabel: t.nav.account,
      isCurrent: isIn(ACCOUNT),
    },
  ];
}
