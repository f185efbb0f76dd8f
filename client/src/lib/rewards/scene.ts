import { browser, type Locks } from '../live/browser';
import type { Scene } from './celebration.svelte';

/** Holds a lock for as long as the tab is open; whether no other tab does. */
function hold(locks: Locks, name: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const keep = (lock: Lock | null): Promise<void> | undefined => {
      resolve(lock !== null);
      return lock ? new Promise(() => undefined) : undefined;
    };
    locks.request(`terrace:reward:${name}`, { ifAvailable: true }, keep).catch(reject);
  });
}

const OCCUPIED = 'input:focus, textarea:focus, select:focus, dialog[open], [data-occupied="true"]';

/** The tab as it is. */
export function currentScene(): Scene {
  const claims = new Map<string, Promise<boolean>>();
  return {
    claim: (name) => {
      const { locks } = browser;
      // Without locks each tab shows it.
      const claim = claims.get(name) ?? (locks ? hold(locks, name) : Promise.resolve(true));
      claims.set(name, claim);
      return claim;
    },
    hasFocus: () => document.hasFocus(),
    isOccupied: () => document.querySelector(OCCUPIED) !== null,
  };
}
