import { ageOf } from '$lib/api/age';
import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { Unreachable, type Failure } from '$lib/api/errors';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { RoundNow } from '$lib/api/types';
import type { Texts } from '$lib/i18n/texts.svelte';
import type { LiveEvent } from '$lib/live/events';
import type { Live, View } from '$lib/live/live';
import type { Announcer } from '$lib/ui/announcer.svelte';
import { Answering } from './answering.svelte';
import { Commitments } from './commitments';
import {
  afterAnswer,
  afterClosing,
  afterOpening,
  awaitsAward,
  dueAt,
  isFinished,
  isRevealed,
  laterOf,
  markOf,
  takesAnswers,
  type Mark,
} from './rules';
import { ServerClock } from './server-clock.svelte';
import { Standings } from './standings.svelte';
import { newsText } from './words';

/** How long after something is due it is read where no event says it; more by chance, so that readers spread. */
const PATIENCE_MS = 800;
const SPREAD_MS = 700;
/** After how long a read that failed is repeated at first, and at most. */
const RETRY_MS = 1_000;
const SLOWEST_RETRY_MS = 30_000;
/** The longest time between two looks for points that are due. */
const SLOWEST_AWARD_MS = 60_000;
/** The longest wait for what is due later. */
const LONGEST_MS = 3_600_000;

interface Parts {
  api: Api;
  announcer: Announcer;
  clock: Clock;
  live: Live;
  texts: Texts;
}

/** A round as one reader sees and plays it. */
export class RoundPlay implements View {
  readonly channels: readonly string[];
  readonly time = new ServerClock();
  readonly read: Resource<RoundNow>;
  readonly standings: Standings;
  readonly answering: Answering;
  readonly joining = new Attempt();
  readonly asking = new Attempt();
  readonly commitments: Commitments;
  #marks = $state.raw<Readonly<Record<number, Mark>>>({});
  /** What was announced last. */
  #said = '';
  /** How many reads failed in a row. */
  #failed = 0;
  readonly #parts: Parts;
  readonly #id: string;

