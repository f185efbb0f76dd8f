import { expect, test } from 'vitest';
import { FAR, Pull } from './pull.svelte';

interface Step {
  to: [number, number] | 'two fingers';
  scrolled?: number;
}

const to = (x: number, y: number, scrolled = 0): Step => ({ to: [x, y], scrolled });

test.each<[string, number, Step[], boolean]>([
  ['far enough', 0, [to(0, 20), to(5, FAR)], true],
  ['too short', 0, [to(0, 20), to(0, FAR - 1)], false],
  ['taken back', 0, [to(0, FAR + 20), to(0, 10)], false],
  ['on a page that is scrolled', 1, [to(0, FAR)], false],
  ['on a page that is flung to its top meanwhile', 200, [to(0, 40, 100), to(0, FAR, 0)], false],
  ['while the page scrolls', 0, [to(0, 20), to(0, FAR, 5), to(0, FAR)], false],
  ['sideways', 0, [to(40, 10), to(40, FAR)], false],
  ['upwards first', 0, [to(0, -30), to(0, FAR)], false],
  ['with a second finger', 0, [to(0, 20), { to: 'two fingers' }, to(0, FAR)], false],
])('a pull %s', (_, scrolled, steps, expected) => {
  const pull = new Pull();
  pull.begin([{ x: 0, y: 0 }], scrolled);
  for (const { to: place, scrolled: now = 0 } of steps) {
    const points = place === 'two fingers' ? [[0, 50] as const, [60, 50] as const] : [place];
    pull.move(
      points.map(([x, y]) => ({ x, y })),
      now,
    );
  }
  expect(pull.end()).toBe(expected);
  expect(pull.distance).toBe(0);
});

test('two fingers pull nothing', () => {
  const pull = new Pull();
  pull.begin(
    [
      { x: 0, y: 0 },
      { x: 9, y: 0 },
    ],
    0,
  );
  pull.move([{ x: 0, y: FAR }], 0);
  expect(pull.end()).toBe(false);
});
