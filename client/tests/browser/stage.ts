import { chromium as playwright, type Browser, type LaunchOptions } from 'playwright-core';
import { Service, chromium } from './service';

/** A service and a browser, for the tests of one file. */
export class Stage {
  readonly service: Service;
  readonly browser: Browser;

  private constructor(service: Service, browser: Browser) {
    this.service = service;
    this.browser = browser;
  }

  static async open(settings: string[] = [], options: LaunchOptions = {}): Promise<Stage> {
    return Stage.of(await Service.start(settings), options);
  }

  static async of(service: Service, options: LaunchOptions = {}): Promise<Stage> {
    try {
      // Browsers that run as root have no sandbox.
      const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
      return new Stage(service, await playwright.launch({ executablePath: chromium(), args, ...options }));
    } catch (error) {
      await service.stop();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.service.stop();
  }
}
