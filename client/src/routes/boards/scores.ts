import type { LeaderboardEntry, LeaderboardPage } from '$lib/api/types';

/** The points and the rank of a fan; null where the table no longer lists the fan, or a block hides who it is. */
export interface Score {
  userId: string | null;
  points: number | null;
  rank: number | null;
}

interface Known {
  page: LeaderboardPage;
  /** Whether the rows say everything; else the table is to be read again. */
  isKnown: boolean;
}

/** The table after changes of scores, as far as the rows that are shown tell it. */
export function afterScores(page: LeaderboardPage, scores: readonly Score[], fanId: string | null): Known {
  let { entries } = page;
  let isKnown = true;
  for (const { userId, points } of scores) {
    const entry = userId === null ? undefined : entries.find(({ user }) => user?.id === userId);
    if (entry && points !== null) entries = moved(entries, { ...entry, points });
    // Someone whose name was not read comes in, leaves, or is hidden.
    else if (entry || userId === null || points === null || isAmong(page, points)) isKnown = false;
  }
  const own = scores.findLast(({ userId }) => userId !== null && userId === fanId);
  const row = entries.find(({ user }) => user !== null && user.id === fanId);
  const known = row ?? (own && own.points !== null && own.rank !== null ? own : null);
  if (!page.me) return { page: { ...page, entries }, isKnown: isKnown && !own };
  const { points, rank } = { points: known?.points ?? page.me.points, rank: known?.rank ?? page.me.rank };
  const ahead = entries.findLast((entry) => entry.points > points);
  // The row before the own one is shown if the own one is, or would be next.
  const isClose = row !== undefined || page.nextCursor === null;
  const toNext = isClose ? (ahead ? ahead.points - points : null) : page.me.toNext;
  const me = { ...page.me, points, rank, toNext };
  return { page: { ...page, entries, me }, isKnown: isKnown && (isClose || !own) };
}

function isAmong(page: LeaderboardPage, points: number): boolean {
  return page.nextCursor === null || points >= (page.entries.at(-1)?.points ?? 0);
}

/** The rows with one at its new place: among equals, who reached the points first stands first. */
function moved(entries: readonly LeaderboardEntry[], row: LeaderboardEntry): LeaderboardEntry[] {
  const before = entries.find(({ user }) => user?.id === row.user?.id);
  if (before?.points === row.points) return [...entries];
  const others = entries.filter((entry) => entry !== before);
  const place = others.findIndex(({ points }) => points < row.points);
  const all = place < 0 ? [...others, row] : [...others.slice(0, place), row, ...others.slice(place)];
  return ranked(all, Math.min(...entries.map(({ rank }) => rank)));
}

/** Gives each row the rank that its points have: fans with equal points share one. */
function ranked(entries: readonly LeaderboardEntry[], first: number): LeaderboardEntry[] {
  let rank = first;
  return entries.map((entry, place) => {
    if (entry.points !== entries[place - 1]?.points) rank = first + place;
    return { ...entry, rank };
  });
}

/** The table as it was read again, with the rows that were shown below it. */
export function renewedTable(shown: LeaderboardPage, read: LeaderboardPage): LeaderboardPage {
  if (shown.entries.length <= read.entries.length || read.nextCursor === null) return read;
  const last = read.entries.at(-1)?.rank ?? 0;
  const isRead = new Set(read.entries.map(({ user }) => user?.id));
  const below = shown.entries.filter(({ rank, user }) => rank >= last && !(user && isRead.has(user.id)));
  return { ...read, entries: [...read.entries, ...below], nextCursor: shown.nextCursor };
}
