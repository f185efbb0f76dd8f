import type { Texts } from '$lib/i18n/texts.svelte';
import { href } from '$lib/router/match';
import type { RouteName } from '$lib/router/paths';
import type { NavItem } from '$lib/ui/nav-item';
import { HOME, ROOM, PLAY, SHOP, ACCOUNT } from './routes/areas';

/** The largest number that fits on an item. */
const MOST_SHOWN = 99;

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
