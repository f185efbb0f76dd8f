import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { Quest } from '$lib/api/types';
import { questReward, stepReward, type Reward } from '$lib/rewards/reward';

/** What a step or a check has earned. */
export interface Earned {
  points: number;
  rewards: Reward[];
}

/** One quest and what the fan does in it. One write at a time; the service's answer replaces the quest. */
export class QuestRun {
  readonly quest: Resource<Quest>;
  readonly attempt = new Attempt();
  readonly #api: Api;
  readonly #id: string;

  constructor(api: Api, clock: Clock, id: string) {
    this.#api = api;
    this.#id = id;
    this.quest = new Resource(async (signal) => {
      const params = { path: { id: this.#id } };
      return (await api.call((client) => client.GET('/api/quests/{id}', { params, signal }))).quest;
    }, clock);
  }

  /** Starts the quest; whether that worked. */
  async start(): Promise<boolean> {
    const started = await this.attempt.run(async () => {
      const body = { questId: this.#id };
      this.quest.replace(
        (await this.#api.call((client) => client.POST('/api/quests/start', { body }))).quest,
      );
      return true;
    });
    return started ?? false;
  }

  /** Confirms a step; null if that failed. */
  complete(stepId: string): Promise<Earned | null> {
    return this.attempt.run(async () => {
      const answer = await this.#api.call((client) =>
        client.POST('/api/quests/complete-step', { body: { stepId } }),
      );
      const { step, quest } = answer;
      this.quest.replace(quest);
      const whole = answer.questCompleted ? [questReward(quest, step.completedAt ?? '')] : [];
      return { points: answer.pointsAwarded, rewards: [stepReward(step), ...whole] };
    });
  }

  /** Has the service check the steps that it can check itself; null if that failed. */
  check(): Promise<Earned | null> {
    return this.attempt.run(async () => {
      const answer = await this.#api.call((client) =>
        client.POST('/api/quests/check-progress', { body: {} }),
      );
      await this.quest.load();
      const { completedSteps, completedQuests } = answer;
      const at = completedSteps[0]?.completedAt ?? '';
      const whole = completedQuests.map((quest) => questReward(quest, at));
      return { points: answer.pointsAwarded, rewards: [...completedSteps.map(stepReward), ...whole] };
    });
  }
}
