import { deBoards } from './de-boards';
import { dePlay } from './de-play';
import { deSettings } from './de-settings';
import type { More } from './en-more';

export const deMore: More = { ...deBoards, ...dePlay, ...deSettings };
