import { spawn, spawnSync, type ChildProcess, type SpawnSyncReturns } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Proxy } from './proxy';

/** How long the service may take to start on a slow machine. */
const PATIENCE_MS = 180_000;

/** The variable with the folder whose database is filled with the demo content. */
export const FILLED = 'TERRACE_FILLED';

/** What a test waits for is not the hashing of passwords. */
const CHEAP_HASHES = { TERRACE_PASSWORD_MEMORY_KIB: '8', TERRACE_PASSWORD_PASSES: '1' };

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run \`cargo xtask client test\``);
  return value;
}

/** The browser that is used. */
export const chromium = (): string => variable('CHROMIUM');

/** The program that is tested. */
export const terrace = (): string => variable('TERRACE_BIN');

/** How a service is started. */
interface Start {
  program: string;
  settings: string[];
  environment: NodeJS.ProcessEnv;
}

/** The service with a database of its own. */
export class Service {
  readonly url: string;
  #process: ChildProcess;
  readonly #folder: string;
  readonly #start: Start;
  /** Ends what else was started. */
  readonly #endRest: () => Promise<void>;

  private constructor(
    url: string,
    process: ChildProcess,
    folder: string,
    start: Start,
    endRest = () => Promise.resolve(),
  ) {
    this.url = url;
    this.#process = process;
    this.#folder = folder;
    this.#start = start;
    this.#endRest = endRest;
  }

  /** Starts it with the demo content, in a copy of the database that is filled already where there is one. */
  static start(settings: string[] = []): Promise<Service> {
    const folder = emptyFolder();
    const filled = process.env[FILLED];
    if (filled !== undefined) cpSync(filled, folder, { recursive: true });
    return Service.#in(folder, { program: terrace(), settings, environment: process.env });
  }

  /** Starts it in an empty folder: the settings name the content. */
  static startEmpty(settings: string[] = []): Promise<Service> {
    return Service.#in(emptyFolder(), { program: terrace(), settings, environment: process.env });
  }

  /** Starts a copy of the program that lies alone in an empty folder, with no other program in its PATH. */
  static alone(): Promise<Service> {
    const folder = emptyFolder();
    const program = join(folder, 'terrace');
    copyFileSync(terrace(), program);
    return Service.#in(folder, { program, settings: [], environment: { PATH: folder } });
  }

  /** Starts two processes on an empty database of PostgreSQL, behind a proxy that gives each the next request. */
  static async pair(database: string): Promise<Service> {
    const urls: string[] = [];
    const proxy = await Proxy.before(urls);
    const start = {
      program: terrace(),
      settings: ['--rate-limits', 'off', '--public-url', proxy.url],
      environment: { ...process.env, DATABASE_URL: database },
    };
    const folder = emptyFolder();
    // The first one fills the database.
    const first = run(folder, '127.0.0.1:0', start);
    urls.push(await listening(first));
    const second = run(folder, '127.0.0.1:0', start);
    urls.push(await listening(second));
    return new Service(proxy.url, first, folder, start, async () => {
      await proxy.close();
      await end(second, 'SIGTERM');
    });
  }

  static async #in(folder: string, start: Start): Promise<Service> {
    const child = run(folder, '127.0.0.1:0', start);
    return new Service(await listening(child), child, folder, start);
  }

  /** Ends the process, as a crash does; the database stays. */
  async kill(): Promise<void> {
    await end(this.#process, 'SIGKILL');
  }

  /** Starts the process again at its address, with its database. */
  async restart(): Promise<void> {
    await this.kill();
    this.#process = run(this.#folder, `127.0.0.1:${new URL(this.url).port}`, this.#start);
    await listening(this.#process);
  }

  /** Reads a path of the API as JSON, signed out. */
  async read(path: string): Promise<unknown> {
    const answer = await fetch(this.url + path, { headers: { accept: 'application/json' } });
    if (!answer.ok) throw new Error(`${path}: ${String(answer.status)}`);
    return answer.json();
  }

  /** How many streams are open, as the service counts them. */
  async streams(): Promise<number> {
    const answer = await fetch(`${this.url}/metrics`);
    const found = /^terrace_streams_open(?:\{[^}]*\})? (\d+)/gm;
    return [...(await answer.text()).matchAll(found)].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** Gives a fan coins, as an operator does beside the service. */
  giveCoins(username: string, amount: number): void {
    const gift = ['--user', username, '--amount', String(amount), '--reason', 'A gift'];
    const { status, stderr } = this.#command([
      'maintain',
      'coins',
      'give',
      ...gift,
      '--key',
      crypto.randomUUID(),
    ]);
    if (status !== 0) throw new Error(stderr);
  }

  /** Loads the content of a folder, as an operator does beside the service. */
  load(folder: string): void {
    const { status, stdout, stderr } = this.#command(['content', 'load', folder, '--yes']);
    if (status !== 0) throw new Error(stdout + stderr);
  }

  /** What `terrace verify` says of the answer to an opening. */
  verify(answer: unknown): string {
    return this.#command(['verify', '-'], JSON.stringify(answer)).stdout;
  }

  #command(words: string[], input = ''): SpawnSyncReturns<string> {
    const { program, environment: env } = this.#start;
    return spawnSync(program, words, { cwd: this.#folder, env, input, encoding: 'utf8' });
  }

  /** Ends the process and returns the folder with its database. */
  async leave(): Promise<string> {
    await end(this.#process, 'SIGTERM');
    return this.#folder;
  }

  async stop(): Promise<void> {
    await this.#endRest();
    rmSync(await this.leave(), { recursive: true, force: true });
  }
}

function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), 'terrace-browser-'));
}

/** The database lies in the folder `data` of the current one. */
function run(folder: string, address: string, { program, settings, environment }: Start): ChildProcess {
  return spawn(program, ['--listen', address, ...settings], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...environment, ...CHEAP_HASHES, RUST_LOG: 'error' },
  });
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

/** Waits for the line that names the address. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill();
      reject(new Error('the service does not start'));
    }, PATIENCE_MS);
    let printed = '';
    child.once('exit', (code) => reject(new Error(`the service ended with ${String(code)}`)));
    child.stdout?.on('data', (text: Buffer) => {
      printed += text.toString();
      const found = /listens on (http:\/\/\S+)/.exec(printed);
      if (!found?.[1]) return;
      clearTimeout(timer);
      resolve(found[1]);
    });
  });
}
