import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { expect, test } from 'vitest';
import { Fan } from '../browser/fan';
import { signIn } from '../browser/profile';
import { Stage } from '../browser/stage';

const SIZES = {
  phone: { viewport: { width: 390, height: 844 }, columns: 6, width: 260 },
  desktop: { viewport: { width: 1280, height: 800 }, columns: 2, width: 640 },
} as const;
const SCHEMES = ['light', 'dark'] as const;
/** What the manifest shows before the client is installed: the place of a page, and the file. */
const OF_MANIFEST = { phone: [0, 'narrow.png'], desktop: [6, 'wide.png'] } as const;
const PUBLIC = new URL('../../public/screenshots/', import.meta.url);

/** The pages that are shown, in the order of the sheets. */
async function pages(fan: Fan): Promise<string[]> {
  const first = async (path: string, list: string): Promise<string> => {
    const [row] = ((await fan.read(path)) as Record<string, { id: string }[]>)[list] ?? [];
    if (!row) throw new Error(`${path} is empty`);
    return row.id;
  };
  return [
    '/',
    '/room',
    `/posts/${await first('/api/locker-room', 'posts')}`,
    '/fans/mia',
    `/quests/${await first('/api/quests', 'quests')}`,
    `/packs/${await first('/api/packs', 'packs')}`,
    '/table',
    '/shop',
    '/rewards',
    '/wheels',
    '/trivia',
  ];
}

/** One picture of each page. */
async function take(browser: Browser, origin: string, options: BrowserContextOptions): Promise<Buffer[]> {
  const context = await browser.newContext({ baseURL: origin, locale: 'en-GB', ...options });
  try {
    const page = await context.newPage();
    await signIn(page);
    // What the first visit of the day pays would cover the start page.
    const moment = page.getByRole('button', { name: 'Carry on' });
    const pictures = [];
    for (const path of await pages(await Fan.signIn(origin))) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.waitForLoadState('networkidle');
      if (await moment.isVisible()) await moment.click();
      pictures.push(await page.screenshot({ animations: 'disabled' }));
    }
    return pictures;
  } finally {
    await context.close();
  }
}

/** All pictures on one sheet. */
async function sheet(browser: Browser, pictures: Buffer[], columns: number, width: number): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: columns * (width + 16) + 16, height: 600 } });
  try {
    const images = pictures.map(
      (picture) => `<img width="${String(width)}" src="data:image/png;base64,${picture.toString('base64')}">`,
    );
    const style = `body { display: grid; grid-template-columns: repeat(${String(columns)}, ${String(width)}px);
      gap: 16px; margin: 16px; background: #808890 } img { border-radius: 12px }`;
    await page.setContent(`<!doctype html><style>${style}</style>${images.join('')}`);
    return await page.screenshot({ fullPage: true, type: 'jpeg', quality: 82 });
  } finally {
    await page.close();
  }
}

test('pictures of eleven pages, on a phone and a desktop, light and dark', async () => {
  const folder = process.env['TERRACE_SCREENSHOTS'];
  if (folder === undefined) throw new Error('TERRACE_SCREENSHOTS is not set');
  mkdirSync(folder, { recursive: true });
  const stage = await Stage.open(['--rate-limits', 'off']);
  try {
    for (const size of ['phone', 'desktop'] as const) {
      const { viewport, columns, width } = SIZES[size];
      for (const colorScheme of SCHEMES) {
        const options = { viewport, colorScheme, reducedMotion: 'reduce' } as const;
        const pictures = await take(stage.browser, stage.service.url, options);
        expect(pictures).toHaveLength(11);
        const file = join(folder, `${size}-${colorScheme}.jpg`);
        writeFileSync(file, await sheet(stage.browser, pictures, columns, width));
        const [place, name] = OF_MANIFEST[size];
        const picture = pictures[place];
        if (picture && colorScheme === 'light') writeFileSync(new URL(name, PUBLIC), picture);
      }
    }
  } finally {
    await stage.close();
  }
});
