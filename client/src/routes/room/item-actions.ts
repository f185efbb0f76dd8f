import type { User } from '$lib/api/types';

/** What can be done with a post or a comment, and how it is called. */
export interface ItemActions {
  item: { author: User; body: string; createdAt: string };
  words: {
    menu: string;
    title: string;
    edit: string;
    delete: string;
    deleteTitle: string;
    deleteText: string;
  };
  onedit: (body: string) => Promise<void>;
  onreport: (reason: string) => Promise<void>;
  ondelete: () => Promise<void>;
}
