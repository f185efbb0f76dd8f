import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deferred, FakeApi } from '../api/testing';
import { enMore } from '../i18n/en-more';
import { enPages } from '../i18n/en-pages';
import { Texts } from '../i18n/texts.svelte';
import type { LiveEvent } from '../live/events';
import { Live } from '../live/live';
import { OwnEvents } from '../live/own';
import { FakeBrowser } from '../live/testing';
import { Session } from '../session.svelte';
import { Announcer } from '../ui/announcer.svelte';
import { Celebration } from './celebration.svelte';
import type { Reward } from './reward';
// Loaded with the first moment otherwise, which takes real time.
import './moment-of';

const AT = '2026-11-20T12:00:00.000Z';
const step: Reward = { kind: 'step', id: 's1', at: AT, title: 'Follow another fan', points: 20 };

/** A service on which the fan stands at a place, and tabs that share its stream. */
class Stage {
  place = 15;
  points = 100;
  isThere = true;
  readonly browser = new FakeBrowser();
  readonly #claimed = new Set<string>();
  readonly fake = new FakeApi()
    .on('GET /api/user', () => ({ body: { id: 'ada', balances: { points: this.points } } }))
    .on('POST /api/login', () => ({ body: {} }))
    .on('GET /api/leaderboard', () =>
      this.isThere
        ? {
            body: {
              season: { id: 'season' },
              streamPosition: 7,
              me: { rank: this.place, points: this.points },
            },
          }
        : { status: 0 },
    );

  /** Opens a tab, which follows the fan's events from now on. */
  async open({ hasFocus = true, isOccupied = false, since = null as number | null } = {}): Promise<Tab> {
    const session = new Session(this.fake.api);
    await session.signIn('ada', 'secret');
    const tab = new Tab(session, this, { hasFocus, isOccupied, since });
    await settle();
    return tab;
  }

  claim(name: string): boolean {
    const isFirst = !this.#claimed.has(name);
    this.#claimed.add(name);
    return isFirst;
  }

  send(event: LiveEvent, id = '8'): void {
    const [source] = this.browser.open;
    if (!source) throw new Error('no stream is open');
    source.emit(event, id);
  }
}

class Tab {
  readonly own = new OwnEvents();
  readonly announcer = new Announcer();
  readonly celebration: Celebration;
  readonly session: Session;
  readonly stop: () => void;

  constructor(
    session: Session,
    stage: Stage,
    { hasFocus, isOccupied, since }: { hasFocus: boolean; isOccupied: boolean; since: number | null },
  ) {
    this.session = session;
    const live = new Live(stage.browser.surroundings(), () => Promise.resolve());
    live.use('ada');
    const claims = new Map<string, boolean>();
    const isOurs = (name: string): boolean => {
      const claimed = claims.get(name) ?? stage.claim(name);
      claims.set(name, claimed);
      return claimed;
    };
    const claim = (names: readonly string[]): Promise<string[]> => Promise.resolve(names.filter(isOurs));
    const scene = { claim, hasFocus: () => hasFocus, isOccupied: () => isOccupied };
    const { announcer, own } = this;
    const texts = new Texts({ pages: enPages, more: enMore });
    this.celebration = new Celebration(
      { api: stage.fake.api, announcer, live, own, session, texts, scene },
      'ada',
    );
    this.stop = this.celebration.start(since);
  }

  get title(): string | null {
    return this.celebration.moment?.title ?? null;
  }
}

const ME = { channels: ['me'] };
const done = (completedAt = AT, stepId = 's1'): LiveEvent => ({
  name: 'step.completed',
  data: { ...ME, questId: 'q1', questTitle: 'Welcome', stepId, title: step.title, points: 20, completedAt },
});
const awarded: LiveEvent = {
  name: 'points.awarded',
  data: {
    ...ME,
    id: 'p1',
    amount: 20,
    reason: 'A step',
    source: 'quest_step',
    seasonId: 'season',
    leaderboardId: null,
    createdAt: AT,
  },
};

const settle = (ms = 100): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

let stage: Stage;

beforeEach(() => {
  vi.useFakeTimers();
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
  stage = new Stage();
});

afterEach(() => {
  vi.useRealTimers();
});

test('the stream names what was earned: the moment is shown and announced, and the balances follow', async () => {
  const tab = await stage.open();
  expect(stage.browser.open.map(({ channels, since }) => [channels, since])).toEqual([[['me'], '7']]);
  stage.points = 120;
  stage.send(done());
  stage.send(awarded, '9');
  await settle(1_000);
  expect(tab.celebration.moment).toMatchObject({ title: 'Step done', amount: '+20' });
  expect(tab.announcer.polite).toContain('Step done. +20 points');
  expect(tab.session.fan?.balances.points).toBe(120);
  tab.celebration.close();
  expect(tab.title).toBe(null);
});

