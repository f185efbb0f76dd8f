import { enBoards } from './en-boards';
import { enPlay } from './en-play';
import { enSettings } from './en-settings';

/** What another app shares. */
const share = {
  title: 'Share',
  signInText: 'Then what you share is in your draft.',
  kept: 'What you shared is in your draft.',
};

export const enMore = { ...enBoards, ...enPlay, ...enSettings, share };

/** The texts of one language for the tables, for what fans earn and own, and for their settings. */
export type More = typeof enMore;
export default enMore;
