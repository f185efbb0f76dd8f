import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright, type BrowserContext, type Page } from 'playwright-core';
import { chromium } from './service';

/** How long a page may take to show what a test waits for. */
const PATIENCE_MS = 15_000;

/** A browser profile on disk: what it keeps survives the browser's process. */
export class Profile {
  readonly #origin: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'terrace-profile-'));
  #context: BrowserContext | undefined;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Starts a browser with this profile and returns its page. */
  async open(): Promise<Page> {
    await this.#context?.close();
    // Browsers that run as root have no sandbox.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    this.#context = await playwright.launchPersistentContext(this.#folder, {
      executablePath: chromium(),
      args,
      baseURL: this.#origin,
      locale: 'en-GB',
      viewport: { width: 390, height: 844 },
    });
    this.#context.setDefaultTimeout(PATIENCE_MS);
    return this.#context.pages()[0] ?? this.#context.newPage();
  }

  /** Ends the browser as a crash does: what it has not written down is lost. */
  async kill(): Promise<void> {
    const browser = this.#context?.browser();
    const session = await browser?.newBrowserCDPSession();
    const { processInfo } = (await session?.send('SystemInfo.getProcessInfo')) ?? { processInfo: [] };
    const process_ = processInfo.find(({ type }) => type === 'browser');
    if (!browser || !process_) throw new Error('no browser to kill');
    const gone = new Promise((resolve) => browser.once('disconnected', resolve));
    process.kill(process_.id, 'SIGKILL');
    await gone;
    this.#context = undefined;
  }

  async remove(): Promise<void> {
    await this.#context?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Signs a fan in, by default that of the demo content, and shows the room. */
export async function signIn(page: Page, username = 'mia', password = 'terrace-demo'): Promise<void> {
  await page.goto('/sign-in?next=/room');
  await page.getByLabel('Name', { exact: true }).fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).last().click();
  await page.waitForURL('**/room');
  await page.getByRole('article').first().waitFor();
}

/** Notes that the browser has a session, as the client does after a sign-in. */
export async function noteSession(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    // A tab that shows no page yet has no storage.
    if (location.protocol !== 'about:') localStorage.setItem('terrace:session', 'signed-in');
  });
}

/**
 * Waits until the service worker governs the page. The browser does not keep a page for Back that a worker claims after it
 * was left.
 */
export async function governed(page: Page): Promise<void> {
  await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
}

/**
 * Lets the service do what the page asks for, and loses its answers. Returns what ends that, once the answers are lost that
 * are under way.
 */
export async function loseAnswers(page: Page, address: string): Promise<() => Promise<void>> {
  // Once a worker governs the page, no request can pass by while it takes over.
  await governed(page);
  await page.route(address, async (route) => {
    await route.fetch();
    await route.abort();
  });
  // A request was seen to pass by, probably on a way from before the worker took over. A new document has no such way.
  if (await isAnswered(page, address.replace('**', '/probe'))) await page.reload();
  return () => page.unrouteAll({ behavior: 'wait' });
}

async function isAnswered(page: Page, address: string): Promise<boolean> {
  return page.evaluate(
    (address) =>
      fetch(address, { method: 'POST' }).then(
        () => true,
        () => false,
      ),
    address,
  );
}
