import type { RouteTable } from '$lib/router/router.svelte';
import { href } from '$lib/router/match';

/** The checkout of a purchase returns to `/?purchase=<id>`. */
function homePath(): string {
  const id = new URLSearchParams(location.search).get('purchase');
  return id === null || id === '' ? href('room', {}) : href('purchase', { id });
}

/** Every page, loaded when it is first shown. */
export const table: RouteTable = {
  home: { load: () => import('./room/RoomPage.svelte'), redirect: homePath },
  room: { load: () => import('./room/RoomPage.svelte') },
  share: { load: () => import('./room/SharePage.svelte') },
  post: { load: () => import('./room/PostPage.svelte') },
  tag: { load: () => import('./room/TagPage.svelte') },
  trends: { load: () => import('./room/TrendsPage.svelte') },
  search: { load: () => import('./room/search/SearchPage.svelte') },
  team: { load: () => import('./room/team/TeamPage.svelte') },
  fans: { load: () => import('./room/people/FansPage.svelte') },
  fan: { load: () => import('./room/people/FanPage.svelte') },
  followers: { load: () => import('./room/people/FollowersPage.svelte') },
  followed: { load: () => import('./room/people/FollowedPage.svelte') },
  blocks: { load: () => import('./room/people/BlocksPage.svelte') },
  table: { load: () => import('./boards/TablePage.svelte') },
  quests: { load: () => import('./quests/QuestsPage.svelte') },
  quest: { load: () => import('./quests/QuestPage.svelte') },
  achievements: { load: () => import('./quests/AchievementsPage.svelte') },
  packs: { load: () => import('./packs/PacksPage.svelte') },
  pack: { load: () => import('./packs/PackPage.svelte') },
  copy: { load: () => import('./packs/CopyPage.svelte') },
  ownPacks: { load: () => import('./packs/OwnPacksPage.svelte') },
  purchase: { load: () => import('./packs/PurchasePage.svelte') },
  album: { load: () => import('./packs/AlbumPage.svelte') },
  balances: { load: () => import('./balances/BalancesPage.svelte') },
  settings: { load: () => import('./settings/SettingsPage.svelte') },
  settingsProfile: { load: () => import('./settings/ProfilePage.svelte') },
  settingsPassword: { load: () => import('./settings/PasswordPage.svelte') },
  settingsDevices: { load: () => import('./settings/DevicesPage.svelte') },
  settingsData: { load: () => import('./settings/DataPage.svelte') },
  account: { load: () => import('./accounts/AccountPage.svelte') },
  signIn: { load: () => import('./accounts/SignInPage.svelte') },
  signUp: { load: () => import('./accounts/SignUpPage.svelte') },
  chooseTeam: { load: () => import('./teams/ChooseTeamPage.svelte') },
};
