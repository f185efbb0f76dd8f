/** The paths of all pages. The service answers a navigation to any of them with the client, and to no other path. */
export const paths = {
  home: '/',
  room: '/room',
  share: '/share',
  post: '/posts/{id}',
  tag: '/tags/{tag}',
  trends: '/trends',
  search: '/search',
  team: '/teams/{id}',
  fans: '/fans',
  fan: '/fans/{username}',
  followers: '/fans/{username}/followers',
  followed: '/fans/{username}/following',
  blocks: '/blocks',
  table: '/table',
  quests: '/quests',
  quest: '/quests/{id}',
  achievements: '/achievements',
  packs: '/packs',
  pack: '/packs/{id}',
  copy: '/packs/{id}/copies/{copyId}',
  ownPacks: '/my-packs',
  purchase: '/purchases/{id}',
  album: '/album',
  balances: '/balances',
  settings: '/settings',
  settingsProfile: '/settings/profile',
  settingsPassword: '/settings/password',
  settingsDevices: '/settings/devices',
  settingsData: '/settings/data',
  account: '/account',
  signIn: '/sign-in',
  signUp: '/sign-up',
  chooseTeam: '/choose-team',
} as const;

export type RouteName = keyof typeof paths;

type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;

/** The parameters in the path of a page. */
export type Params<Name extends RouteName> = Record<Names<(typeof paths)[Name]>, string>;
