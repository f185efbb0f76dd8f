import type { User } from '$lib/api/types';

/** What can be done with a post or a comment. */
export interface ItemActions {
  kind: 'post' | 'comment';
  item: { author: User; body: string; createdAt: string };
  onedit: (body: string) => Promise<void>;
  onreport: (reason: string) => Promise<void>;
  ondelete: () => Promise<void>;
}
