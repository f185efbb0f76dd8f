export const REASONS = ['spam', 'abuse', 'violence', 'privacy', 'other'] as const;

export type Reason = (typeof REASONS)[number];

/** What moderators read: the same word in every language, and the reporter's own words. */
export function reportText(reason: Reason, details: string): string {
  const words = details.trim();
  return words === '' ? reason : `${reason}: ${words}`;
}
