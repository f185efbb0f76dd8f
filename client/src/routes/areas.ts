import type { Part } from '../lib/i18n/texts.svelte';
import type { RouteName } from '../lib/router/paths';

export const HOME: readonly RouteName[] = ['home', 'notifications', 'settingsNotifications'];

export const ROOM: readonly RouteName[] = [
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

export const PLAY: readonly RouteName[] = [
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
  ...OWN,
  ...WHEELS,
  ...TRIVIA,
];

export const SHOP: readonly RouteName[] = ['shop', 'product', 'cart', 'checkout', 'orders', 'order'];

export const ACCOUNT: readonly RouteName[] = [
  'account',
  'blocks',
  'settings',
  'settingsProfile',
  'settingsPassword',
  'settingsDevices',
  'settingsData',
];

const ENTRY: readonly RouteName[] = ['signIn', 'signUp', 'chooseTeam'];

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
