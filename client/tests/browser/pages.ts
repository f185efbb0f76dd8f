import type { Locator, Page } from 'playwright-core';
import { paths, type RouteName } from '../../src/lib/router/paths';
import { PRICE, bought } from './collector';
import { readAs } from './member';
import type { Service } from './service';
import { ordered, productOf, put } from './shopper';
import { claimed } from './claimant';
import { joined } from './quizmaster';
import { spun } from './spinner';
import type { Visitor } from './visitor';

type Signs = Record<RouteName, (main: Locator) => Locator>;

/** What each page shows to the demo's fan once it is read. */
const signs: Signs = {
  home: (main) => main.getByRole('heading', { name: /in a row$/ }),
  room: (main) => main.getByRole('article').first(),
  // What is shared becomes a draft of the room.
  share: (main) => main.getByRole('article').first(),
  post: (main) => main.getByRole('article').first(),
  tag: (main) => main.getByRole('article').first(),
  trends: (main) => main.getByRole('article').first(),
  search: (main) => main.getByRole('combobox'),
  team: (main) => main.getByRole('article').first(),
  fans: (main) => main.getByRole('listitem').nth(8),
  fan: (main) => main.getByRole('article').first(),
  followers: (main) => main.getByRole('heading', { name: /fans?$/ }),
  followed: (main) => main.getByRole('heading', { name: /fans?$/ }),
  blocks: (main) => main.getByRole('heading', { name: 'You block no one' }),
  table: (main) => main.getByRole('table'),
  quests: (main) => main.getByRole('heading', { name: 'Open', exact: true }),
  quest: (main) => main.getByRole('listitem').first(),
  achievements: (main) => main.getByRole('progressbar').first(),
  packs: (main) => main.getByRole('listitem').first(),
  pack: (main) => main.getByRole('table'),
  copy: (main) => main.getByRole('button', { name: 'Open the pack' }),
  ownPacks: (main) => main.getByRole('heading', { name: /^To open/ }),
  purchase: (main) => main.getByRole('heading', { name: 'It is yours' }),
  album: (main) => main.getByRole('heading', { name: 'Legendary' }),
  collection: (main) => main.getByRole('listitem').first(),
  balances: (main) => main.getByRole('listitem').first(),
  rewards: (main) => main.getByRole('listitem').first(),
  reward: (main) => main.getByRole('button', { name: /^Claim/ }),
  ownRewards: (main) => main.getByRole('heading', { name: 'To use' }),
  claim: (main) => main.getByRole('button', { name: 'Show the code' }),
  wheels: (main) => main.getByRole('listitem').first(),
  wheel: (main) => main.getByRole('table', { name: 'The odds' }),
  spins: (main) => main.getByText('The draw is true').first(),
  trivia: (main) => main.getByRole('listitem').first(),
  round: (main) => main.getByRole('table'),
  ownRounds: (main) => main.getByRole('listitem').first(),
  statement: (main) => main.getByText('Balance after', { exact: true }),
  wallets: (main) => main.getByText('What it holds'),
  shop: (main) => main.getByRole('listitem').first(),
  product: (main) => main.getByRole('button', { name: 'Add to cart' }),
  cart: (main) => main.getByRole('list', { name: 'What is in it' }),
  checkout: (main) => main.getByRole('button', { name: /^Order and pay/ }),
  orders: (main) => main.getByRole('listitem').first(),
  order: (main) => main.getByRole('heading', { name: 'Everything is yours' }),
  notifications: (main) => main.getByRole('listitem').first(),
  settings: (main) => main.getByRole('link', { name: /Devices/ }),
  settingsProfile: (main) => main.getByLabel('What others read'),
  settingsPassword: (main) => main.getByLabel('New password'),
  settingsDevices: (main) => main.getByText('This device'),
  settingsNotifications: (main) => main.getByRole('switch').first(),
  settingsData: (main) => main.getByRole('button', { name: 'Delete the account' }),
  account: (main) => main.getByRole('button', { name: 'Sign out' }),
  signIn: (main) => main.getByLabel('Password', { exact: true }),
  signUp: (main) => main.getByLabel('Password', { exact: true }),
  chooseTeam: (main) => main.getByRole('listitem').nth(10),
};

/** An address of each page, with content for the demo's fan, who is signed in and buys a pack and in the shop. */
export async function addresses(page: Page, service: Service): Promise<[RouteName, string][]> {
  // The start page would celebrate it.
  await page.request.post('/api/quests/daily-visit', { data: {} });
  const { posts } = await readAs<{ posts: { id: string }[] }>(page, '/api/locker-room?limit=1');
  const { teams } = await readAs<{ teams: { id: string }[] }>(page, '/api/search?q=arsenal&kind=teams');
  const { quests } = await readAs<{ quests: { id: string }[] }>(page, '/api/quests');
  service.giveCoins('mia', PRICE);
  const { packId, id: copyId } = await bought(page);
  const { purchases } = await readAs<{ purchases: { id: string }[] }>(page, '/api/user/purchases');
  service.giveCoins('mia', 30);
  for (const key of ['home-shirt', 'knitted-scarf']) await put(page, key, 0);
  await put(page, 'wallpaper');
  const { id: order } = await ordered(page);
  // The second line costs coins too, which the fan may lack.
  await put(page, 'home-shirt', 2);
  await put(page, 'knitted-scarf', 1, 1);
  const { claim, reward } = await claimed(page, service);
  const { id: product } = await productOf(page, 'home-shirt');
  const ids: Partial<Record<RouteName, string | undefined>> = {
    post: posts[0]?.id,
    team: teams[0]?.id,
    quest: quests[0]?.id,
    pack: packId,
    copy: packId,
    purchase: purchases[0]?.id,
    product,
    order,
    reward,
    claim,
    wheel: await spun(page),
    round: await joined(page),
  };
  const names = Object.keys(paths) as RouteName[];
  return names.map((name) => [
    name,
    paths[name]
      .replace('{id}', ids[name] ?? '')
      .replace('{copyId}', copyId)
      .replace('{tag}', 'matchday')
      .replace('{username}', 'toonarmytess'),
  ]);
}

/** Waits until the page of this address is read. */
export async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForFunction(() => document.querySelector('main .skeleton') === null);
}

/** Opens a page as the demo's fan, who is signed in, and waits until it shows what it is for. */
export async function open(page: Page, name: RouteName, address: string): Promise<void> {
  await page.goto(address);
  await signs[name](page.getByRole('main')).waitFor();
  await settle(page);
}

/** Does the same for each of some items in the page of a visitor and in a second tab, which share the work. */
export async function inTwoTabs<Item>(
  visitor: Visitor,
  items: readonly Item[],
  check: (tab: Page, item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const checkLeft = async (tab: Page): Promise<void> => {
    for (const item of left) await check(tab, item);
  };
  await Promise.all([checkLeft(visitor.page), checkLeft(await visitor.another())]);
}
