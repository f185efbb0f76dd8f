import type { Api } from '$lib/api/client';
import { Refused, failureOf, type Failure } from '$lib/api/errors';
import type { GivenAnswer, RoundQuestion } from '$lib/api/types';
import { takesAnswers } from './rules';
import type { ServerClock } from './server-clock.svelte';

/** After how long an answer that did not arrive is sent again. */
const RETRY_MS = 1_000;

/** An answer that the service has not confirmed. */
interface Wish {
  questionId: string;
  optionId: string;
  /** Whether it did not arrive, and is sent again. */
  isRepeated: boolean;
}

/**
 * Answers the questions of one round. An answer that gets lost is sent again until the time is over: the service takes the same
 * one twice as one, and its time is that of the first which arrived.
 */
export class Answering {
  #wish = $state.raw<Wish | null>(null);
  #refused = $state.raw<{ questionId: string; failure: Failure } | null>(null);
  #isStopped = false;
  readonly #api: Api;
  readonly #roundId: string;
  readonly #time: Pick<ServerClock, 'now'>;

  constructor(api: Api, roundId: string, time: Pick<ServerClock, 'now'>) {
    this.#api = api;
    this.#roundId = roundId;
    this.#time = time;
  }

  /** The answer to this question that is on its way. */
  wishOf(questionId: string): Wish | null {
    return this.#wish?.questionId === questionId ? this.#wish : null;
  }

  /** Why the answer to this question was refused. */
  failureOf(questionId: string): Failure | null {
    return this.#refused?.questionId === questionId ? this.#refused.failure : null;
  }

  /** Sends nothing again from now on. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Gives an answer, which shows as a wish until `confirm` takes it over; whether it was accepted. */
  async give(
    question: RoundQuestion,
    optionId: string,
    confirm: (given: GivenAnswer) => void,
  ): Promise<boolean> {
    const questionId = question.id;
    this.#refused = null;
    this.#wish = { questionId, optionId, isRepeated: false };
    try {
      confirm(await this.#send(question, { questionId, optionId }));
      return true;
    } catch (error) {
      this.#refused = { questionId, failure: failureOf(error) };
      return false;
    } finally {
      // Meanwhile another question may have been answered.
      if (this.wishOf(questionId)) this.#wish = null;
    }
  }

  async #send(question: RoundQuestion, body: Omit<Wish, 'isRepeated'>): Promise<GivenAnswer> {
    const params = { path: { id: this.#roundId } };
    for (;;) {
      try {
        return await this.#api.call((client) => client.POST('/api/trivia/{id}/answers', { params, body }));
      } catch (error) {
        const failure = failureOf(error);
        const wait = waitAfter(failure);
        if (wait === null || !this.#isOpen(question, wait)) throw failure;
        if (this.wishOf(question.id)) this.#wish = { ...body, isRepeated: true };
        await new Promise((resolve) => setTimeout(resolve, wait));
        if (!this.#isOpen(question)) throw failure;
      }
    }
  }

  #isOpen(question: RoundQuestion, wait = 0): boolean {
    const now = this.#time.now();
    return !this.#isStopped && now !== null && takesAnswers(question, now + wait);
  }
}

/** How long to wait before an answer is sent again; null after a refusal that stays. */
function waitAfter(failure: Failure): number | null {
  if (!(failure instanceof Refused)) return RETRY_MS;
  const { status } = failure.problem;
  if (status < 500 && status !== 429) return null;
  return Math.max(RETRY_MS, 1_000 * (failure.retryAfter ?? 0));
}
