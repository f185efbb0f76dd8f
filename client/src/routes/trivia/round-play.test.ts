import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeApi, problem } from '$lib/api/testing';
import type { RoundNow } from '$lib/api/types';
import { enPages } from '$lib/i18n/en-pages';
import { enTrivia as t } from '$lib/i18n/en-trivia';
import { Texts } from '$lib/i18n/texts.svelte';
import type { LiveEvent } from '$lib/live/events';
import { Live } from '$lib/live/live';
import { FakeBrowser } from '$lib/live/testing';
import { Announcer } from '$lib/ui/announcer.svelte';
import { RoundPlay } from './round-play.svelte';
import { START, aQuestion, aRound, aSoloRound, after, reads, standings, until } from './testing';

const ONE = 'GET /api/trivia/round-1';
const PLACES = 'GET /api/trivia/round-1/leaderboard';
const ANSWER = 'POST /api/trivia/round-1/answers';
const channels = ['trivia:round-1'];
const kept = { 'terrace-read-at': '2026-11-22T08:00:00.000Z' };

let fake: FakeApi;
let announcer: Announcer;
let play: RoundPlay;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  // Without the part of a wait that is left to chance.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  fake = new FakeApi().on(PLACES, () => ({ body: standings() }));
  announcer = new Announcer();
  const clock = { now: () => new Date() };
  const live = new Live(new FakeBrowser().surroundings(), () => Promise.resolve());
  const texts = new Texts({ pages: enPages, trivia: t });
  play = new RoundPlay({ api: fake.api, announcer, clock, live, texts }, 'round-1', 'ada');
});
afterEach(() => void vi.useRealTimers());

async function read(body: RoundNow): Promise<void> {
  fake.on(ONE, () => ({ body }));
  await play.read.load();
}

const count = (name: string): number => fake.requests.filter((request) => request.name === name).length;
const tell = (event: LiveEvent): void => play.onevent(event);
const opened = (number: number): LiveEvent => ({
  name: 'question.opened',
  data: { roundId: 'round-1', question: aQuestion(number), endsAt: aQuestion(number).endsAt, channels },
});
const closed = (number: number): LiveEvent => ({
  name: 'question.closed',
  data: {
    roundId: 'round-1',
    questionId: `question-${String(number)}`,
    correctOptionId: `${String(number)}-2`,
    counts: [{ optionId: `${String(number)}-2`, count: 3 }],
    channels,
  },
});
const answered = (optionId: string): object => ({
  answer: { questionId: 'question-1', optionId, answeredAt: after(4.25), timeMs: 4_000 },
  result: null,
});

