import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { Deferred, problem } from '$lib/api/testing';
import { en } from '$lib/i18n/en';
import { enFans } from '$lib/i18n/en-fans';
import { Texts } from '$lib/i18n/texts.svelte';
import { World, ada } from '../../../tests/world';
import Composer from './Composer.svelte';
import PostPage from './PostPage.svelte';
import RoomPage from './RoomPage.svelte';
import type { Draft } from './room.svelte';
import { aComment, aPost } from './testing';

/** How long a busy machine may take. */
const PATIENCE_MS = 20_000;

/** The room, whose list the test answers. */
async function openRoom(
  reply: () => ReturnType<typeof problem> | Promise<ReturnType<typeof problem>>,
): Promise<World> {
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      observe(): void {
        // The end of the list is never near.
      }
      disconnect(): void {
        // Nothing is observed.
      }
    },
  );
  // The texts of other pages come with them.
  const world = new World(new Texts());
  await world.signIn();
  world.fake.on('GET /api/locker-room', reply);
  world.show(RoomPage, {});
  return world;
}

const list = (posts: ReturnType<typeof aPost>[]): { body: unknown } => ({
  body: { posts, nextCursor: null, streamPosition: 1 },
});

test('the room loads, then shows its posts', async () => {
  const answer = new Deferred<{ body: unknown }>();
  await openRoom(() => answer.promise);
  expect(await screen.findByRole('status', { name: en.state.loading })).toBeTruthy();
  answer.resolve(list([aPost('1', { body: 'Up the terrace' })]));
  expect(await screen.findByText('Up the terrace')).toBeTruthy();
  expect(screen.queryByRole('status', { name: en.state.loading })).toBeNull();
});

test('the menu of a post loads what it says', async () => {
  await openRoom(() => list([aPost('1')]));
  const { displayName } = aPost('1').author;
  await userEvent.click(await screen.findByRole('button', { name: en.post.menu(displayName) }));
  const title = enFans.item.post.title;
  expect(await screen.findByRole('heading', { name: title }, { timeout: PATIENCE_MS })).toBeTruthy();
});

test('an empty room offers to write', async () => {
  await openRoom(() => list([]));
  expect(await screen.findByRole('heading', { name: en.room.emptyTitle })).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: en.room.emptyAction }));
  expect(document.activeElement).toBe(screen.getByLabelText(en.room.write));
});

test('a failed room says why and can be read again', async () => {
  let isBusy = true;
  await openRoom(() => (isBusy ? problem(503, 'unavailable') : list([aPost('1')])));
  const alert = await screen.findByRole('alert');
  expect(within(alert).getByText(en.failure.unavailable)).toBeTruthy();
  isBusy = false;
  await userEvent.click(within(alert).getByRole('button', { name: en.state.retry }));
  expect(await screen.findByText('Post 1')).toBeTruthy();
  expect(screen.queryByRole('alert')).toBeNull();
});

test('an old room stays on the screen with its age', async () => {
  let isBusy = false;
  const world = await openRoom(() => (isBusy ? problem(503, 'unavailable') : list([aPost('1')])));
  await screen.findByText('Post 1');
  isBusy = true;
  await userEvent.click(screen.getByRole('button', { name: en.room.refresh }));
  const alert = await screen.findByRole('alert');
  const { state } = world.room.feed('all').first;
  const age = state.kind === 'failed' && state.old ? world.texts.time(state.old.at) : 'none';
  expect(alert.textContent).toContain(age);
  expect(screen.getByText('Post 1')).toBeTruthy();
});

test('a reaction shows at once, and a refused one is taken back with its reason', async () => {
  const answer = new Deferred<ReturnType<typeof problem>>();
  const world = await openRoom(() => list([aPost('1')]));
  world.fake.on('POST /api/locker-room/1/react', () => answer.promise);
  await userEvent.click(await screen.findByRole('button', { name: en.reaction.add }));
  await userEvent.click(screen.getByRole('button', { name: en.reaction.kinds.fire }));
  const chip = await screen.findByRole('button', { name: 'Fire, 1', pressed: true });
  answer.resolve(problem(429, 'rate_limited'));
  expect(await screen.findByText(new RegExp(en.failure.rate_limited))).toBeTruthy();
  expect(chip.isConnected).toBe(false);
});

