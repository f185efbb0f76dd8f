import { expect, test } from 'vitest';
import type { Locks } from '../live/browser';
import { currentScene } from './scene';

/** Locks as a browser keeps them: one holder at a time, and an answer that comes later. */
function fakeLocks(): Locks {
  const turns = new Map<string, Promise<unknown>>();
  const held = new Set<string>();
  const request = async (
    name: string,
    { ifAvailable = false }: LockOptions,
    hold: (lock: Lock | null) => Promise<unknown> | undefined,
  ): Promise<unknown> => {
    await Promise.resolve();
    if (ifAvailable) {
      if (held.has(name)) return hold(null);
      held.add(name);
      return hold({ name, mode: 'exclusive' });
    }
    const turn = (turns.get(name) ?? Promise.resolve()).then(() => hold({ name, mode: 'exclusive' }));
    turns.set(name, turn);
    return turn;
  };
  return { request } as unknown as Locks;
}

test('of several tabs one claims everything that was earned together', async () => {
  const locks = fakeLocks();
  const [one, other] = [currentScene(locks), currentScene(locks)];
  const names = ['step:s1', 'step:s2', 'quest:q1'];
  expect(await Promise.all([one.claim(names), other.claim([...names].reverse())])).toEqual([names, []]);
  expect(await one.claim(['step:s2', 'step:s3'])).toEqual(['step:s2', 'step:s3']);
  expect(await other.claim(['step:s3', 'step:s4'])).toEqual(['step:s4']);
});

test('without locks each tab claims everything', async () => {
  const scene = currentScene(undefined);
  expect(await scene.claim(['step:s1'])).toEqual(['step:s1']);
});