/** Lets this much time pass, and what is asked then arrive. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await until(() => !play.read.isReading && !play.standings.page.isReading);
}

test('events drive a live round from its start to the result of an answer', async () => {
  await read({ ...reads(-5), round: aRound({ status: 'scheduled' }), current: null });
  expect(announcer.polite).toBe('');
  tell(opened(1));
  expect(play.read.value?.round.status).toBe('open');
  expect(announcer.polite).toBe(t.asks('1', '3', 'Where was ground 1?'));
  await vi.advanceTimersByTimeAsync(9_000);
  fake.on(ANSWER, () => ({ status: 201, body: answered('1-2') }));
  play.time.note(after(4), play.time.mark());
  expect(play.canAnswer).toBe(true);
  await play.answer('1-2');
  expect([play.chosen, play.canAnswer]).toEqual(['1-2', false]);
  tell(closed(1));
  expect(play.read.value?.current?.result).toEqual({ correct: true, correctOptionId: '1-2', points: 90 });
  expect(play.read.value?.round.me?.score).toBe(90);
  expect(play.marks).toEqual({ 1: 'right' });
  expect(announcer.polite).toBe(t.result.right('90 points'));
  tell({ name: 'standings.changed', data: { roundId: 'round-1', channels } });
  await until(() => count(PLACES) === 1 && !play.read.isReading);
  expect(count(ONE)).toBe(2);
  tell(opened(2));
  expect([play.chosen, play.read.value?.current?.question.number]).toEqual([null, 2]);
  tell({ name: 'standings.changed', data: { roundId: 'round-1', channels } });
  await until(() => count(PLACES) === 2);
  expect(count(ONE)).toBe(2);
});

test('an event of another round changes nothing', async () => {
  await read(reads(1));
  const other = opened(2);
  tell({ ...other, data: { ...other.data, channels: ['trivia:round-2'] } } as LiveEvent);
  expect(play.read.value?.current?.question.number).toBe(1);
});

test('who answered elsewhere learns it when the question closes', async () => {
  await read(reads(1));
  const result = { correct: true, correctOptionId: '1-2', points: 90 };
  const answer = { questionId: 'question-1', optionId: '1-2', answeredAt: after(4.25), timeMs: 4_000 };
  const { current, ...rest } = reads(21);
  fake.on(ONE, () => ({
    body: { ...rest, current: { ...current, answer, result, correctOptionId: '1-2' } },
  }));
  tell(closed(1));
  expect(play.marks).toEqual({ 1: 'none' });
  await until(() => !play.read.isReading);
  expect(play.marks).toEqual({ 1: 'right' });
  expect(play.chosen).toBe('1-2');
});

test.each<[string, RoundNow, number]>([
  ['the start', { ...reads(-5), round: aRound({ status: 'scheduled' }), current: null }, 5_000],
  ['the close of a question', reads(1), 19_700],
  [
    'the end',
    { ...reads(83), current: { ...reads(60).current, correctOptionId: '3-2' } as RoundNow['current'] },
    1_000,
  ],
])('where no event says it, %s is read when it is due', async (_, known, ms) => {
  await read(known);
  const stop = play.wait();
  await pass(ms + 799);
  expect(count(ONE)).toBe(1);
  await pass(1);
  expect(count(ONE)).toBe(2);
  expect(count(PLACES)).toBe(1);
  stop();
});

test('what an event has said is not waited for', async () => {
  await read(reads(1));
  play.wait()();
  await pass(60_000);
  expect(count(ONE)).toBe(1);
});

test('without a connection the round is read again, ever more rarely', async () => {
  await read(reads(1));
  fake.on(ONE, () => ({ status: 0 }));
  await play.read.load();
  const pauses: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    const before = count(ONE);
    const stop = play.wait();
    let waited = 0;
    while (count(ONE) === before) {
      await pass(500);
      waited += 500;
    }
    pauses.push(waited);
    stop();
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

test('what is refused, and a round that is over, is not read again', async () => {
  await read({ ...reads(90), round: aRound({ status: 'over', me: null }), current: null });
  play.wait();
  fake.on(ONE, () => problem(404, 'not_found'));
  await play.read.load();
  play.wait();
  await pass(600_000);
  expect(count(ONE)).toBe(2);
});

test('the points of a round that has just ended are looked for until they are there', async () => {
  const over: RoundNow = { ...reads(84), round: aRound({ status: 'over' }), current: null };
  await read(over);
  const stop = play.wait();
  await pass(999);
  expect(count(ONE)).toBe(1);
  await pass(1);
  expect(count(ONE)).toBe(2);
  stop();
  const me = { joinedAt: START, answered: 3, score: 90, award: 90 };
  await read({ ...over, round: aRound({ status: 'over', me }) });
  play.wait();
  await pass(600_000);
  expect(count(ONE)).toBe(3);
});

test('an answer that was kept from earlier names no time: nothing can be answered by it', async () => {
  fake.on(ONE, () => ({ body: reads(1), headers: kept }));
  await play.read.load();
  expect(play.read.state.kind).toBe('failed');
  expect([play.time.now(), play.canAnswer]).toEqual([null, false]);
});

test('who watches, and who is too late, chooses nothing', async () => {
  await read({ ...reads(1), round: aRound({ me: null }) });
  expect(play.canAnswer).toBe(false);
  await read(reads(20.6));
  expect(play.canAnswer).toBe(false);
  await play.answer('1-2');
  expect(count(ANSWER)).toBe(0);
});

test('a refused answer is taken back, and the page shows the one that counts', async () => {
  await read(reads(1));
  const answer = { questionId: 'question-1', optionId: '1-0', answeredAt: after(1), timeMs: 750 };
  const { current, ...rest } = reads(5);
  fake
    .on(ANSWER, () => problem(409, 'already_answered'))
    .on(ONE, () => ({ body: { ...rest, current: { ...current, answer } } }));
  await play.answer('1-2');
  expect(play.chosen).toBe('1-0');
  expect(play.failure).toMatchObject({ code: 'already_answered' });
  tell(closed(1));
  tell(opened(2));
  expect(play.failure).toBeNull();
});

test('an answer whose confirmation was lost counts when the service knows it', async () => {
  await read(reads(19));
  const answer = { questionId: 'question-1', optionId: '1-2', answeredAt: after(19), timeMs: 18_750 };
  const { current, ...rest } = reads(20);
  fake
    .on(ANSWER, () => ({ status: 0 }))
    .on(ONE, () => ({ body: { ...rest, current: { ...current, answer } } }));
  const given = play.answer('1-2');
  await until(() => vi.getTimerCount() === 1);
  await vi.advanceTimersByTimeAsync(1_000);
  await given;
  expect([play.chosen, play.failure]).toEqual(['1-2', null]);
});

test('a solo round goes from question to question, each with its result, to its points', async () => {
  const solo = aSoloRound({ questionCount: 2 });
  await read({ ...reads(1), round: solo, current: null });
  const next = 'POST /api/trivia/round-1/next';
  fake.on(next, () => ({ body: { question: aQuestion(1), serverNow: after(1) } }));
  await play.next();
  expect(play.read.value?.current?.question.number).toBe(1);
  const result = { correct: false, correctOptionId: '1-2', points: 0 };
  fake.on(ANSWER, () => ({ status: 201, body: { ...answered('1-0'), result } }));
  await play.answer('1-0');
  expect(play.marks).toEqual({ 1: 'wrong' });
  expect(announcer.polite).toBe(t.result.wrong('The Saltings'));
  fake.on(next, () => problem(409, 'round_over'));
  const over: RoundNow = { ...reads(90), round: aSoloRound({ status: 'over' }), current: null };
  fake.on(ONE, () => ({ body: over }));
  await play.next();
  expect(play.asking.failure).toMatchObject({ code: 'round_over' });
  expect(play.read.value?.round.status).toBe('over');
});

test('a fan joins and is shown what the service knows then', async () => {
  const guest = aRound({ status: 'scheduled', me: null });
  await read({ ...reads(-60), round: guest, current: null });
  const joined: RoundNow = { ...reads(-55), round: aRound({ status: 'scheduled' }), current: null };
  fake.on('POST /api/trivia/round-1/join', () => ({ body: joined })).on(ONE, () => ({ body: joined }));
  await play.join();
  expect(play.read.value?.round.me).not.toBeNull();
  expect(count(PLACES)).toBe(1);
});
