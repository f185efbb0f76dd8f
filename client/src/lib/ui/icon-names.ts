/** The drawings in `icons.svg`. */
export const ICONS = [
  'room',
  'table',
  'account',
  'send',
  'back',
  'more',
  'close',
  'check',
  'chevron',
  'down',
  'refresh',
  'react',
  'delete',
  'alert',
  'offline',
  'like',
  'love',
  'fire',
  'clap',
  'laugh',
  'sad',
  'search',
  'show',
  'club',
] as const;

export type IconName = (typeof ICONS)[number];
