import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How long the service may take to start on a slow machine. */
const PATIENCE_MS = 180_000;

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run \`cargo xtask client test\``);
  return value;
}

/** The browser that is used. */
export const chromium = (): string => variable('CHROMIUM');

/** A debug build of the service with a database of its own. */
export class Service {
  readonly url: string;
  #process: ChildProcess;
  readonly #folder: string;
  readonly #settings: string[];

  private constructor(url: string, process: ChildProcess, folder: string, settings: string[]) {
    this.url = url;
    this.#process = process;
    this.#folder = folder;
    this.#settings = settings;
  }

  static async start(settings: string[] = []): Promise<Service> {
    const folder = mkdtempSync(join(tmpdir(), 'terrace-browser-'));
    const child = run(folder, '127.0.0.1:0', settings);
    return new Service(await listening(child), child, folder, settings);
  }

  /** Ends the process, as a crash does; the database stays. */
  async kill(): Promise<void> {
    await end(this.#process, 'SIGKILL');
  }

  /** Starts the process again at its address, with its database. */
  async restart(): Promise<void> {
    await this.kill();
    this.#process = run(this.#folder, `127.0.0.1:${new URL(this.url).port}`, this.#settings);
    await listening(this.#process);
  }

  /** Reads a path of the API as JSON, signed out. */
  async read(path: string): Promise<unknown> {
    const answer = await fetch(this.url + path, { headers: { accept: 'application/json' } });
    if (!answer.ok) throw new Error(`${path}: ${String(answer.status)}`);
    return answer.json();
  }

  async stop(): Promise<void> {
    await end(this.#process, 'SIGTERM');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function run(folder: string, address: string, settings: string[]): ChildProcess {
  return spawn(
    variable('TERRACE_BIN'),
    ['--listen', address, '--data-dir', join(folder, 'data'), ...settings],
    {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, RUST_LOG: 'error' },
    },
  );
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
