import { matchPath } from '$lib/router/match';

/** The path, if it is one of the client's pages: a link to the sign-in page may name any address. */
export function ownPath(text: string | null): string | null {
  if (text === null || !text.startsWith('/') || text.startsWith('//')) return null;
  const [path = ''] = text.split('?');
  return matchPath(path) ? text : null;
}
