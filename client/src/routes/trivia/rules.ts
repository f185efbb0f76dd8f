import type { AnswerResult, CurrentQuestion, Round, RoundNow, RoundQuestion } from '$lib/api/types';
import type { EventData } from '$lib/live/events';

/** What the service takes off the time of each answer. */
const TOLERANCE_MS = 250;
/** How long after the end of a question the service takes answers. */
export const GRACE_MS = 500;
/** How long after its end a question closes: its result is not known earlier. */
const CLOSING_MS = 700;

/** What became of a question, as far as the page knows. */
export type Mark = 'right' | 'wrong' | 'none' | 'past' | 'now' | 'later';

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

/** What a right answer scores that took this long. */
export function scoreOf(
  { seconds, maxPoints }: Pick<Round, 'seconds' | 'maxPoints'>,
  timeMs: number,
): number {
  const twice = 2_000 * seconds;
  return Math.floor((maxPoints * (twice - timeMs)) / twice);
}

/** What a right answer scores that arrives at this moment. */
export function scoreAt(
  round: Pick<Round, 'seconds' | 'maxPoints'>,
  { servedAt }: RoundQuestion,
  now: number,
): number {
  return scoreOf(round, clamp(now - Date.parse(servedAt) - TOLERANCE_MS, 0, 1_000 * round.seconds));
}

/** The whole seconds until a time, of which the last one ends with it. */
export function secondsUntil(time: string | number, now: number): number {
  const at = typeof time === 'number' ? time : Date.parse(time);
  return Math.max(0, Math.ceil((at - now) / 1_000));
}

/** Whether the service takes answers to the question at this moment. */
export function takesAnswers({ servedAt, endsAt }: RoundQuestion, now: number): boolean {
  return Date.parse(servedAt) <= now && now <= Date.parse(endsAt) + GRACE_MS;
}

export const isRevealed = ({ correctOptionId }: CurrentQuestion): boolean => correctOptionId !== null;

/** Whether the reader of a solo round had all its questions. */
export function isFinished({ round, current }: Pick<RoundNow, 'round' | 'current'>): boolean {
  return (
    round.mode === 'solo' &&
    current !== null &&
    isRevealed(current) &&
    current.question.number >= round.questionCount
  );
}

/** Whether the points of a round are due to the reader and not given yet. */
export function awaitsAward({ round, current }: Pick<RoundNow, 'round' | 'current'>): boolean {
  if (round.me === null || round.me.award !== null) return false;
  return round.mode === 'live' ? round.status === 'over' : isFinished({ round, current });
}

/** When a live question opens, by its number from 1. */
export function opensAt({ startsAt, seconds, reveal }: Round, number: number): number {
  return Date.parse(startsAt) + 1_000 * (number - 1) * (seconds + reveal);
}

/** When the next thing happens that changes what the service answers; null if nothing will. */
export function dueAt({ round, current }: Pick<RoundNow, 'round' | 'current'>): number | null {
  if (round.status === 'scheduled') return Date.parse(round.startsAt);
  if (round.status !== 'open') return null;
  if (current !== null && !isRevealed(current)) return Date.parse(current.question.endsAt) + CLOSING_MS;
  const next = (current?.question.number ?? 0) + 1;
  const isLive = round.mode === 'live' && next <= round.questionCount;
  return isLive ? opensAt(round, next) : Date.parse(round.closesAt);
}

/** The round once this question is open. An event of the past changes nothing, also after the end. */
export function afterOpening(known: RoundNow, question: RoundQuestion): RoundNow {
  const { status } = known.round;
  if (status === 'over' || status === 'cancelled') return known;
  if (known.current !== null && known.current.question.number >= question.number) return known;
  const unanswered = { answer: null, result: null, correctOptionId: null, counts: null };
  return { ...known, round: { ...known.round, status: 'open' }, current: { question, ...unanswered } };
}

/** The round once its question has closed. The own result follows from the own answer. */
export function afterClosing(
  known: RoundNow,
  { questionId, correctOptionId, counts }: EventData['question.closed'],
): RoundNow {
  const { round, current } = known;
  if (current === null || current.question.id !== questionId || isRevealed(current)) return known;
  const { answer } = current;
  const isRight = answer?.optionId === correctOptionId;
  const points = answer !== null && isRight ? scoreOf(round, answer.timeMs) : 0;
  const result: AnswerResult | null = answer && { correct: isRight, correctOptionId, points };
  const me = round.me && { ...round.me, score: round.me.score + points };
  return { ...known, round: { ...round, me }, current: { ...current, result, correctOptionId, counts } };
}

/** The round once the service took an answer to its question. */
export function afterAnswer(
  known: RoundNow,
  answer: NonNullable<CurrentQuestion['answer']>,
  result: AnswerResult | null,
): RoundNow {
  const { round, current } = known;
  if (current === null || current.question.id !== answer.questionId || current.answer !== null) return known;
  const me = round.me && {
    ...round.me,
    answered: round.me.answered + 1,
    score: round.me.score + (result?.points ?? 0),
  };
  const correctOptionId = result?.correctOptionId ?? current.correctOptionId;
  return { ...known, round: { ...round, me }, current: { ...current, answer, result, correctOptionId } };
}

/** Of what was read and what events said meanwhile, the later. */
export function laterOf(read: RoundNow, known: RoundNow | null): RoundNow {
  const [now, before] = [read.current, known?.current ?? null];
  if (known === null || before === null) return read;
  if (read.round.status === 'scheduled') return { ...known };
  if (read.round.status !== 'open') return read;
  const number = now?.question.number ?? 0;
  const isEarlier = number === before.question.number && isRevealed(before) && !(now && isRevealed(now));
  return number < before.question.number || isEarlier ? { ...known } : read;
}

/** What became of a question whose result is known; null until then. */
export function markOf({ round: { me }, current }: Pick<RoundNow, 'round' | 'current'>): Mark | null {
  if (current === null || !isRevealed(current)) return null;
  if (current.result !== null) return current.result.correct ? 'right' : 'wrong';
  return me === null ? 'past' : 'none';
}

/** The letter beside an option. */
export const letterOf = (place: number): string => String.fromCharCode(65 + place);
