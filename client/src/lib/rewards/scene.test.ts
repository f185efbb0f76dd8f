import { expect, test } from 'vitest';
import { FakeBrowser } from '../live/testing';
import { currentScene } from './scene';

test('of several tabs one claims everything that was earned together', async () => {
  const { locks } = new FakeBrowser().surroundings();
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
