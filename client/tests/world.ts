import { render } from '@testing-library/svelte';
import type { Component } from 'svelte';
import { setApi } from '$lib/api/context';
import { FakeApi } from '$lib/api/testing';
import type { OwnProfile } from '$lib/api/types';
import { TickingClock, setClock } from '$lib/clock.svelte';
import { enEntry } from '$lib/i18n/en-entry';
import { enFans } from '$lib/i18n/en-fans';
import { enHome } from '$lib/i18n/en-home';
import { enMore } from '$lib/i18n/en-more';
import { enOrders } from '$lib/i18n/en-orders';
import { enOwn } from '$lib/i18n/en-own';
import { enPages } from '$lib/i18n/en-pages';
import { enProducts } from '$lib/i18n/en-products';
import { enShop } from '$lib/i18n/en-shop';
import { enTrivia } from '$lib/i18n/en-trivia';
import { enWheels } from '$lib/i18n/en-wheels';
import { Texts, setTexts } from '$lib/i18n/texts.svelte';
import { Live, setLive } from '$lib/live/live';
import { OwnEvents, setOwnEvents } from '$lib/live/own';
import { FakeBrowser } from '$lib/live/testing';
import { PageKeeping } from '$lib/outbox/entries';
import { Outbox, setOutbox } from '$lib/outbox/outbox.svelte';
import { Router, setRouter } from '$lib/router/router.svelte';
import { Session, setSession } from '$lib/session.svelte';
import { Settings, setSettings } from '$lib/settings.svelte';
import { Announcer, setAnnouncer } from '$lib/ui/announcer.svelte';
import { People, setPeople } from '../src/routes/room/people/people.svelte';
import { Room, setRoom } from '../src/routes/room/room.svelte';
import { table } from '../src/routes/table';
import Provide from './Provide.svelte';

export const ada: OwnProfile = {
  id: 'fan-ada',
  username: 'ada',
  displayName: 'Ada',
  bio: '',
  pictureUrl: null,
  favoriteTeam: null,
  timeZone: 'Europe/London',
  leaderboardVisible: true,
  collectionVisible: true,
  level: { number: 2, name: 'Regular', from: 100, next: 300 },
  role: 'fan',
  balances: { coins: 0, points: 0 },
  followerCount: 0,
  followingCount: 0,
  unreadNotifications: 0,
  points: 195,
  createdAt: '2026-11-01T12:00:00.000Z',
};

/** Everything that components share, over a service that a test plays. */
export class World {
  readonly fake = new FakeApi();
  readonly texts: Texts;
  readonly announcer = new Announcer();
  readonly clock = new TickingClock();
  readonly settings = new Settings();
  readonly session = new Session(this.fake.api);
  readonly browser = new FakeBrowser();
  readonly live = new Live(this.browser.surroundings(), () => Promise.resolve());
  readonly own = new OwnEvents();
  readonly outbox = new Outbox(this.fake.api, this.clock, new PageKeeping(), (_, task) => task());
  readonly router = new Router(table);
  readonly room = new Room(this.fake.api, this.clock, () => undefined);

  readonly people = new People(this.fake.api, {
    onRollback: () => undefined,
    onChange: () => undefined,
  });

  constructor(
    texts = new Texts({
      pages: enPages,
      entry: enEntry,
      fans: enFans,
      more: enMore,
      shop: enShop,
      products: enProducts,
      orders: enOrders,
      home: enHome,
      own: enOwn,
      wheels: enWheels,
      trivia: enTrivia,
    }),
  ) {
    this.texts = texts;
  }

  /** A world in which it is known that no one is signed in. */
  static async ofGuest(): Promise<World> {
    localStorage.setItem('terrace:session', 'guest');
    const world = new World();
    await world.session.load();
    return world;
  }

  async signIn(): Promise<void> {
    this.fake.on('POST /api/login', () => ({ body: {} })).on('GET /api/user', () => ({ body: ada }));
    await this.session.signIn('ada', 'secret');
    await this.outbox.use(ada.id);
  }

  /** Shows a component with these properties. */
  show<Props extends object>(component: Component<Props>, props: NoInfer<Props>): void {
    render(Provide, {
      props: {
        provide: () => this.#provide(),
        component: component as Component<Record<string, unknown>>,
        props: props as Record<string, unknown>,
      },
    });
  }

  #provide(): void {
    setApi(this.fake.api);
    setTexts(this.texts);
    setAnnouncer(this.announcer);
    setClock(this.clock);
    setSettings(this.settings);
    setSession(this.session);
    setLive(this.live);
    setOwnEvents(this.own);
    setOutbox(this.outbox);
    setRouter(this.router);
    setRoom(this.room);
    setPeople(this.people);
  }
}
