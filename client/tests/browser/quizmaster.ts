import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { Fan, PASSWORD } from './fan';
import { readAs } from './member';
import { signIn } from './profile';
import { Service, terrace } from './service';
import { Visitor } from './visitor';

/** Questions with their options, of which the first one is right. */
export const QUESTIONS = [
  ['When was the ground opened?', '1892', '1887', '1910'],
  ['How many stands has it?', 'Three', 'Two', 'Four'],
  ['Who scored the first goal?', 'Noor', 'Sam'],
] as const;

/** A round as content. The right option of each question is its first one. */
interface Draft {
  key: string;
  title: string;
  /** In how many seconds it begins. */
  startsIn: number;
  seconds: number;
  questions: readonly (readonly [text: string, ...options: string[]])[];
}

export interface RoundOfFan {
  id: string;
  key: string;
  startsAt: string;
  closesAt: string;
  status: string;
  commitment: string;
  playerCount: number;
  me: { answered: number; score: number; award: number | null } | null;
}

interface Question {
  id: string;
  number: number;
  text: string;
  options: { id: string; text: string }[];
}

export interface RoundRead {
  round: RoundOfFan;
  current: { question: Question; answer: { optionId: string } | null } | null;
}

export interface Standings {
  entries: { rank: number; score: number; user: { username: string } }[];
  me: { rank: number; score: number; answered: number } | null;
}

/** A club's content whose rounds a test makes as it needs them. */
export class Quizmaster {
  /** The folder with the content. */
  readonly folder = join(mkdtempSync(join(tmpdir(), 'terrace-rounds-')), 'club');
  #rounds = '';

  constructor() {
    const { status, stderr } = spawnSync(terrace(), ['content', 'new', this.folder], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }

  /** Starts a service with the content. */
  async serve(): Promise<Service> {
    const service = await Service.startEmpty(['--rate-limits', 'off', '--content', this.folder]);
    // Signing in waits for a post of the room.
    await (await Fan.signUp(service.url, 'opener')).post('Who is in tonight?');
    return service;
  }

  /** Adds a live round with pauses of four seconds; returns its id. */
  live(service: Service, { startsIn, ...draft }: Draft): Promise<string> {
    return this.#add(service, draft, [
      ['starts', later(startsIn)],
      ['mode', 'live'],
      ['reveal', 4],
    ]);
  }

  /** Adds a solo round of `count` questions that awards 15 points and is open for an hour; returns its id. */
  solo(service: Service, count: number, { startsIn, ...draft }: Draft): Promise<string> {
    return this.#add(service, draft, [
      ['starts', later(startsIn)],
      ['closes', later(3_600)],
      ['mode', 'solo'],
      ['count', count],
      ['award', 15],
    ]);
  }

  remove(): void {
    rmSync(join(this.folder, '..'), { recursive: true, force: true });
  }

  async #add(
    service: Service,
    { key, title, seconds, questions }: Omit<Draft, 'startsIn'>,
    more: [string, string | number][],
  ): Promise<string> {
    const fields = [['key', key], ['title', title], ['seconds', seconds], ['points', 100], ...more];
    const rows = questions.map(([text, ...options]) => {
      const [right = ''] = options;
      return `{ text = ${JSON.stringify(text)}, options = ${JSON.stringify(options)}, right = ${JSON.stringify(right)} },`;
    });
    const lines = fields.map(([name, value]) => `${String(name)} = ${JSON.stringify(value)}`);
    this.#rounds += ['[[round]]', ...lines, 'questions = [', ...rows, ']', ''].join('\n');
    writeFileSync(join(this.folder, 'trivia.toml'), this.#rounds);
    service.load(this.folder);
    const found = async (): Promise<string | undefined> => {
      const { rounds } = (await service.read('/api/trivia?limit=100')) as { rounds: RoundOfFan[] };
      return rounds.find((round) => round.key === key)?.id;
    };
    // A process that serves shows new content a moment later.
    await expect.poll(found).toBeDefined();
    return (await found()) ?? '';
  }
}

const later = (seconds: number): string => new Date(Date.now() + 1_000 * seconds).toISOString();

/** The round as the page's fan reads it. */
export const roundOf = (page: Page, id: string): Promise<RoundRead> =>
  readAs<RoundRead>(page, `/api/trivia/${id}`);

export const standingsOf = (page: Page, id: string): Promise<Standings> =>
  readAs<Standings>(page, `/api/trivia/${id}/leaderboard`);

/** A browser of its own with a fan who has just signed up. */
export async function enter(
  browser: Browser,
  origin: string,
  username: string,
  options: BrowserContextOptions = { viewport: { width: 390, height: 844 } },
): Promise<Visitor> {
  await Fan.signUp(origin, username);
  const visitor = await Visitor.arrive(browser, origin, options);
  await signIn(visitor.page, username, PASSWORD);
  return visitor;
}

/** The option of the question that the page shows. */
export const option = (page: Page, text: string): Locator =>
  page.getByRole('list', { name: 'Answers' }).getByRole('button', { name: new RegExp(`^${text}`) });

/** The heading of the question of this number, from 1. */
export const asked = (page: Page, number: number): Locator =>
  page.getByRole('heading', { name: QUESTIONS[number - 1]?.[0] ?? '' });

/** Waits until the service took an answer. */
export const locked = (page: Page, text: string): Promise<void> =>
  option(page, text).filter({ hasText: 'Locked in' }).waitFor();

/** The points that the page's fan got for a round, the newest first. */
export async function gained(page: Page, title: string): Promise<number[]> {
  type History = { history: { amount: number; reason: string }[] };
  const { history } = await readAs<History>(page, '/api/user/points');
  return history.filter(({ reason }) => reason === title).map(({ amount }) => amount);
}

/** The solo round of the demo that is open now, which the page's fan has joined. */
export async function joined(page: Page): Promise<string> {
  const { rounds } = await readAs<{ rounds: (RoundOfFan & { mode: string })[] }>(page, '/api/trivia');
  const round = rounds.find(({ mode, status }) => mode === 'solo' && status === 'open');
  if (!round) throw new Error('no solo round is open');
  const answer = await page.request.post(`/api/trivia/${round.id}/join`);
  expect(answer.status()).toBe(200);
  return round.id;
}
