import { ageOf } from '$lib/api/age';
import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { Dashboard, VisitResult } from '$lib/api/types';
import type { OwnEvent } from '$lib/live/own';

/** How long changes are collected before the page is read again: what is earned together comes as several events. */
const COLLECT_MS = 300;

/** They change how much is unread, which the profile says. */
const OF_INBOX: OwnEvent['name'][] = ['notification.created', 'notification.read'];

/** The start page of a fan. Reading it writes nothing: the daily visit is paid beside it, once its date is open. */
export class Home {
  readonly dashboard: Resource<Dashboard>;
  readonly visit = new Attempt();
  #paid = $state.raw<VisitResult | null>(null);
  #collecting: ReturnType<typeof setTimeout> | undefined;
  readonly #api: Api;
  readonly #onPaid: (paid: VisitResult, milestone: number | null) => void;

  /** `onPaid` takes what a visit paid, and the length of the streak that it completed. */
  constructor(api: Api, clock: Clock, onPaid: (paid: VisitResult, milestone: number | null) => void) {
    this.#api = api;
    this.#onPaid = onPaid;
    this.dashboard = new Resource(async (signal) => {
      const dashboard = await api.call((client) => client.GET('/api/dashboard', { signal }));
      // One that was kept from earlier knows nothing of today.
      if (ageOf(dashboard) === null && !dashboard.streak.visitedToday) void this.#visit(dashboard);
      return dashboard;
    }, clock);
  }

  /** What was paid for today's visit, if that was done here. */
  get paid(): VisitResult | null {
    return this.#paid;
  }

  /** Whether the date of the next visit has begun since the page was read. */
  isNewDay(now: Date): boolean {
    const streak = this.dashboard.value?.streak;
    return streak?.visitedToday === true && now >= new Date(streak.nextVisitAt);
  }

  /** Reads again soon after something changed. */
  readonly onchange = (event: OwnEvent): void => {
    if (OF_INBOX.includes(event.name)) return;
    this.#collecting ??= setTimeout(() => {
      this.#collecting = undefined;
      void this.dashboard.load();
    }, COLLECT_MS);
  };

  stop(): void {
    clearTimeout(this.#collecting);
  }

  /** Records today's visit again, after that failed. */
  async collect(): Promise<void> {
    if (this.dashboard.value) await this.#visit(this.dashboard.value);
  }

  async #visit({ streak }: Dashboard): Promise<void> {
    const next = streak.nextMilestone?.days ?? null;
    const answer = await this.visit.run(() =>
      this.#api.call((client) => client.POST('/api/quests/daily-visit', { body: {} })),
    );
    if (!answer) return;
    this.dashboard.update((shown) => ({ ...shown, streak: answer }));
    if (answer.alreadyCompleted) return;
    this.#paid = answer;
    this.#onPaid(answer, answer.streak === next ? next : null);
  }
}
