import { deBoards } from './de-boards';
import { dePlay } from './de-play';
import { deSettings } from './de-settings';
import type { More } from './en-more';

/** What another app shares. */
const share: More['share'] = {
  title: 'Teilen',
  signInText: 'Dann steht in deinem Entwurf, was du teilst.',
  kept: 'Was du geteilt hast, steht in deinem Entwurf.',
};

export const deMore: More = { ...deBoards, ...dePlay, ...deSettings, share };
export default deMore;
