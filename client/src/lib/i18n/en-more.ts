import { enBoards } from './en-boards';
import { enPlay } from './en-play';
import { enSettings } from './en-settings';

export const enMore = { ...enBoards, ...enPlay, ...enSettings };

/** The texts of one language for the tables, for what fans earn and own, and for their settings. */
export type More = typeof enMore;
