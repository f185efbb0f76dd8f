import type { Part, Texts } from '$lib/i18n/texts.svelte';
import { href } from '$lib/router/match';
import type { RouteName } from '$lib/router/paths';
import type { NavItem } from '$lib/ui/nav-item';

const HOME: readonly RouteName[] = ['home', 'notifications', 'settingsNotifications'];

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

/** Wheels and spins, with texts of their own. */
const WHEELS: readonly RouteName[] = ['wheels', 'wheel', 'spins'];

/** Rounds of trivia, with texts of their own. */
const TRIVIA: readonly RouteName[] = ['trivia', 'round', 'ownRounds'];

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
  'statement',
  'wallets',
  'collection',
  'rewards',
  'reward',
  'ownRewards',
  'claim',
  ...WHEELS,
  ...TRIVIA,
];

/** Pages with texts of their own about what a fan owns and claims. */
const OWN: readonly RouteName[] = [
  'statement',
  'wallets',
  'collection',
  'rewards',
  'reward',
  'ownRewards',
  'claim',
];

const SHOP: readonly RouteName[] = ['shop', 'product', 'cart', 'checkout', 'orders', 'order'];

const ACCOUNT: readonly RouteName[] = [
  'account',
  'blocks',
  'settings',
  'settingsProfile',
  'settingsPassword',
  'settingsDevices',
  'settingsData',
];

const ENTRY: readonly RouteName[] = ['signIn', 'signUp', 'chooseTeam'];

/** The largest number that fits on an item. */
const MOST_SHOWN = 99;

/** The texts that a page needs and that are not there from the start. */
export function textsOf(name: RouteName): Part[] {
  if (name === 'room') return [];
  if (name === 'settingsNotifications') return ['pages', 'more', 'home'];
  if (HOME.includes(name)) return ['pages', 'home'];
  if (name === 'orders' || name === 'order') return ['pages', 'shop', 'orders'];
  if (name === 'shop' || name === 'product') return ['pages', 'shop', 'products'];
  if (SHOP.includes(name)) return ['pages', 'shop'];
  if (ENTRY.includes(name)) return ['pages', 'entry'];
  if (OWN.includes(name)) return ['pages', 'more', 'own'];
  if (WHEELS.includes(name)) return ['pages', 'wheels'];
  if (TRIVIA.includes(name)) return ['pages', 'trivia'];
  const hasFans = ROOM.includes(name) || name === 'blocks' || name === 'settings';
  const hasMore = name === 'table' || name === 'share' || PLAY.includes(name) || ACCOUNT.includes(name);
  return ['pages', ...(hasFans ? (['fans'] as const) : []), ...(hasMore ? (['more'] as const) : [])];
}

/** Whether the table stands beside a page on a wide screen; reveals, rounds, payments and forms stand alone. */
export function hasTableBeside(name: RouteName): boolean {
  if (name === 'copy' || name === 'purchase' || name === 'claim' || name === 'blocks') return false;
  if (name === 'round') return false;
  const isOfShop = name === 'shop' || name === 'product' || name === 'orders';
  return name === 'home' || PLAY.includes(name) || isOfShop || name === 'account' || name === 'settings';
}

/** Who reads, as far as the navigation shows it. */
interface Reader {
  /** A fan has a start page, which leads to what a guest's item leads to. */
  isFan: boolean;
  unread: number;
}

/** The items of the main navigation; the one to which the shown page belongs is marked. */
export function navigation(texts: Texts, shown: RouteName | null, { isFan, unread }: Reader): NavItem[] {
  const { t } = texts;
  const isIn = (names: readonly RouteName[]): boolean => shown !== null && names.includes(shown);
  const item = (
    icon: NavItem['icon'],
    label: string,
    address: string,
    names: readonly RouteName[],
  ): NavItem => ({
    href: address,
    icon,
    label,
    longLabel: label,
    isCurrent: isIn(names),
  });
  const room = { ...item('room', t.nav.room, href('room', {}), ROOM), longLabel: t.nav.roomLong };
  const others = [
    item('play', t.nav.play, href('quests', {}), PLAY),
    item('shop', t.nav.shop, href('shop', {}), SHOP),
    item('table', t.nav.table, href('table', {}), ['table']),
  ];
  if (!isFan) return [room, ...others, item('account', t.nav.account, href('account', {}), ACCOUNT)];
  const home = item('home', t.nav.home, href('home', {}), [...HOME, ...ACCOUNT]);
  if (unread > 0) {
    const shown = unread > MOST_SHOWN ? `${texts.number(MOST_SHOWN)}+` : texts.number(unread);
    home.count = { shown, label: t.nav.unread(shown) };
  }
  return [home, room, ...others];
}
