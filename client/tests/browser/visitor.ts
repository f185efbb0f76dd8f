import axe, { type RunOptions } from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFailed } from 'vitest';
import { signIn } from './profile';

/** How long a page may take to show what a test waits for. */
const PATIENCE_MS = 30_000;

/** What the browser of a test says in place of registering a service worker. */
export const NO_WORKER = 'Service Worker registration blocked by Playwright';

/** Long lists repeat their rows. */
const REPEATED = [':is(li, tr):nth-child(n + 13)', '[role=feed] > :nth-child(n + 13)'];

/** What fades in has little contrast meanwhile. */
const STILL = '*, ::before, ::after { animation: none !important; transition: none !important; }';

/** Fails if the page has a known defect of accessibility, of those that are looked for. */
export async function expectAccessible(page: Page, options: RunOptions = {}): Promise<void> {
  // What scripts move comes to its end.
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every(
        ({ effect, playState }) =>
          playState !== 'running' || effect?.getComputedTiming().endTime === Infinity,
      ),
  );
  // It is large: a document gets it once.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const found = await page.evaluate(
    async ([exclude, chosen, css]) => {
      const { axe: program } = globalThis as unknown as { axe: typeof axe };
      const still = new CSSStyleSheet();
      still.replaceSync(css);
      // A message may come while it looks.
      document.adoptedStyleSheets.push(still);
      const { violations } = await program.run(
        { exclude },
        { ...chosen, preload: false, resultTypes: ['violations'] },
      );
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== still);
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
    },
    [REPEATED, options, STILL] as const,
  );
  expect(found, page.url()).toEqual([]);
}

/** A browser profile of its own that notes everything which a browser complains about. */
export class Visitor {
  readonly page: Page;
  readonly complaints: string[] = [];
  readonly #context: BrowserContext;
  readonly #origin: string;

  private constructor(context: BrowserContext, page: Page, origin: string) {
    this.#context = context;
    this.page = page;
    this.#origin = origin;
  }

  static async arrive(
    browser: Browser,
    origin: string,
    options: BrowserContextOptions = {},
  ): Promise<Visitor> {
    const context = await browser.newContext({ baseURL: origin, locale: 'en-GB', ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    const visitor = new Visitor(context, await context.newPage(), origin);
    visitor.#listen();
    onTestFailed(() => visitor.#showPage());
    return visitor;
  }

  /** Opens another tab of the same profile. */
  another(): Promise<Page> {
    return this.#context.newPage();
  }

  /** Signs in as the fan of the demo content. */
  signIn(): Promise<void> {
    return signIn(this.page);
  }

  /** Signs a fan up who has earned and bought nothing yet. */
  async signUp(username: string, password = 'a scarf on row 14'): Promise<void> {
    await this.page.goto('/sign-up');
    await this.page.getByLabel('Name', { exact: true }).fill(username);
    await this.page.getByLabel('Password', { exact: true }).fill(password);
    await this.page.getByRole('button', { name: 'Create account' }).click();
    await this.page.getByRole('heading', { name: 'Choose your club' }).waitFor();
  }

  /** Fails if the browser complained about anything. */
  expectNoComplaints(): void {
    expect(this.complaints).toEqual([]);
  }

  async expectAccessible(): Promise<void> {
    await expectAccessible(this.page);
  }

  async leave(): Promise<void> {
    await this.#context.close();
  }

  /** What the page shows when its test has failed is often the reason. */
  async #showPage(): Promise<void> {
    const text = await this.page.locator('body').innerText({ timeout: 1000 }).catch(String);
    console.info(`${this.page.url()} shows:\n${text}\n${this.complaints.join('\n')}`);
  }

  /** To all pages, and to the service worker. */
  #listen(): void {
    this.#context.on('weberror', (error) => this.complaints.push(`error: ${error.error().message}`));
    this.#context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.complaints.push(`console: ${message.text()}`);
    });
    this.#context.on('request', (request) => {
      const isOwn = request.url().startsWith(`${this.#origin}/`) || request.url().startsWith('data:');
      if (!isOwn) this.complaints.push(`foreign request: ${request.url()}`);
    });
  }
}
