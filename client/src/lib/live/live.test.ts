import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EventLog } from './log';
import { FakeBrowser, FakeTab, gone } from './testing';

let browser: FakeBrowser;

beforeEach(() => {
  vi.useFakeTimers();
  browser = new FakeBrowser();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Lets messages arrive and wants be collected. */
const settle = (ms = 100): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

function only(): (typeof browser.sources)[number] {
  const [source, ...others] = browser.open;
  if (!source || others.length > 0) throw new Error(`${String(browser.open.length)} streams are open`);
  return source;
}

test('the newest events are kept, complete after a position', () => {
  const log = new EventLog(10, 3);
  log.add(gone('a'), null);
  log.add(gone('b'), 12);
  log.add(gone('c'), 15);
  expect(log.after(10)).toHaveLength(3);
  expect(log.after(12)).toEqual([gone('c')]);
  log.add(gone('d'), null);
  expect(log.after(15)).toEqual([gone('d')]);
  log.add(gone('e'), 16);
  expect([log.from, log.position]).toEqual([12, 16]);
});

test('nothing is opened before something is shown', async () => {
  new FakeTab(browser);
  await settle();
  expect(browser.sources).toEqual([]);
});

test('tabs share one stream, which begins at the least of their positions', async () => {
  const tabs = [new FakeTab(browser), new FakeTab(browser), new FakeTab(browser)];
  tabs.forEach((tab, place) => tab.live.join(tab, 7 - place));
  await settle();
  expect(only().since).toBe('5');
  only().emit(gone('a'), '9');
  await settle();
  expect(tabs.map(({ told }) => told)).toEqual([['a'], ['a'], ['a']]);
  expect(tabs.map(({ live }) => live.position)).toEqual([9, 9, 9]);
});

test('other channels need another stream, which begins where the first was', async () => {
  const [first, second] = [new FakeTab(browser), new FakeTab(browser)];
  first.live.join(first, 5);
  await settle();
  only().emit(gone('a'), '8');
  second.channels = ['board'];
  second.live.join(second, 20);
  await settle();
  expect(only().channels).toEqual(['board', 'room']);
  expect(only().since).toBe('8');
});

test('a view that follows more when it is read again opens another stream', async () => {
  const tab = new FakeTab(browser);
  tab.live.join(tab, 5);
  await settle();
  tab.channels = ['room', 'room:following'];
  tab.live.join(tab, 6);
  await settle();
  expect(only().channels).toEqual(['room', 'room:following']);
});

test('the next tab takes over from its position when the leader is hidden', async () => {
  const [first, second] = [new FakeTab(browser), new FakeTab(browser)];
  first.live.join(first, 5);
  second.live.join(second, 5);
  await settle();
  only().emit(gone('a'), '6');
  await settle();
  first.live.hide();
  await settle();
  expect(only().since).toBe('6');
  only().emit(gone('b'), '7');
  await settle();
  expect(first.told).toEqual(['a']);
  expect(second.told).toEqual(['a', 'b']);
});

test('a tab that comes back asks the leader for what it missed', async () => {
  const [first, second] = [new FakeTab(browser), new FakeTab(browser)];
  first.live.join(first, 5);
  second.live.join(second, 5);
  await settle();
  second.live.hide();
  for (const [id, name] of [
    ['6', 'a'],
    ['7', 'b'],
  ] as const)
    only().emit(gone(name), id);
  second.live.show();
  await settle();
  expect(second.told).toEqual(['a', 'b']);
  expect(browser.sources).toHaveLength(1);
});

test('a tab that was opened in the background takes no part until it is seen', async () => {
  browser.isVisible = false;
  const tab = new FakeTab(browser);
  tab.live.join(tab, 5);
  await settle();
  expect(browser.sources).toEqual([]);
  browser.isVisible = true;
  tab.live.show();
  await settle();
  expect(only().since).toBe('5');
});

test('a tab that was hidden for long reads again', async () => {
  const tab = new FakeTab(browser);
  tab.live.join(tab, 5);
  await settle();
  tab.live.hide();
  browser.now += 10 * 60_000;
  tab.live.show();
  expect(tab.told).toEqual(['resync']);
  await settle();
  expect(browser.open).toEqual([]);
  tab.live.join(tab, 90);
  await settle();
  expect(only().since).toBe('90');
});

test('a page that was read before an event arrived is told of it again', async () => {
  const tab = new FakeTab(browser);
  tab.live.join(tab, 5);
  await settle();
  only().emit(gone('a'), '6');
  only().emit(gone('b'), '7');
  tab.live.join(tab, 6);
  await settle();
  expect(tab.told).toEqual(['a', 'b', 'b']);
  tab.live.join(tab, 8);
  await settle();
  expect(tab.told).toHaveLength(3);
  expect(browser.sources).toHaveLength(1);
});

test('what comes before the answer is in the answer', async () => {
  const [first, second] = [new FakeTab(browser), new FakeTab(browser)];
  first.live.join(first, 5);
  await settle();
  second.live.join(second, 5);
  only().emit(gone('a'), '6');
  await settle();
  expect(second.told).toEqual(['a']);
});

test('a position before what is kept opens the stream there', async () => {
  const [first, second] = [new FakeTab(browser), new FakeTab(browser)];
  first.live.join(first, 50);
  await settle();
  second.live.join(second, 40);
  await settle();
  expect(only().since).toBe('40');
});

test('every tab reads again after a resync, and the stream continues there', async () => {
  const [first, second] = [new FakeTab(browser), new FakeTab(browser)];
  first.live.join(first, 5);
  second.live.join(second, 5);
  await settle();
  only().emit({ name: 'resync', data: { channels: ['room'] } }, '900');
  await settle();
  expect([first.told, second.told]).toEqual([['resync'], ['resync']]);
  second.live.join(second, 901);
  await settle();
  expect(second.live.position).toBe(900);
  first.live.hide();
  await settle();
  expect(only().since).toBe('900');
});

test('a refused stream is opened again after a pause, from the newest position', async () => {
  const tab = new FakeTab(browser);
  tab.live.join(tab, 5);
  await settle();
  only().emit(gone('a'), '6');
  only().refuse();
  await settle(4_000);
  expect(tab.refusals).toBe(1);
  expect(browser.open).toEqual([]);
  await settle(6_000);
  expect(only().since).toBe('6');
  only().refuse();
  await settle();
  tab.live.retry();
  expect(only().since).toBe('6');
  expect(tab.told).toEqual(['a', 'resync']);
});

test('a stream that breaks is left to the browser', async () => {
  const tab = new FakeTab(browser);
  tab.live.join(tab, 5);
  await settle();
  only().breakOff();
  await settle(20_000);
  expect(browser.sources).toHaveLength(1);
  expect(tab.refusals).toBe(0);
});

test('accounts do not hear each other, and another account begins anew', async () => {
  const [ada, bob] = [new FakeTab(browser, 'ada'), new FakeTab(browser, 'bob')];
  ada.live.join(ada, 5);
  bob.live.join(bob, 5);
  await settle();
  expect(browser.open).toHaveLength(2);
  ada.live.use('bob');
  await settle();
  only().emit(gone('a'), '6');
  await settle();
  expect(ada.told).toEqual([]);
  ada.live.join(ada, 6);
  only().emit(gone('b'), '7');
  await settle();
  expect([ada.told, bob.told]).toEqual([['b'], ['a', 'b']]);
});

test('without locks each tab has its own stream', async () => {
  const tab = new FakeTab(browser, 'ada', { ...browser.surroundings(), locks: undefined });
  tab.live.join(tab, 5);
  await settle();
  tab.live.hide();
  tab.live.show();
  await settle();
  expect(only().since).toBe('5');
});

test('a message that is no event of the contract is passed over', async () => {
  const tab = new FakeTab(browser);
  tab.live.join(tab, 5);
  await settle();
  for (const text of ['null', '7', '{}', '{"channels":"room"}']) only().emitText('post.deleted', text, '6');
  expect([tab.told, tab.live.position]).toEqual([[], 5]);
  only().emit(gone('a'), '7');
  expect([tab.told, tab.live.position]).toEqual([['a'], 7]);
});

test('a view that left is not told', async () => {
  const tab = new FakeTab(browser);
  tab.live.join(tab, 5);
  await settle();
  tab.live.part(tab);
  only().emit(gone('a'), '6');
  expect(tab.told).toEqual([]);
});
