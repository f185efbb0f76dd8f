import { expect, test } from 'vitest';
import { MOST_BYTES, problemOf } from './picture.svelte';

const file = (type: string, bytes = 1): File => new File([new Uint8Array(bytes)], 'goal', { type });

test.each([
  ['fits', file('image/png'), { width: 10_000, height: 2_500 }, null],
  ['is of another kind', file('image/gif'), { width: 1, height: 1 }, 'type'],
  ['has too many bytes', file('image/jpeg', MOST_BYTES + 1), { width: 1, height: 1 }, 'size'],
  ['is too wide', file('image/webp'), { width: 10_001, height: 1 }, 'pixels'],
  ['has too many pixels', file('image/png'), { width: 5_001, height: 5_000 }, 'pixels'],
  ['cannot be read', file('image/png'), null, 'broken'],
] as const)('a picture that %s', async (_, picture, size, expected) => {
  expect(await problemOf(picture, () => Promise.resolve(size))).toBe(expected);
});
