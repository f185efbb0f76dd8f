import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Profile, governed, signIn } from './profile';
import { Proxy } from './proxy';
import { Service } from './service';
import { expectAccessible } from './visitor';

let service: Service | undefined;
let proxy: Proxy | undefined;

beforeAll(async () => {
  service = await Service.start(['--rate-limits', 'off']);
  proxy = await Proxy.before(service.url);
});

afterAll(async () => {
  await proxy?.close();
  await service?.stop();
});

/** What the worker keeps of an account. */
function keptLists(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    if (!(await caches.has('terrace-lists'))) return [];
    const keys = await (await caches.open('terrace-lists')).keys();
    return keys.map(({ url }) => new URL(url).pathname);
  });
}

test('without the service a new browser shows what was seen last, and how old it is', async () => {
  if (!service || !proxy) throw new Error('no service');
  const profile = new Profile(proxy.url);
  try {
    let page = await profile.open();
    await signIn(page);
    await governed(page);
    await page.reload();
    await page.getByRole('article').first().waitFor();
    await expect.poll(() => keptLists(page)).toContain('/api/locker-room');
    const { posts } = (await service.read('/api/locker-room?limit=1')) as {
      posts: { id: string; author: { displayName: string } }[];
    };
    await service.kill();

    page = await profile.open();
    await page.goto('/room');
    const alert = page.getByRole('alert').filter({ hasText: 'There is no connection to the service.' });
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/This is from \d\d:\d\d/);
    const first = page.getByRole('article').first();
    expect(await first.getAttribute('data-anchor')).toBe(`post-${posts[0]?.id ?? ''}`);
    // The account is known too: it can write.
    await page.getByLabel('Write to the room').waitFor();
    await page.goto('/table');
    await page.getByRole('heading', { name: 'The table didn’t load' }).waitFor();

    await service.restart();
    await page.goto('/room');
    await alert.waitFor({ state: 'detached' });
    await page.goto('/account');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').last().waitFor();
    await expect.poll(() => keptLists(page)).not.toContain('/api/user');
  } finally {
    await profile.remove();
  }
});

test('a page that was loaded past the worker is governed all the same', async () => {
  if (!proxy) throw new Error('no service');
  const profile = new Profile(proxy.url);
  try {
    const page = await profile.open();
    await page.goto('/room');
    await governed(page);
    const session = await page.context().newCDPSession(page);
    const loaded = page.waitForEvent('load');
    await session.send('Page.reload', { ignoreCache: true });
    await loaded;
    await governed(page);
    expect(await page.evaluate(() => navigator.serviceWorker.controller?.scriptURL)).toMatch(/\/sw\.js$/);
  } finally {
    await profile.remove();
  }
});

test('the client can be installed', async () => {
  if (!proxy) throw new Error('no service');
  const profile = new Profile(proxy.url);
  try {
    const page = await profile.open();
    await page.goto('/room');
    await governed(page);
    const session = await page.context().newCDPSession(page);
    const { errors } = (await session.send('Page.getAppManifest')) as { errors: unknown[] };
    expect(errors).toEqual([]);
    const { installabilityErrors } = (await session.send('Page.getInstallabilityErrors')) as {
      installabilityErrors: unknown[];
    };
    expect(installabilityErrors).toEqual([]);
    const manifest = (await (await page.request.get('/manifest.webmanifest')).json()) as {
      icons: { src: string; sizes: string }[];
      screenshots: { src: string; sizes: string }[];
      shortcuts: { url: string }[];
      share_target: { action: string; method: string; params: Record<string, string> };
    };
    for (const { src, sizes } of [...manifest.icons, ...manifest.screenshots].filter(
      (it) => it.sizes !== 'any',
    )) {
      expect(await sizeOf(page, src), src).toBe(sizes);
    }
    for (const { url } of manifest.shortcuts) {
      expect((await page.goto(url))?.status(), url).toBe(200);
    }
    const { action, method, params } = manifest.share_target;
    expect([action, method]).toEqual(['/share', 'GET']);
    const shared = new URLSearchParams({
      [params['text'] ?? '']: 'What a goal',
      [params['url'] ?? '']: 'https://club.test/goal',
    });
    // A guest signs in first.
    await page.goto(`${action}?${shared.toString()}`);
    await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Name', { exact: true }).fill('mia');
    await page.getByLabel('Password', { exact: true }).fill('terrace-demo');
    await page.getByRole('button', { name: 'Sign in', exact: true }).last().click();
    await page.waitForURL('**/room');
    const field = page.getByLabel('Write to the room');
    const text = 'What a goal\nhttps://club.test/goal';
    await expect.poll(() => field.inputValue()).toBe(text);
    // A second share goes below what is there.
    await page.goto(`${action}?${params['text'] ?? ''}=Never+offside`);
    await page.waitForURL('**/room');
    await expect.poll(() => field.inputValue()).toBe(`${text}\n\nNever offside`);
  } finally {
    await profile.remove();
  }
});

/** The size of a picture as a browser reads it. */
function sizeOf(page: Page, src: string): Promise<string> {
  return page.evaluate(async (address) => {
    const picture = await createImageBitmap(await (await fetch(address)).blob());
    return `${String(picture.width)}x${String(picture.height)}`;
  }, src);
}

test('a second build prompts, takes over and drops what was kept of the first', async () => {
  if (!proxy) throw new Error('no service');
  const profile = new Profile(proxy.url);
  const second = mkdtempSync(join(tmpdir(), 'terrace-build-'));
  try {
    const page = await profile.open();
    await page.goto('/room');
    await governed(page);
    const shells = (): Promise<string[]> =>
      page.evaluate(async () => (await caches.keys()).filter((name) => name.startsWith('terrace-shell-')));
    const before = await shells();
    expect(before).toHaveLength(1);

    await build({
      logLevel: 'silent',
      build: { outDir: second, emptyOutDir: true },
      plugins: [
        {
          name: 'second-build',
          enforce: 'pre',
          transform: (code, id) =>
            id.endsWith('/i18n/en.ts') ? code.replaceAll("'Locker room'", "'The second room'") : null,
        },
      ],
    });
    proxy.change((request) => {
      const name = ['/', '/room'].includes(request.path) ? '/index.html' : request.path;
      const file = join(second, name);
      if (name.startsWith('/api/') || !isFile(file)) return;
      const type = { js: 'text/javascript', css: 'text/css', html: 'text/html', svg: 'image/svg+xml' };
      const ending = name.slice(name.lastIndexOf('.') + 1) as keyof typeof type;
      request.answer = { type: type[ending] ?? 'application/octet-stream', body: readFileSync(file) };
    });
    await page.reload();
    await page.getByText('There is a new version.').waitFor();
    await expectAccessible(page);
    expect(await page.title()).not.toContain('The second room');
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'The second room' }).waitFor();
    await expect.poll(shells).toHaveLength(1);
    expect(await shells()).not.toEqual(before);
    expect(readdirSync(second)).toContain('sw.js');
  } finally {
    proxy.change(() => undefined);
    await profile.remove();
    rmSync(second, { recursive: true, force: true });
  }
});

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