test('a text that is refused stays, with the reason', async () => {
  const world = new World();
  await world.signIn();
  world.show(Composer, {
    place: 'fan-ada:room',
    label: 'Write',
    placeholder: '',
    action: 'Post',
    done: 'Posted',
    onsend: (draft: Draft) => world.room.publish(draft),
  });
  world.fake.on('POST /api/locker-room', () => problem(422, 'validation_failed'));
  const field = screen.getByLabelText<HTMLTextAreaElement>('Write');
  await userEvent.type(field, 'Up the terrace');
  await userEvent.click(screen.getByRole('button', { name: 'Post' }));
  expect(await screen.findByText(en.failure.validation_failed)).toBeTruthy();
  expect(field.value).toBe('Up the terrace');
  world.fake.on('POST /api/locker-room', () => ({ status: 201, body: { post: aPost('2') } }));
  await userEvent.click(screen.getByRole('button', { name: 'Post' }));
  await vi.waitFor(() => expect(field.value).toBe(''), PATIENCE_MS);
  expect(world.announcer.polite).toBe('Posted');
});

test('new posts wait behind a button, and are shown and counted when it is pressed', async () => {
  vi.stubGlobal('scrollTo', vi.fn());
  const world = await openRoom(() => list([aPost('1')]));
  await screen.findByText('Post 1');
  const told = (post: ReturnType<typeof aPost>): void =>
    world.room.onevent({ name: 'post.created', data: { post, channels: ['room'] } });
  told(aPost('2'));
  told(aPost('3'));
  told(aPost('3'));
  const button = await screen.findByRole('button', { name: 'Show 2 new posts' });
  expect(screen.getAllByRole('article')).toHaveLength(1);
  await userEvent.click(button);
  expect(await screen.findAllByRole('article')).toHaveLength(3);
  expect(screen.queryByRole('button', { name: /new post/ })).toBeNull();
  expect(world.announcer.polite).toBe('2 new posts');
});

test('a text without a connection waits in sight, and what was refused is given back', async () => {
  const world = await openRoom(() => list([aPost('1')]));
  await screen.findByText('Post 1');
  world.fake.on('POST /api/locker-room', () => ({ status: 0 }));
  await userEvent.type(screen.getByLabelText(en.room.write), 'Up the terrace');
  await userEvent.click(screen.getByRole('button', { name: en.room.post }));
  const waiting = within(await screen.findByRole('list', { name: en.outbox.label }));
  expect(waiting.getByText('Up the terrace')).toBeTruthy();
  expect(world.announcer.polite).toBe(en.outbox.kept);
  world.fake.on('POST /api/locker-room', () => problem(403, 'forbidden'));
  await world.outbox.flush();
  expect(await waiting.findByText(new RegExp(en.failure.forbidden))).toBeTruthy();
  await userEvent.click(waiting.getByRole('button', { name: en.outbox.discard }));
  await vi.waitFor(
    () => expect(screen.queryByRole('list', { name: en.outbox.label })).toBeNull(),
    PATIENCE_MS,
  );
});

test('a comment is added below the post and counted', async () => {
  const world = new World();
  await world.signIn();
  const author = { id: ada.id, username: 'ada', displayName: 'Ada', pictureUrl: null };
  const comment = aComment('c1', { author, body: 'Well said' });
  world.fake
    .on('GET /api/locker-room', () => list([]))
    .on('GET /api/locker-room/1', () => ({ body: { post: aPost('1') } }))
    .on('GET /api/locker-room/1/comments', () => ({ body: { comments: [], nextCursor: null } }))
    .on('POST /api/locker-room/1/comments', () => ({ status: 201, body: { comment } }));
  world.show(PostPage, { params: { id: '1' } });
  expect(await screen.findByRole('heading', { name: enFans.comments.none })).toBeTruthy();
  await userEvent.type(screen.getByLabelText(enFans.comments.write), 'Well said');
  await userEvent.click(screen.getByRole('button', { name: enFans.comments.send }));
  expect(await screen.findByRole('heading', { name: '1 comment' })).toBeTruthy();
  const [added] = screen.getAllByRole('listitem');
  expect(added?.textContent).toContain('Well said');
});
