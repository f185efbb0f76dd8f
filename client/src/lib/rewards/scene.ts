import type { Locks } from '../live/browser';
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

/** The tab as it is. `locks` are those of its browser, if it has them. */
export function currentScene(locks: Locks | undefined): Scene {
  const claims = new Map<string, boolean>();
  return {
    claim: async (names) => {
      // Without locks each tab shows everything.
      if (!locks) return names;
      // One tab at a time: two that claim by turns would each show a part of what was earned together.
      await locks.request('terrace:rewards', {}, async () => {
        for (const name of names) claims.set(name, claims.get(name) ?? (await hold(locks, name)));
      });
      return names.filter((name) => claims.get(name));
    },
    hasFocus: () => document.hasFocus(),
    isOccupied: () => document.querySelector(OCCUPIED) !== null,
  };
}
