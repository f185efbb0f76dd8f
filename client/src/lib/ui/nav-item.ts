import type { IconName } from './icon-names';

/** An item of the main navigation. */
export interface NavItem {
  href: string;
  icon: IconName;
  label: string;
  longLabel: string;
  isCurrent: boolean;
  /** How much is new there. */
  count?: { shown: string; label: string };
}
