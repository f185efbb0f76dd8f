import { expect, test } from 'vitest';
import { sourcesOf } from './picture-sources';

const image = (width: number, height: number, thumbnailUrl = '/media/small') => ({
  url: '/media/whole',
  thumbnailUrl,
  width,
  height,
  alt: null,
});

test('a wide picture has its thumbnail with the width that it has', () => {
  expect(sourcesOf(image(1280, 720))).toBe('/media/small 640w, /media/whole 1280w');
});

test('the longer side of a thumbnail is the height of a tall picture', () => {
  expect(sourcesOf(image(1000, 2000))).toBe('/media/small 320w, /media/whole 1000w');
});

test('a picture that is its own thumbnail has one file', () => {
  expect(sourcesOf(image(300, 200, '/media/whole'))).toBe('');
});
