import type { Locator } from 'playwright-core';
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

interface Post {
  body: string;
  author: { username: string };
}

test('a post written without the service is there once, though the browser restarts and the first answer is lost', async () => {
  if (!service || !proxy) throw new Error('no service');
  const body = 'Written in the tunnel';
  const profile = new Profile(proxy.url);
  try {
    let page = await profile.open();
    await signIn(page);
    await governed(page);
    await page.reload();
    await page.getByRole('article').first().waitFor();
    await service.kill();

    await page.getByLabel('Write to the room').fill(body);
    await page.getByRole('button', { name: 'Post', exact: true }).click();
    const waiting = (): Locator => page.getByRole('list', { name: 'Not sent yet' });
    await waiting().filter({ hasText: body }).waitFor();
    expect(await page.getByLabel('Write to the room').inputValue()).toBe('');
    await expectAccessible(page);

    page = await profile.open();
    await page.goto('/room');
    await waiting().filter({ hasText: body }).waitFor();

    const keys: string[] = [];
    proxy.change((request) => {
      if (request.method !== 'POST' || request.path !== '/api/locker-room') return;
      keys.push(String(request.headers['idempotency-key']));
      request.isCutOff = keys.length === 1;
    });
    await service.restart();
    page = await profile.open();
    await page.goto('/room');
    await expect.poll(() => keys.length).toBe(1);
    await waiting().filter({ hasText: body }).waitFor();
    const written = async (): Promise<Post[]> => {
      const list = (await service?.read('/api/locker-room?limit=10')) as { posts: Post[] };
      return list.posts.filter((post) => post.body === body);
    };
    await expect.poll(written).toHaveLength(1);

    // What a browser says when it is connected again.
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await waiting().waitFor({ state: 'detached' });
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    expect(await written()).toMatchObject([{ author: { username: 'mia' } }]);
    await page.reload();
    await expect.poll(() => page.getByRole('article').filter({ hasText: body }).count()).toBe(1);
    expect(keys).toHaveLength(2);
  } finally {
    proxy.change(() => undefined);
    await profile.remove();
  }
});
