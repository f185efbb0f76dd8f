import { count } from './count';

/** The tables. */
export const enBoards = {
  table: {
    title: 'Table',
    boards: 'Boards',
    allFans: 'All fans',
    place: 'Place',
    fan: 'Fan',
    points: 'Points',
    rank: 'Your rank',
    of: (shown: string) => `of ${shown}`,
    toNext: (points: string) => `${points} to the next place`,
    leader: 'No one is ahead of you',
    notListed: 'You are not on this table yet',
    notListedText: 'Points put you on it. Joining lists you at once.',
    join: 'Join the table',
    joined: 'You are on the table.',
    emptyTitle: 'No points yet',
    emptyText: 'The season has just begun. The first point leads.',
    emptyAction: 'To the locker room',
    failedTitle: 'The table didn’t load',
    more: 'Show more places',
    total: count('fan', 'fans'),
    season: 'Season',
    earlier: 'Show earlier places',
    toTop: 'To the top',
    toOwn: 'To my place',
    history: 'How the points came',
    showOwn: (rank: string) => `Your place is ${rank}. Show the places around it.`,
    signIn: 'Sign in to see your rank',
  },
};
