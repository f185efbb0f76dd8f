import { expect, test } from 'vitest';
import { Fan } from './fan';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const { service, browser } = await staged(Stage.open());

test('a pull at the top of the room reads it again, and nothing else does', async () => {
  const visitor = await Visitor.arrive(browser, service.url, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  const { page } = visitor;
  const loaded = page.waitForResponse(/PullToRefresh.*\.js/);
  await page.goto('/room');
  await page.getByRole('article').first().waitFor();
  await page.getByRole('heading', { name: 'Locker room' }).tap();
  await loaded;
  let reads = 0;
  page.on('request', (request) => {
    if (/\/api\/locker-room\?scope=all$/.test(request.url())) reads += 1;
  });
  const session = await page.context().newCDPSession(page);
  /** Drags a finger through these heights; `then` looks at the page before the finger lets go. */
  const drag = async (
    heights: number[],
    then: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> => {
    for (const [place, y] of heights.entries()) {
      const type = place === 0 ? 'touchStart' : 'touchMove';
      await session.send('Input.dispatchTouchEvent', { type, touchPoints: [{ x: 200, y }] });
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    await then();
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  };
  const still = (): Promise<unknown> => page.waitForLoadState('networkidle');
  const fan = await Fan.signIn(service.url);
  await fan.post('While the finger waits');
  await page.getByRole('button', { name: 'Show 1 new post' }).waitFor();

  // Too short, taken back, and scrolled to the top on the way.
  await drag([300, 320, 350]);
  await drag([300, 350, 450, 320]);
  await page.evaluate(() => scrollTo(0, 400));
  await drag([200, 300, 500, 700]);
  await page.evaluate(() => scrollTo(0, 0));
  await still();
  expect(reads).toBe(0);

  const read = page.waitForResponse(/\/api\/locker-room\?scope=all$/);
  await drag([300, 340, 380, 440], async () => {
    await page.locator('.pull[data-far=true]').waitFor();
  });
  await read;
  await page.getByRole('article').first().filter({ hasText: 'While the finger waits' }).waitFor();
  await page.locator('.pull').waitFor({ state: 'detached' });
  expect(reads).toBe(1);
  visitor.expectNoComplaints();
  await visitor.leave();
});
