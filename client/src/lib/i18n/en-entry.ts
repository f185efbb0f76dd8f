import { count } from './count';

/** The texts of signing in and up, and of the choice of a club. */
export const enEntry = {
  session: {
    signInTitle: 'Back in the stand',
    signInText: 'Sign in to post, react and collect points.',
    signUpTitle: 'Join the terrace',
    signUpText: 'A name and a password, nothing else. Then choose your club.',
    username: 'Name',
    usernameHint: 'Letters, digits, dot, dash. Others find you under it.',
    password: 'Password',
    displayName: 'What others read (optional)',
    submitSignIn: 'Sign in',
    submitSignUp: 'Create account',
    noAccount: 'New here?',
    hasAccount: 'Already one of us?',
    signedIn: (name: string) => `Signed in as ${name}.`,
  },
  team: {
    title: 'Choose your club',
    text: 'Its colours become yours. You can change it later.',
    search: 'Find a club',
    none: 'No club by that name',
    noneText: 'Check the spelling, or take another name of it.',
    clear: 'Show all clubs',
    skip: 'Not now',
    chosen: (name: string) => `${name} is your club now.`,
    fans: count('fan', 'fans'),
  },
};

/** The texts of one language for them. */
export type Entry = typeof enEntry;
export default enEntry;
