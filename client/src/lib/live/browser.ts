import type { Live, Surroundings } from './live';

export type Locks = NonNullable<Surroundings['locks']>;

/** Missing where the page came without encryption. */
const { locks }: { locks?: LockManager } = navigator;

export const browser: Surroundings = {
  stream: (address) => new EventSource(address),
  line: (name) => new BroadcastChannel(name),
  locks,
  isVisible: () => document.visibilityState === 'visible',
  now: () => Date.now(),
};

/** Tells `live` when the page is seen and when it is left. Returns what ends that. */
export function followVisibility(live: Live): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const look = (): void => {
    if (browser.isVisible()) live.show();
    else live.hide();
  };
  document.addEventListener('visibilitychange', look, { signal });
  addEventListener('pageshow', look, { signal });
  // Not every browser says of a page that is left that it is hidden.
  addEventListener('pagehide', () => live.hide(), { signal });
  addEventListener('online', () => live.retry(), { signal });
  return () => {
    stop.abort();
    live.hide();
  };
}
