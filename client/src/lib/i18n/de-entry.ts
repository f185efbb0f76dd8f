import { count } from './count';
import type { Entry } from './en-entry';

export const deEntry: Entry = {
  session: {
    signInTitle: 'Zurück in der Kurve',
    signInText: 'Melde dich an, um zu schreiben, zu reagieren und Punkte zu sammeln.',
    signUpTitle: 'Komm in die Kurve',
    signUpText: 'Ein Name und ein Passwort, mehr nicht. Dann wählst du deinen Verein.',
    username: 'Name',
    usernameHint: 'Buchstaben, Ziffern, Punkt, Strich. So finden dich andere.',
    password: 'Passwort',
    displayName: 'Was andere lesen (freiwillig)',
    submitSignIn: 'Anmelden',
    submitSignUp: 'Konto anlegen',
    noAccount: 'Neu hier?',
    hasAccount: 'Schon dabei?',
    signedIn: (name) => `Angemeldet als ${name}.`,
  },
  team: {
    title: 'Wähle deinen Verein',
    text: 'Seine Farben werden deine. Du kannst das später ändern.',
    search: 'Verein suchen',
    none: 'Kein Verein mit diesem Namen',
    noneText: 'Prüfe die Schreibweise, oder nimm einen anderen Namen.',
    clear: 'Alle Vereine zeigen',
    skip: 'Nicht jetzt',
    chosen: (name) => `${name} ist jetzt dein Verein.`,
    fans: count('Fan', 'Fans'),
  },
};
export default deEntry;
