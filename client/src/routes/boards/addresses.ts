import { href } from '$lib/router/match';
import type { Router } from '$lib/router/router.svelte';

/** The address of the rows around the reader in the table that is shown. */
export function aroundOwn({ query }: Pick<Router, 'query'>): string {
  return href('table', {}, { board: query.get('board'), season: query.get('season'), around: 'me' });
}

/** The address of the first rows of the table that is shown. */
export function top({ query }: Pick<Router, 'query'>): string {
  return href('table', {}, { board: query.get('board'), season: query.get('season') });
}