test('pages hear of what happens', async () => {
  const tab = await stage.open();
  const heard: string[] = [];
  tab.own.on(({ name }) => heard.push(name));
  stage.send(done());
  await settle();
  expect(heard).toEqual(['step.completed']);
});

test('how much is unread comes with the event, and nothing is read for it', async () => {
  const tab = await stage.open();
  const asked = stage.fake.requests.length;
  stage.send({ name: 'notification.read', data: { ...ME, upTo: 7, ids: [], unread: 3 } });
  await settle(2_000);
  expect(tab.session.fan?.unreadNotifications).toBe(3);
  expect(stage.fake.requests).toHaveLength(asked);
});

test.each(['the answer', 'the event'])('what %s says first is shown once', async (first) => {
  const tab = await stage.open();
  const answer = (): void => tab.own.publish({ name: 'earned', rewards: [step] });
  if (first === 'the answer') answer();
  stage.send(done());
  await settle(1_000);
  if (first === 'the event') answer();
  await settle(1_000);
  expect(tab.celebration.moment?.amount).toBe('+20');
  tab.celebration.close();
  await settle(1_000);
  expect(tab.title).toBe(null);
});

test('of several tabs the one that is used shows the moment, also if it did what earned it', async () => {
  const tabs = [
    await stage.open({ hasFocus: false }),
    await stage.open(),
    await stage.open({ hasFocus: false }),
  ];
  stage.send(done());
  await settle(2_000);
  expect(tabs.map(({ title }) => title)).toEqual([null, 'Step done', null]);
  stage.send(done(AT, 's2'), '9');
  await settle(30);
  tabs[0]?.own.publish({ name: 'earned', rewards: [{ ...step, id: 's2' }] });
  tabs[1]?.celebration.close();
  await settle(2_000);
  expect(tabs.map(({ title }) => title)).toEqual(['Step done', null, null]);
});

test('a fan who writes is not interrupted', async () => {
  const tab = await stage.open({ isOccupied: true });
  stage.send(done());
  await settle(1_000);
  expect(tab.title).toBe(null);
  expect(tab.announcer.toasts.map(({ text }) => text)).toEqual(['Step done. +20 points. Follow another fan']);
});

test('a better place is a moment, a worse one is not', async () => {
  const tab = await stage.open();
  stage.place = 18;
  stage.send(awarded);
  await settle(1_000);
  expect(tab.title).toBe(null);
  stage.place = 12;
  stage.points = 130;
  stage.send(awarded, '9');
  await settle(1_000);
  expect(tab.celebration.moment).toMatchObject({ title: 'Up the table', amount: '12' });
});

test('a place that comes late is added to the moment', async () => {
  const tab = await stage.open();
  stage.place = 12;
  const later = new Deferred<undefined>();
  const body = { season: { id: 'season' }, streamPosition: 9, me: { rank: 12, points: 120 } };
  stage.fake.on('GET /api/leaderboard', () => later.promise.then(() => ({ body })));
  stage.send(done());
  await settle(1_500);
  expect(tab.celebration.moment?.lines).toEqual([step.title]);
  later.resolve(undefined);
  await settle();
  expect(tab.celebration.moment?.lines).toEqual([step.title, 'Up the table to place 12']);
});

test('a stream that begins earlier repeats no moment', async () => {
  const first = await stage.open();
  stage.send(done());
  await settle(1_000);
  first.stop();
  const second = await stage.open();
  stage.send(done(), '9');
  await settle(1_000);
  expect(second.title).toBe(null);
  stage.send(done('2026-11-20T12:00:01.000Z', 's2'), '10');
  await settle(1_000);
  expect(second.title).toBe('Step done');
});

test('the stream begins where it was before the page was there', async () => {
  const tab = await stage.open({ since: 5 });
  expect(stage.browser.open.map(({ since }) => since)).toEqual(['5']);
  stage.send(done(), '6');
  await settle(1_000);
  expect(tab.title).toBe('Step done');
});

test('without a connection at the start the stream is joined later', async () => {
  stage.isThere = false;
  const tab = await stage.open();
  expect(stage.browser.open).toEqual([]);
  stage.isThere = true;
  await settle(20_000);
  stage.send(done());
  await settle(1_000);
  expect(tab.title).toBe('Step done');
});

test('after a gap pages read again, and the stream is joined anew', async () => {
  const tab = await stage.open();
  const heard: string[] = [];
  tab.own.on(({ name }) => heard.push(name));
  const before = stage.fake.requests.length;
  stage.send({ name: 'resync', data: ME }, '900');
  await settle();
  expect(heard).toEqual(['resync']);
  expect(
    stage.fake.requests
      .slice(before)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['GET /api/leaderboard', 'GET /api/user']);
});
