import { crc32, deflateSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Fan } from './fan';
import { Stage } from './stage';
import { staged } from './staged';
import { Visitor } from './visitor';

const { service, browser } = await staged(Stage.open());

interface Post {
  id: string;
  body: string;
  editedAt: string | null;
  image: { width: number; height: number; alt: string | null } | null;
}

interface Comment {
  id: string;
  body: string;
  replyTo: string | null;
  likeCount: number;
  editedAt: string | null;
}

const newest = async (): Promise<Post | undefined> =>
  ((await service.read('/api/locker-room?limit=1')) as { posts: Post[] }).posts[0];

const commentsOf = async (post: string): Promise<Comment[]> =>
  ((await service.read(`/api/locker-room/${post}/comments`)) as { comments: Comment[] }).comments;

/** A grey picture of this size. */
function png(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc((width + 1) * height, 0x7f);
  for (let row = 0; row < height; row += 1) rows[row * (width + 1)] = 0;
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** What the service keeps of the reader's own account. */
async function kept(page: Page): Promise<Record<string, { reason: string; userId: string }[]>> {
  const answer = await page.request.get('/api/user/export');
  return (await answer.json()) as Record<string, { reason: string; userId: string }[]>;
}

async function arrive(width = 390): Promise<Visitor> {
  const visitor = await Visitor.arrive(browser, service.url, { viewport: { width, height: 844 } });
  await visitor.signIn();
  await visitor.page.getByRole('article').first().waitFor();
  return visitor;
}

test('a picture is checked, shown before it is sent, and moves nothing when it loads', async () => {
  const visitor = await arrive();
  const { page } = visitor;
  const field = page.getByLabel('Add a picture');
  await field.setInputFiles({ name: 'a.gif', mimeType: 'image/gif', buffer: Buffer.from('GIF89a') });
  await page.getByText('Only JPEG, PNG and WebP pictures can be sent.').waitFor();
  await field.setInputFiles({ name: 'b.png', mimeType: 'image/png', buffer: Buffer.alloc(5_300_000) });
  await page.getByText('At most 5 MB can be sent.').waitFor();

  await field.setInputFiles({ name: 'c.png', mimeType: 'image/png', buffer: png(1200, 900) });
  await page.getByRole('img', { name: 'The picture you send' }).waitFor();
  await visitor.expectAccessible();
  await page.getByLabel('What the picture shows').fill('A grey wall');
  await page.getByLabel('Write to the room').fill('Look at this #wall');
  await page.getByRole('button', { name: 'Post', exact: true }).click();
  const picture = page.getByRole('img', { name: 'A grey wall' });
  await picture.waitFor();
  expect(await newest()).toMatchObject({
    body: 'Look at this #wall',
    image: { width: 1200, height: 900, alt: 'A grey wall' },
  });

  // Without its bytes the picture has the height that it has with them.
  await page.route('**/media/**', (route) => route.abort());
  await page.reload();
  await picture.waitFor();
  const box = await picture.boundingBox();
  expect((box?.width ?? 0) / (box?.height ?? 1)).toBeCloseTo(1200 / 900, 1);
  await visitor.leave();
});

test('an own post is edited, and its mentions and topics are links', async () => {
  const visitor = await arrive();
  const { page } = visitor;
  await page.getByLabel('Write to the room').fill('Frist goal');
  await page.getByRole('button', { name: 'Post', exact: true }).click();
  const post = page.getByRole('article').first();
  await post.getByText('Frist goal').waitFor();
  await post.getByRole('button', { name: 'More about the post by Mia Carter' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByLabel('What it says').fill('First goal by @toonarmytess #derby');
  await visitor.expectAccessible();
  await page.getByRole('button', { name: 'Save' }).click();
  await post.getByText('edited').waitFor();
  const saved = await newest();
  expect(saved?.body).toBe('First goal by @toonarmytess #derby');
  expect(saved?.editedAt).not.toBeNull();

  await post.getByRole('link', { name: '#derby' }).click();
  await page.getByRole('heading', { name: '#derby' }).waitFor();
  await page.getByRole('article').first().getByRole('link', { name: '@toonarmytess' }).click();
  await page.getByRole('heading', { name: 'Tess Robson', level: 1 }).waitFor();
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('comments are answered, liked, edited, reported and deleted', async () => {
  const visitor = await arrive();
  const { page } = visitor;
  const other = await Fan.signUp(service.url, 'talker');
  const id = await other.post('What a match');
  await other.comment(id, 'And what an end');
  await page.goto(`/posts/${id}`);
  const [first] = await commentsOf(id);
  const comment = page.locator(`[data-anchor="comment-${first?.id ?? ''}"]`);
  const liked = page.waitForResponse('**/like');
  await comment.getByRole('button', { name: /^Like/ }).click();
  await comment.getByRole('button', { name: /^Like/, pressed: true }).waitFor();
  await liked;
  expect((await commentsOf(id))[0]?.likeCount).toBe(1);

  await comment.getByRole('button', { name: /^Reply to/ }).click();
  await page.getByText(/^You answer/).waitFor();
  await visitor.expectAccessible();
  await page.keyboard.type('I anser');
  await page.getByRole('button', { name: 'Send comment' }).click();
  const own = page.getByRole('article').filter({ hasText: 'I anser' });
  await own.waitFor();
  const reply = (await commentsOf(id)).find(({ body }) => body === 'I anser');
  expect(reply?.replyTo).toBe(first?.id);

  const shown = page.locator(`[data-anchor="comment-${reply?.id ?? ''}"]`);
  await shown.getByRole('button', { name: 'More about the comment by Mia Carter' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByLabel('What it says').fill('I answer');
  await page.getByRole('button', { name: 'Save' }).click();
  await shown.getByText('edited').waitFor();
  expect((await commentsOf(id)).map(({ body }) => body)).toContain('I answer');

  await comment.getByRole('button', { name: /^More about the comment/ }).click();
  await page.getByRole('button', { name: 'Report' }).click();
  await page.getByLabel('Something else').check();
  await page.getByLabel('In your words (optional)').fill('It spoils the result');
  await visitor.expectAccessible();
  await page.getByRole('button', { name: 'Send report' }).click();
  await page.getByText('Thank you. The report is sent.').first().waitFor();
  expect((await kept(page))['commentReports']).toMatchObject([{ reason: 'other: It spoils the result' }]);

  await shown.getByRole('button', { name: /^More about the comment/ }).click();
  await page.getByRole('button', { name: 'Delete comment' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete comment' }).click();
  await shown.waitFor({ state: 'detached' });
  expect((await commentsOf(id)).map((it) => it.id)).not.toContain(reply?.id);
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('a fan is followed, blocked and freed again', async () => {
  const visitor = await arrive(1280);
  const { page } = visitor;
  await page.goto('/fans');
  const row = page
    .getByRole('listitem')
    .filter({ has: page.getByRole('button', { name: /^Don’t suggest/ }) })
    .first();
  const address = (await row.getByRole('link').first().getAttribute('href')) ?? '';
  const { id } = (await service.read(`/api/users/by-name/${address.split('/').at(-1) ?? ''}`)) as {
    id: string;
  };
  const following = async (): Promise<unknown> => {
    const answer = await page.request.get(`/api/users/${id}`);
    return answer.ok() ? ((await answer.json()) as { following: boolean }).following : answer.status();
  };
  const followed = page.waitForResponse('**/api/user/follow');
  await row.getByRole('button', { name: /^Follow/, pressed: false }).click();
  await row.getByRole('button', { name: /^Following/, pressed: true }).waitFor();
  await followed;
  expect(await following()).toBe(true);

  await row.getByRole('link').first().click();
  await page.getByRole('button', { name: 'Block', exact: true }).click();
  await visitor.expectAccessible();
  await page.getByRole('dialog').getByRole('button', { name: 'Block', exact: true }).click();
  await page.waitForURL('**/blocks');
  expect(await following()).toBe(404);
  expect((await kept(page))['blocks']).toMatchObject([{ userId: id }]);

  await page.getByRole('button', { name: /^Unblock/ }).click();
  await page.getByRole('heading', { name: 'You block no one' }).waitFor();
  expect(await following()).toBe(false);
  await visitor.leave();
});

test('suggestions are chosen by keyboard, and a search can be shared', async () => {
  const visitor = await arrive(1280);
  const { page } = visitor;
  await page.goto('/search');
  const field = page.getByRole('combobox');
  await field.pressSequentially('arsen');
  await page.getByRole('option').first().waitFor();
  await visitor.expectAccessible();
  await page.keyboard.press('ArrowDown');
  await page.getByRole('option', { name: 'Arsenal', exact: true, selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Arsenal', level: 1 }).waitFor();

  await page.goto('/search');
  await field.fill('tess');
  await page.keyboard.press('Enter');
  await page
    .getByRole('link', { name: /Tess Robson/ })
    .first()
    .waitFor();
  expect(new URL(page.url()).search).toBe('?q=tess');
  await field.fill('nobody is called this');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Nothing found for “nobody is called this”' }).waitFor();
  visitor.expectNoComplaints();
  await visitor.leave();
});

test('a team is followed on its page', async () => {
  const visitor = await arrive();
  const { page } = visitor;
  const { teams } = (await service.read('/api/search?q=ajax&kind=teams')) as {
    teams: { id: string; followerCount: number }[];
  };
  const [team = { id: '', followerCount: 0 }] = teams;
  const count = async (): Promise<number> =>
    ((await service.read(`/api/teams/${team.id}`)) as { team: { followerCount: number } }).team.followerCount;
  await page.goto(`/teams/${team.id}`);
  const sent = page.waitForResponse('**/api/user/follow');
  await page.getByRole('button', { name: 'Follow Ajax', pressed: false }).click();
  await page.getByRole('button', { name: 'Following Ajax', pressed: true }).waitFor();
  await sent;
  expect(await count()).toBe(team.followerCount + 1);
  await page.reload();
  await page.getByRole('button', { name: 'Following Ajax', pressed: true }).waitFor();
  visitor.expectNoComplaints();
  await visitor.leave();
});
