import type { Api } from '$lib/api/client';
import { failureOf } from '$lib/api/errors';
import type { TickingClock } from '$lib/clock.svelte';
import type { Texts } from '$lib/i18n/texts.svelte';
import { browser, followVisibility } from '$lib/live/browser';
import { Live, setLive } from '$lib/live/live';
import { Updates, setUpdates } from '$lib/offline/updates.svelte';
import { DatabaseKeeping, exclusive } from '$lib/outbox/database';
import { Outbox, setOutbox } from '$lib/outbox/outbox.svelte';
import { Persisted } from '$lib/persisted.svelte';
import type { Session } from '$lib/session.svelte';
import type { Announcer } from '$lib/ui/announcer.svelte';
import type { Room } from './routes/room/room.svelte';

interface Parts {
  api: Api;
  announcer: Announcer;
  clock: TickingClock;
  room: Room;
  session: Session;
  texts: Texts;
}

/** Gives a fan what was put into the cart before the sign-in. What fails is done with the next page of the shop. */
async function takeCart(parts: Pick<Parts, 'api' | 'announcer' | 'texts'>): Promise<void> {
  if (new Persisted('cart').value === null) return;
  try {
    const { mergeGuestCart } = await import('./routes/shop/merging');
    await mergeGuestCart(parts);
  } catch (error) {
    // A script that could not be loaded is a `TypeError`.
    if (!(error instanceof TypeError)) failureOf(error);
  }
}

/**
 * Keeps the client up to date and what was written safe: the stream, the outbox and new versions. Runs while a component is
 * made; returns what names the account that reads.
 */
export function keepAlive({
  api,
  announcer,
  clock,
  room,
  session,
  texts,
}: Parts): (account: string | null) => void {
  const refused = async (): Promise<void> => {
    if (session.fan) await session.load();
  };
  const live = setLive(new Live(browser, refused));
  const outbox = setOutbox(new Outbox(api, clock, new DatabaseKeeping(), exclusive));
  const updates = setUpdates(new Updates());
  outbox.onarrived((sent) => {
    if (sent.kind === 'post') room.add(sent.post);
    announcer.toast(texts.t.outbox.arrived);
  });
  $effect(() => followVisibility(live));
  $effect(() => outbox.follow());
  $effect(() => {
    const again = (): void => {
      if (session.state.kind === 'failed') void session.load();
    };
    addEventListener('online', again);
    return () => removeEventListener('online', again);
  });
  $effect(() => {
    // Absent where the page came without encryption. While developing, files change all the time.
    if (import.meta.env.PROD && 'serviceWorker' in navigator) return updates.start(navigator.serviceWorker);
    return undefined;
  });
  return (account) => {
    live.use(account ?? 'guest');
    void outbox.use(account);
    if (account !== null) void takeCart({ api, announcer, texts });
  };
}
