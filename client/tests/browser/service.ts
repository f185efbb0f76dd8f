import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How long the service may take to start on a slow machine. */
const PATIENCE_MS = 60_000;

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
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(url: string, process: ChildProcess, folder: string) {
    this.url = url;
    this.#process = process;
    this.#folder = folder;
  }

  static async start(settings: string[] = []): Promise<Service> {
    const folder = mkdtempSync(join(tmpdir(), 'terrace-browser-'));
    const child = spawn(
      variable('TERRACE_BIN'),
      ['--listen', '127.0.0.1:0', '--data-dir', join(folder, 'data'), ...settings],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, RUST_LOG: 'warn' },
      },
    );
    const url = await listening(child);
    return new Service(url, child, folder);
  }

  /** Reads a path of the API as JSON, signed out. */
  async read(path: string): Promise<unknown> {
    const answer = await fetch(this.url + path, { headers: { accept: 'application/json' } });
    if (!answer.ok) throw new Error(`${path}: ${String(answer.status)}`);
    return answer.json();
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGTERM');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Waits for the line that names the address. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the service does not start')), PATIENCE_MS);
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