  constructor(parts: Parts, id: string, fanId: string | null) {
    this.#parts = parts;
    this.#id = id;
    this.channels = [`trivia:${id}`];
    this.commitments = new Commitments(fanId);
    this.standings = new Standings(parts.api, id, parts.clock);
    this.answering = new Answering(parts.api, id, this.time);
    this.read = new Resource((signal) => this.#read(signal), parts.clock);
  }

  /** The option that the reader chose of the question that is shown, also while it is not confirmed. */
  get chosen(): string | null {
    const { current } = this.read.value ?? {};
    if (current == null) return null;
    return this.answering.wishOf(current.question.id)?.optionId ?? current.answer?.optionId ?? null;
  }

  /** Why the answer to the question that is shown was refused. */
  get failure(): Failure | null {
    const { current } = this.read.value ?? {};
    const failure = current == null ? null : this.answering.failureOf(current.question.id);
    // It arrived after all.
    return failure instanceof Unreachable && current?.answer != null ? null : failure;
  }

  /** What became of each question since the page was opened, by number. */
  get marks(): Readonly<Record<number, Mark>> {
    return this.#marks;
  }

  /** Whether the reader can choose an option now. */
  get canAnswer(): boolean {
    const { round, current } = this.read.value ?? {};
    const now = this.time.current;
    if (!round?.me || current == null || now === null || this.chosen !== null) return false;
    return !isRevealed(current) && takesAnswers(current.question, now);
  }

  /** Reads the round and follows it. Returns what ends that. */
  start(): () => void {
    const stop = new AbortController();
    const { signal } = stop;
    const look = (): void => {
      // While a page is hidden, events do not reach it, and its clock may stand still.
      if (document.visibilityState === 'visible') void this.renew();
    };
    document.addEventListener('visibilitychange', look, { signal });
    addEventListener('pageshow', ({ persisted }) => persisted && look(), { signal });
    addEventListener('online', look, { signal });
    const stopTime = this.time.start();
    void this.renew();
    return () => {
      this.#parts.live.part(this);
      this.answering.stop();
      stop.abort();
      stopTime();
    };
  }

  /** Follows the events after a position. */
  follow(position: number): void {
    this.#parts.live.join(this, position);
  }

  async renew(): Promise<void> {
    await Promise.all([this.read.load(), this.standings.page.load()]);
  }

  /** Reads the round again when something is due that no event has said. Returns what ends the wait. */
  wait(): () => void {
    const { state } = this.read;
    this.#failed = state.kind === 'failed' ? this.#failed + 1 : 0;
    const wait = this.#patience();
    if (wait === null) return () => undefined;
    const timer = setTimeout(() => void this.renew(), wait);
    return () => clearTimeout(timer);
  }

  readonly onevent = (event: LiveEvent): void => {
    if (!this.channels.some((channel) => event.data.channels.includes(channel))) return;
    if (event.name === 'question.opened') {
      this.#change((known) => afterOpening(known, event.data.question));
    } else if (event.name === 'question.closed') {
      this.#change((known) => afterClosing(known, event.data));
      const { round, current } = this.read.value ?? {};
      // The service alone knows an answer of another tab, and one whose confirmation is on its way.
      if (round?.me && current?.answer === null) void this.read.load();
    } else if (event.name === 'standings.changed') {
      // How many play is settled by then: who joined before the start is not in what was read.
      if (this.read.value?.current?.question.number === 1) void this.renew();
      else void this.standings.page.load();
    } else if (event.name === 'round.ended') {
      void this.renew();
    }
  };

  readonly onresync = (): void => void this.renew();

  async join(): Promise<void> {
    const params = { path: { id: this.#id } };
    const joined = await this.joining.run(() =>
      this.#timed((api) => api.call((client) => client.POST('/api/trivia/{id}/join', { params }))),
    );
    if (joined !== null) this.#change((known) => laterOf(joined, { ...known, round: joined.round }));
    await this.renew();
  }

  /** Gets the next question of a solo round; the one that is open, if there is one. */
  async next(): Promise<void> {
    const params = { path: { id: this.#id } };
    const next = await this.asking.run(() =>
      this.#timed((api) => api.call((client) => client.POST('/api/trivia/{id}/next', { params }))),
    );
    if (next === null) await this.renew();
    else this.#change((known) => afterOpening(known, next.question));
  }

  /** Gives an answer. It shows at once, and is taken back if it is refused. */
  async answer(optionId: string): Promise<void> {
    const question = this.read.value?.current?.question;
    if (!question || !this.canAnswer) return;
    const given = await this.answering.give(question, optionId, ({ answer, result }) =>
      this.#change((known) => afterAnswer(known, answer, result)),
    );
    // What refused it, or the end of a solo round, is news of the whole round.
    if (!given || (this.read.value && isFinished(this.read.value))) await this.renew();
  }

  async #read(signal: AbortSignal): Promise<RoundNow> {
    const init = { params: { path: { id: this.#id } }, signal };
    const read = await this.#timed((api) => api.call((client) => client.GET('/api/trivia/{id}', init)));
    if (ageOf(read) !== null) return read;
    const value = laterOf(read, this.read.value);
    this.#see(value);
    return value;
  }

  /** Sends a request whose answer names the time. */
  async #timed<Answer extends { serverNow: string }>(send: (api: Api) => Promise<Answer>): Promise<Answer> {
    const sentAt = this.time.mark();
    const answer = await send(this.#parts.api);
    // The time of an answer that was kept is that of another day.
    if (ageOf(answer) === null) this.time.note(answer.serverNow, sentAt);
    return answer;
  }

  #change(change: (known: RoundNow) => RoundNow): void {
    const known = this.read.value;
    const changed = known && change(known);
    if (changed === null || changed === known) return;
    this.read.replace(changed);
    this.#see(changed);
  }

  /** Notes what is known now, and says what is new. */
  #see(value: RoundNow): void {
    const { round, current } = value;
    const { announcer, texts } = this.#parts;
    if (round.status === 'scheduled' || round.status === 'open') {
      this.commitments.note(round.id, round.commitment);
    }
    const mark = markOf(value);
    if (current && mark) this.#marks = { ...this.#marks, [current.question.number]: mark };
    const news = newsText(value, texts);
    if (news === null || news === this.#said) return;
    // A round that was over before is what the page is about, and no news.
    if (round.status === 'open' || this.#said !== '') announcer.announce(news);
    this.#said = news;
  }

  /** How long to wait for events before the round is read again; null if nothing is to come. */
  #patience(): number | null {
    const { state, value } = this.read;
    if (value === null || state.kind === 'loading') return null;
    const spread = SPREAD_MS * Math.random();
    const now = this.time.now();
    const due = dueAt(value);
    if (state.kind === 'failed') {
      const isWorthIt = state.failure instanceof Unreachable && (due !== null || awaitsAward(value));
      return isWorthIt ? Math.min(RETRY_MS * 2 ** (this.#failed - 1), SLOWEST_RETRY_MS) + spread : null;
    }
    if (now === null) return RETRY_MS + spread;
    if (awaitsAward(value)) {
      const since = now - Date.parse(value.current?.question.endsAt ?? value.round.closesAt);
      return Math.min(Math.max(since, RETRY_MS), SLOWEST_AWARD_MS) + spread;
    }
    return due === null ? null : Math.min(Math.max(due - now, 0) + PATIENCE_MS, LONGEST_MS) + spread;
  }
}
