import type { RouteTable } from '$lib/router/router.svelte';
import { href } from '$lib/router/match';

/** Every page, loaded when it is first shown. */
export const table: RouteTable = {
  home: { load: () => import('./room/RoomPage.svelte'), redirect: () => href('room', {}) },
  room: { load: () => import('./room/RoomPage.svelte') },
  post: { load: () => import('./room/PostPage.svelte') },
  table: { load: () => import('./boards/TablePage.svelte') },
  account: { load: () => import('./accounts/AccountPage.svelte') },
  signIn: { load: () => import('./accounts/SignInPage.svelte') },
  signUp: { load: () => import('./accounts/SignUpPage.svelte') },
  chooseTeam: { load: () => import('./teams/ChooseTeamPage.svelte') },
};
