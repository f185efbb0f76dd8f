import type { RouteTable } from '$lib/router/router.svelte';
import { href } from '$lib/router/match';
import { isSignedInHere } from '$lib/session.svelte';

/** The checkout of a purchase returns to `/?purchase=<id>`. A guest starts in the room. */
function homePath(): string | null {
  const id = new URLSearchParams(location.search).get('purchase');
  if (id !== null && id !== '') return href('purchase', { id });
  return isSignedInHere() ? null : href('room', {});
}

/** Every page, loaded when it is first shown. */
export const table: RouteTable = {
  home: { load: () => import('./home/HomePage.svelte'), redirect: homePath },
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
  collection: { load: () => import('./packs/CollectionPage.svelte') },
  balances: { load: () => import('./balances/BalancesPage.svelte') },
  rewards: { load: () => import('./rewards/RewardsPage.svelte') },
  reward: { load: () => import('./rewards/RewardPage.svelte') },
  ownRewards: { load: () => import('./rewards/OwnRewardsPage.svelte') },
  claim: { load: () => import('./rewards/ClaimPage.svelte') },
  wheels: { load: () => import('./wheels/WheelsPage.svelte') },
  wheel: { load: () => import('./wheels/WheelPage.svelte') },
  spins: { load: () => import('./wheels/SpinsPage.svelte') },
  trivia: { load: () => import('./trivia/TriviaPage.svelte') },
  round: { load: () => import('./trivia/RoundPage.svelte') },
  ownRounds: { load: () => import('./trivia/OwnRoundsPage.svelte') },
  statement: { load: () => import('./balances/StatementPage.svelte') },
  wallets: { load: () => import('./balances/WalletsPage.svelte') },
  shop: { load: () => import('./shop/ShopPage.svelte') },
  product: { load: () => import('./shop/ProductPage.svelte') },
  cart: { load: () => import('./shop/CartPage.svelte') },
  checkout: { load: () => import('./shop/CheckoutPage.svelte') },
  orders: { load: () => import('./shop/OrdersPage.svelte') },
  order: { load: () => import('./shop/OrderPage.svelte') },
  notifications: { load: () => import('./inbox/InboxPage.svelte') },
  settings: { load: () => import('./settings/SettingsPage.svelte') },
  settingsProfile: { load: () => import('./settings/ProfilePage.svelte') },
  settingsPassword: { load: () => import('./settings/PasswordPage.svelte') },
  settingsDevices: { load: () => import('./settings/DevicesPage.svelte') },
  settingsNotifications: { load: () => import('./inbox/PreferencesPage.svelte') },
  settingsData: { load: () => import('./settings/DataPage.svelte') },
  account: { load: () => import('./accounts/AccountPage.svelte') },
  signIn: { load: () => import('./accounts/SignInPage.svelte') },
  signUp: { load: () => import('./accounts/SignUpPage.svelte') },
  chooseTeam: { load: () => import('./teams/ChooseTeamPage.svelte') },
};
