import type { Api } from '$lib/api/client';
import type { Texts } from '$lib/i18n/texts.svelte';
import type { Announcer } from '$lib/ui/announcer.svelte';
import { forgetGuestLines, guestLines } from './guest-cart';

interface Parts {
  api: Api;
  announcer: Announcer;
  texts: Texts;
}

/** Merges that run: the sign-in and the page that it leads to ask for the same one. */
const running = new WeakMap<Api, Promise<void>>();

/** Merges what this browser kept for a guest into the fan's cart. Merging twice equals merging once. */
export function mergeGuestCart(parts: Parts): Promise<void> {
  const before = running.get(parts.api);
  if (before) return before;
  const merge = mergeNow(parts).finally(() => running.delete(parts.api));
  running.set(parts.api, merge);
  return merge;
}

async function mergeNow({ api, announcer, texts }: Parts): Promise<void> {
  const lines = guestLines();
  if (lines.length === 0) return;
  const { skipped } = await api.call((client) => client.POST('/api/cart/merge', { body: { lines } }));
  forgetGuestLines(lines);
  if (skipped.length === 0) return;
  await texts.load('shop');
  announcer.toast(texts.shop.cart.skipped(skipped.length, texts.number(skipped.length)));
}
