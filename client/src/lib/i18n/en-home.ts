import { count } from './count';

/** The start page of a fan. */
const dashboard = {
  title: 'Home',
  failedTitle: 'Your start page didn’t load',
  signInText: 'Your rank, your streak and what is next are here.',
  account: (name: string) => `You: ${name}`,
  unread: (shown: string) => `Notifications, ${shown} new`,
  rank: 'Your rank',
  inTeam: (rank: string) => `Rank ${rank} among the fans of your club`,
  up: (shown: string) => `${shown} up since your last visit`,
  down: (shown: string) => `${shown} down since your last visit`,
  level: 'No change since your last visit',
  leader: 'No one is ahead of you',
  toNext: (points: string) => `${points} to the next place`,
  unranked: 'Not on the table yet',
  unrankedText: 'Points put you on it.',
  levelName: 'Level',
  levelLabel: (level: string, name: string) => `Level ${level}, ${name}`,
  levelProgress: (done: string, parts: string) => `${done} of ${parts} parts to the next level`,
  toLevel: (points: string, level: string) => `${points} to level ${level}`,
  top: 'The highest level',
  streak: (n: number, shown: string) =>
    n === 0 ? 'No streak yet' : n === 1 ? '1 day in a row' : `${shown} days in a row`,
  freezes: (n: number, shown: string) => (n === 1 ? '1 day may be missed' : `${shown} days may be missed`),
  day: {
    done: (day: string) => `Day ${day}: done`,
    today: (day: string) => `Day ${day}: today`,
    later: (day: string) => `Day ${day}: to come`,
  },
  milestone: (days: string, extra: string) => `At ${days} days: ${extra} more.`,
  paid: (amount: string) => `Today’s visit: ${amount}.`,
  visited: 'Today is collected.',
  visit: 'Collect today’s points',
  nextStep: (quest: string, done: string, total: string) => `Next step in ${quest}, ${done} of ${total} done`,
  start: (quest: string) => `Start ${quest}`,
  quest: (quest: string, done: string, total: string) => `${quest}, ${done} of ${total} steps`,
  closes: (time: string) => `Ends ${time}`,
  goOn: 'Go on',
  more: 'More quests',
  allQuests: 'All quests',
  waiting: 'Waiting for you',
  yours: 'Yours',
  notifications: (n: number, shown: string) =>
    n === 1 ? '1 new notification' : `${shown} new notifications`,
  freeSpin: 'A free spin is waiting',
  roundOpen: 'A round of trivia is open',
  roundStarts: (time: string) => `A round of trivia starts ${time}`,
  sealed: (n: number, shown: string) => (n === 1 ? '1 pack to open' : `${shown} packs to open`),
  usableRewards: (n: number, shown: string) => (n === 1 ? '1 reward to use' : `${shown} rewards to use`),
  album: (n: number, shown: string) => (n === 1 ? '1 card in your album' : `${shown} cards in your album`),
  pendingOrders: (n: number, shown: string) => (n === 1 ? '1 order to pay' : `${shown} orders to pay`),
  paidOrders: (n: number, shown: string) => (n === 1 ? '1 order on its way' : `${shown} orders on their way`),
  achievements: (shown: string, total: string) => `${shown} of ${total} achievements`,
  latest: (title: string) => `Latest: ${title}`,
  trends: 'What the room talks about',
  allTrends: 'All trends',
  emptyTitle: 'Nothing waits for you',
  emptyText: 'What you earn, own and follow appears here. The room is open.',
  emptyAction: 'To the locker room',
};

/** The kinds of notifications, and what a fan chooses of each. */
const kinds = {
  follow: 'New followers',
  comment: 'Comments on your posts',
  reply: 'Answers to your comments',
  mention: 'Mentions of you',
  reaction: 'Reactions to your posts',
  quest_completed: 'Completed quests',
  achievement: 'Achievements',
  level: 'New levels',
  reward: 'Rewards',
  order: 'Orders',
  purchase: 'Purchases of packs',
  trivia_soon: 'Trivia rounds that begin soon',
  streak_at_risk: 'A streak that ends today',
  rank_lost: 'A place in the first hundred lost',
  season: 'Seasons',
  moderation: 'Decisions on what you wrote',
};

