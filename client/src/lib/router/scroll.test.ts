import { expect, test, vi } from 'vitest';
import { ScrollPositions } from './scroll';

test.each([
  ['a place at an anchor', { y: 900, anchor: { name: 'post-7', offset: -12.5 } }],
  ['a place without an anchor', { y: 0, anchor: null }],
])('%s is read as it was kept', (_, place) => {
  vi.stubGlobal('sessionStorage', { getItem: () => JSON.stringify(place) });
  expect(new ScrollPositions().read('key')).toEqual(place);
});

test.each([
  'no JSON',
  'null',
  '900',
  '{"y":900}',
  '{"y":"900","anchor":null}',
  '{"y":900,"anchor":"post-7"}',
  '{"y":900,"anchor":{"name":"post-7"}}',
  '{"y":900,"anchor":{"name":7,"offset":1}}',
])('%s is no place', (text) => {
  vi.stubGlobal('sessionStorage', { getItem: () => text });
  expect(new ScrollPositions().read('key')).toBeNull();
});
