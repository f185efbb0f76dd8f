import { Refused, type Failure } from '$lib/api/errors';
import type { Round, RoundNow } from '$lib/api/types';
import type { Texts } from '$lib/i18n/texts.svelte';
import { awaitsAward, isRevealed, secondsUntil } from './rules';

/** A time that is left to count down is less than this; above it the time of day is shown. */
const COUNTED_S = 3_600;

export function pointsText(points: number, texts: Texts): string {
  return texts.trivia.points(points, texts.number(points));
}

/** What the reader got for the question, or that no answer of theirs counts; what is right, to one who watches. */
export function resultText(
  { round, current }: Pick<RoundNow, 'round' | 'current'>,
  texts: Texts,
): string | null {
  if (current === null || !isRevealed(current)) return null;
  const t = texts.trivia.result;
  const right = current.question.options.find(({ id }) => id === current.correctOptionId)?.text ?? '';
  if (round.me === null) return t.watched(right);
  if (current.result === null) return t.none(right);
  const { correct, points } = current.result;
  return correct ? t.right(pointsText(points, texts)) : t.wrong(right);
}

/** What is announced of a round: the question, its result, the end. */
export function newsText(
  { round, current }: Pick<RoundNow, 'round' | 'current'>,
  texts: Texts,
): string | null {
  const t = texts.trivia;
  if (round.status === 'over') return t.over;
  if (round.status === 'cancelled') return t.cancelledTitle;
  if (round.status !== 'open' || current === null) return null;
  const { number, text } = current.question;
  return (
    resultText({ round, current }, texts) ??
    t.asks(texts.number(number), texts.number(round.questionCount), text)
  );
}

/** Why an answer or a wish to play was refused. */
export function failureText(failure: Failure, texts: Texts): string {
  if (!(failure instanceof Refused)) return texts.failure(failure);
  const known: Record<string, string> = texts.trivia.why;
  return known[failure.code] ?? texts.failure(failure);
}

/** Why an answer does not count, as far as is known. */
export function answerFailureText(failure: Failure, texts: Texts): string {
  return failure instanceof Refused ? failureText(failure, texts) : texts.trivia.unsent;
}

/** A time that is left, as digits and in words; null where it is too long to be counted down. */
export function countdown(
  at: string | number,
  now: number,
  texts: Texts,
): { digits: string; unit: string; words: string; long: string } | null {
  const left = secondsUntil(at, now);
  if (left >= COUNTED_S) return null;
  const [minutes, seconds] = [Math.floor(left / 60), left % 60];
  const t = texts.trivia;
  const inSeconds = t.seconds(seconds, texts.number(seconds));
  const inMinutes = t.minutes(minutes, texts.number(minutes));
  const padded = new Intl.NumberFormat(texts.locale, { minimumIntegerDigits: 2 }).format(seconds);
  return {
    digits: minutes === 0 ? texts.number(seconds) : `${texts.number(minutes)}:${padded}`,
    unit: minutes === 0 ? t.secondsBefore(seconds) : t.beforeStart,
    words: minutes === 0 ? t.secondsLeft(seconds, texts.number(seconds)) : t.timeLeft(inMinutes, inSeconds),
    long: minutes === 0 ? inSeconds : inMinutes,
  };
}

/** When a round is or was: when it begins, until when it can be played, when it ended. */
export function whenText(round: Round, now: number | null, texts: Texts): string {
  const t = texts.trivia;
  const moment = (time: string): string =>
    texts.moment(new Date(time), now === null ? undefined : new Date(now));
  switch (round.status) {
    case 'scheduled': {
      const left = now === null ? null : countdown(round.startsAt, now, texts);
      return left === null ? t.starts(moment(round.startsAt)) : t.startsIn(left.long);
    }
    case 'open':
      return t.until(moment(round.closesAt));
    case 'over':
      return t.ended(moment(round.closesAt));
    case 'cancelled':
      return t.cancelled;
  }
}

/** The rules of a round, one sentence for each. */
export function rulesOf(round: Round, texts: Texts): string[] {
  const t = texts.trivia;
  const questions = t.questions(round.questionCount, texts.number(round.questionCount));
  const seconds = t.seconds(round.seconds, texts.number(round.seconds));
  const isLive = round.mode === 'live';
  return [
    isLive ? t.ruleLive(questions, seconds) : t.ruleSolo(questions, seconds),
    t.rulePoints(pointsText(round.maxPoints, texts)),
    t.ruleOnce,
    isLive ? t.ruleLiveAward : t.ruleSoloAward(pointsText(round.award, texts)),
    ...(round.teamId === null ? [] : [t.ruleTeam]),
  ];
}

/** What the reader did in a round, and what it gave. */
export function ownText({ me, questionCount }: Round, texts: Texts): string {
  if (me === null) return '';
  const t = texts.trivia;
  const answered = t.own.answered(texts.number(me.answered), texts.number(questionCount));
  return me.award === null ? answered : `${answered}. ${t.award(pointsText(me.award, texts))}`;
}

/** What the reader gets for the round, as far as it is known; null where nothing is to be said. */
export function awardText(
  { round, current }: Pick<RoundNow, 'round' | 'current'>,
  texts: Texts,
): string | null {
  const t = texts.trivia;
  if (round.me === null) return round.status === 'over' ? t.notPlayed : null;
  if (round.me.award !== null) return t.award(pointsText(round.me.award, texts));
  if (awaitsAward({ round, current })) return t.awardSoon;
  return round.status === 'over' ? t.awardMissed : null;
}