/** What a sentence of the inbox is made of. */
export interface Told {
  /** The fans who caused it, and how many they are. */
  who: string;
  n: number;
  /** Whether it is about a comment, and not about a post. */
  isComment: boolean;
  /** The title of what it is about, or the beginning of its text; empty where it has none. */
  title: string;
  /** The sentence of the service, which is English. */
  text: string;
}

type Says = Record<keyof typeof kinds, (told: Told) => string>;

/** What notifications say. */
const says: Says = {
  follow: ({ who }) => `${who} followed you`,
  comment: ({ who }) => `${who} commented on your post`,
  reply: ({ who }) => `${who} answered your comment`,
  mention: ({ who, isComment }) => `${who} mentioned you in a ${isComment ? 'comment' : 'post'}`,
  reaction: ({ who, isComment }) => `${who} ${isComment ? 'liked your comment' : 'reacted to your post'}`,
  quest_completed: ({ text }) => text,
  achievement: ({ text }) => text,
  level: ({ text }) => text,
  reward: ({ text }) => text,
  order: ({ text }) => text,
  purchase: ({ text }) => text,
  trivia_soon: ({ text }) => text,
  streak_at_risk: ({ text }) => text,
  rank_lost: ({ text }) => text,
  season: ({ text }) => text,
  moderation: ({ text }) => text,
};

const inbox = {
  title: 'Inbox',
  failedTitle: 'Your notifications didn’t load',
  signInText: 'Who answered, followed or reacted, and what you earned, is here.',
  back: 'Back to the start page',
  preferences: 'Choose what comes',
  readAll: 'Mark all as read',
  allRead: 'All is marked as read.',
  read: (text: string) => `Mark as read: ${text}`,
  isNew: 'New:',
  more: 'Show older ones',
  end: 'That is all. What is older than 90 days is removed.',
  emptyTitle: 'Nothing new',
  emptyText: 'Answers, followers, rewards and orders appear here. Say something to the room.',
  emptyAction: 'To the locker room',
  someone: 'A fan',
  others: count('other fan', 'other fans'),
};

const preferences = {
  title: 'Notifications',
  text: 'What comes to your inbox, and what reaches you while no page is open.',
  failedTitle: 'Your choices didn’t load',
  inApp: 'In the inbox',
  push: 'As a message',
  always: 'Always in the inbox',
  notKept: 'That choice was not kept.',
  quiet: 'Quiet hours',
  quietText: (zone: string) => `No messages then, by the time of ${zone}. They come afterwards.`,
  from: 'From',
  to: 'To',
};

const push = {
  title: 'Messages on this device',
  offer: 'Hear of it when it happens',
  text: 'Answers, mentions, orders and a streak that is about to end reach you while no page is open. You choose which, and when it is quiet. Nothing else is sent.',
  turnOn: 'Turn messages on',
  turnOff: 'Turn messages off',
  later: 'Not now',
  on: 'This device gets messages.',
  turnedOn: 'This device gets messages now.',
  turnedOff: 'This device gets no messages any more.',
  denied: 'This browser forbids messages',
  deniedText:
    'You decided so before, or it is set for all pages. Allow notifications for this page in the settings of the browser, then come back.',
  unsupported: 'This browser takes no messages here',
  unsupportedText:
    'On an iPhone or iPad, add this page to the home screen and open it from there. The inbox works everywhere.',
  unavailable: 'This club sends no messages',
  unavailableText: 'What is new is in your inbox.',
  broken: 'The browser’s message service does not answer',
  brokenText: 'It may be blocked, or switched off in this browser. Try again later.',
};

export const enHome = { dashboard, inbox, kinds, says, preferences, push };

/** The texts of one language for the start page and notifications. */
export type Home = typeof enHome;
export default enHome;
