import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { signIn } from './profile';

/** How long a page may take to show what a test waits for. */
const PATIENCE_MS = 30_000;

/** Fails if the page has a known defect of accessibility. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
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
    visitor.#listen(visitor.page);
    return visitor;
  }

  /** Opens another tab of the same profile. */
  async another(): Promise<Page> {
    const page = await this.#context.newPage();
    this.#listen(page);
    return page;
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

  #listen(page: Page): void {
    page.on('pageerror', (error) => this.complaints.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.complaints.push(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      const isOwn = request.url().startsWith(`${this.#origin}/`) || request.url().startsWith('data:');
      if (!isOwn) this.complaints.push(`foreign request: ${request.url()}`);
    });
  }
}
