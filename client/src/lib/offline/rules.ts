/** The lists and pages of which the last answer is kept, for reading without a connection. */
const KEPT = [
  '/api/user',
  '/api/dashboard',
  '/api/notifications',
  '/api/locker-room',
  '/api/locker-room/{id}',
  '/api/locker-room/{id}/comments',
  '/api/trends',
  '/api/leaderboards',
  '/api/leaderboard',
  '/api/seasons',
  '/api/teams',
  '/api/teams/{id}',
  '/api/users/by-name/{username}',
  '/api/users/{id}/posts',
  '/api/users/{id}/collectibles',
  '/api/quests',
  '/api/quests/{id}',
  '/api/quests/daily-visit',
  '/api/user/achievements',
  '/api/user/completed-quests',
  '/api/user/followers',
  '/api/user/collectibles',
  '/api/user/packs',
  '/api/user/points',
  '/api/user/purchases',
  '/api/user/blocks',
  '/api/user/recommended',
  '/api/user/following',
  '/api/rewards',
  '/api/rewards/{id}',
  '/api/user/rewards',
  '/api/user/rewards/{id}',
  '/api/wheel',
  '/api/wheel/{id}',
  '/api/user/spins',
  '/api/trivia',
  '/api/trivia/{id}',
  '/api/trivia/{id}/leaderboard',
  '/api/trivia/{id}/proof',
  '/api/user/rounds',
  '/api/wallets',
  '/api/wallets/{id}',
  '/api/cash-balance/statement',
  '/api/collectibles',
  '/api/packs',
  '/api/packs/{id}',
  '/api/categories',
  '/api/products',
  '/api/products/{id}',
  '/api/user/orders',
  '/api/user/orders/{id}',
];
/** They have a path like `{id}`, and are read as they happen. */
const STREAMS = /\/stream$/;

function matches(template: string, path: string): boolean {
  const [expected, given] = [template.split('/'), path.split('/')];
  return (
    expected.length === given.length &&
    expected.every((segment, place) =>
      segment.startsWith('{') ? given[place] !== '' : segment === given[place],
    )
  );
}

/** Whether the last answer to a request is kept: first pages only. */
export function isKeptList({ pathname, searchParams }: URL): boolean {
  if (searchParams.has('cursor') || STREAMS.test(pathname)) return false;
  return KEPT.some((template) => matches(template, pathname));
}

/** Whether a path is one of the client's pages, which are given as templates. */
export function isPage(pages: readonly string[], path: string): boolean {
  return pages.some((template) => matches(template, path));
}

/** Under which name a file of the client is kept. */
export function shellKey(path: string): string {
  return path === '/' ? '/index.html' : path;
}
