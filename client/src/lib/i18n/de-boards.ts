import { count } from './count';
import type { enBoards } from './en-boards';

export const deBoards: typeof enBoards = {
  table: {
    title: 'Tabelle',
    boards: 'Tabellen',
    allFans: 'Alle Fans',
    place: 'Platz',
    fan: 'Fan',
    points: 'Punkte',
    rank: 'Dein Platz',
    of: (shown) => `von ${shown}`,
    toNext: (points) => `${points} bis zum nächsten Platz`,
    leader: 'Vor dir ist keiner',
    notListed: 'Du stehst noch nicht in dieser Tabelle',
    notListedText: 'Punkte bringen dich hinein. Mit Beitritt stehst du sofort darin.',
    join: 'Der Tabelle beitreten',
    joined: 'Du stehst in der Tabelle.',
    emptyTitle: 'Noch keine Punkte',
    emptyText: 'Die Saison hat gerade begonnen. Der erste Punkt führt.',
    emptyAction: 'Zur Kabine',
    failedTitle: 'Die Tabelle wurde nicht geladen',
    more: 'Weitere Plätze zeigen',
    total: count('Fan', 'Fans'),
    season: 'Saison',
    earlier: 'Frühere Plätze zeigen',
    toTop: 'An die Spitze',
    toOwn: 'Zu meinem Platz',
    history: 'Woher die Punkte kommen',
    showOwn: (rank) => `Dein Platz ist ${rank}. Die Plätze darum zeigen.`,
    signIn: 'Anmelden und deinen Platz sehen',
  },
};
