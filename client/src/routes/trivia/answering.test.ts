import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Refused, Unreachable } from '$lib/api/errors';
import { Deferred, FakeApi, problem } from '$lib/api/testing';
import type { GivenAnswer } from '$lib/api/types';
import { Answering } from './answering.svelte';
import { START, aQuestion, after, until } from './testing';

const SEND = 'POST /api/trivia/round-1/answers';
const question = aQuestion(1);
const body = { questionId: question.id, optionId: '1-2' };
const accepted: GivenAnswer = {
  answer: { ...body, answeredAt: after(4.25), timeMs: 4_000 },
  result: null,
};

/** The time of the service. */
let now = 0;
let fake: FakeApi;
let answering: Answering;
let confirmed: GivenAnswer[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  now = Date.parse(START) + 4_000;
  fake = new FakeApi();
  answering = new Answering(fake.api, 'round-1', { now: () => now });
  confirmed = [];
});
afterEach(() => void vi.useRealTimers());

const give = (optionId = body.optionId, asked = question): Promise<boolean> =>
  answering.give(asked, optionId, (given) => confirmed.push(given));
const sent = (): unknown[] => fake.requests.map((request) => request.body);

/** Lets what was asked arrive, and this much time pass. */
async function pass(ms: number): Promise<void> {
  await until(() => vi.getTimerCount() === 1);
  now += ms;
  await vi.advanceTimersByTimeAsync(ms);
}

test('an answer is a wish until it is accepted', async () => {
  const reply = new Deferred<{ status: number; body: GivenAnswer }>();
  fake.on(SEND, () => reply.promise);
  const given = give();
  expect(answering.wishOf(question.id)).toEqual({ ...body, isRepeated: false });
  expect(answering.wishOf('question-2')).toBeNull();
  reply.resolve({ status: 201, body: accepted });
  expect(await given).toBe(true);
  expect(confirmed).toEqual([accepted]);
  expect([answering.wishOf(question.id), answering.failureOf(question.id)]).toEqual([null, null]);
  expect(sent()).toEqual([body]);
});

test('an answer that gets lost is sent again as it was', async () => {
  fake.on(SEND, () => ({ status: 0 }));
  const given = give();
  await pass(1_000);
  expect(answering.wishOf(question.id)).toEqual({ ...body, isRepeated: true });
  fake.on(SEND, () => ({ status: 201, body: accepted }));
  await pass(1_000);
  expect(await given).toBe(true);
  expect(sent()).toEqual([body, body, body]);
});

test('what does not arrive before the time is over is taken back', async () => {
  fake.on(SEND, () => ({ status: 0 }));
  now = Date.parse(question.endsAt) - 1_000;
  const given = give();
  await pass(1_000);
  expect(await given).toBe(false);
  expect(answering.wishOf(question.id)).toBeNull();
  expect(answering.failureOf(question.id)).toBeInstanceOf(Unreachable);
  expect(confirmed).toEqual([]);
  expect(sent()).toHaveLength(2);
});

test('a refusal takes it back at once', async () => {
  fake.on(SEND, () => problem(409, 'already_answered'));
  expect(await give()).toBe(false);
  expect(answering.failureOf(question.id)).toMatchObject({ code: 'already_answered' });
  expect(answering.failureOf('question-2')).toBeNull();
  expect(sent()).toHaveLength(1);
});

test('a busy service is asked again after the time that it names', async () => {
  const busy = { ...problem(503, 'unavailable'), headers: { 'retry-after': '3' } };
  fake.on(SEND, () => busy);
  const given = give();
  await pass(2_999);
  expect(sent()).toHaveLength(1);
  fake.on(SEND, () => ({ status: 201, body: accepted }));
  await pass(1);
  expect(await given).toBe(true);
  now = Date.parse(question.endsAt) - 2_000;
  fake.on(SEND, () => busy);
  expect(await give()).toBe(false);
  expect(answering.failureOf(question.id)).toBeInstanceOf(Refused);
});

test('a page that is left sends nothing again', async () => {
  fake.on(SEND, () => ({ status: 0 }));
  const given = give();
  await until(() => vi.getTimerCount() === 1);
  answering.stop();
  await pass(1_000);
  expect(await given).toBe(false);
  expect(sent()).toHaveLength(1);
});

test('an answer on its way does not stand in the way of the next question', async () => {
  const slow = new Deferred<{ status: number; body: GivenAnswer }>();
  fake.on(SEND, () => slow.promise);
  const first = give();
  await until(() => fake.requests.length === 1);
  fake.on(SEND, () => new Deferred<never>().promise);
  const second = aQuestion(2);
  now = Date.parse(second.servedAt) + 1_000;
  void give('2-0', second);
  slow.resolve({ status: 201, body: accepted });
  expect(await first).toBe(true);
  expect(answering.wishOf(second.id)?.optionId).toBe('2-0');
});
