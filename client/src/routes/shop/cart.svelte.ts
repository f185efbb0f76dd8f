import { untrack } from 'svelte';
import type { Api } from '$lib/api/client';
import { useApi } from '$lib/api/context';
import type { Failure } from '$lib/api/errors';
import { Resource, type Clock } from '$lib/api/resource.svelte';
import type { Cart, CartLine, PendingOrder, Shipping } from '$lib/api/types';
import { useClock } from '$lib/clock.svelte';
import { useTexts, type Texts } from '$lib/i18n/texts.svelte';
import { useOwnEvents } from '$lib/live/own';
import { onReturn } from '$lib/on-return.svelte';
import { useSession, type Session } from '$lib/session.svelte';
import { useAnnouncer, type Announcer } from '$lib/ui/announcer.svelte';
import { Wishes } from '$lib/wishes.svelte';
import { MOST_UNITS, guestCart, guestLines, putGuestLine } from './guest-cart';

/** A cart as it is shown. */
export interface Shown {
  cart: Cart;
  pendingOrder: PendingOrder | null;
}

interface Wish {
  quantity: number;
  priceId: string;
}

interface Parts {
  api: Api;
  announcer: Announcer;
  clock: Clock;
  session: Session;
  texts: Texts;
}

/** The cart of who reads: a guest's is kept by this browser, a fan's by the service. */
export class OwnCart {
  readonly shown: Resource<Shown>;
  readonly #parts: Parts;
  readonly #wishes: Wishes<Wish>;
  /** Answers name the whole cart: one request runs at a time, so that none is older than what is shown. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.shown = new Resource((signal) => this.#read(signal), parts.clock);
    this.#wishes = new Wishes(
      (variantId, wish) => this.#inTurn(() => this.#put(variantId, wish)),
      (failure) => this.#refuse(failure),
    );
  }

  get isGuest(): boolean {
    return this.#parts.session.state.kind === 'signed-out';
  }

  /** How many things are in it; null while that is not known. */
  get count(): number | null {
    const lines = this.shown.value?.cart.lines;
    return lines ? lines.reduce((sum, line) => sum + this.quantityOf(line), 0) : null;
  }

  /** Whether all that the reader wishes is in the cart that is shown. */
  get isSettled(): boolean {
    return (this.shown.value?.cart.lines ?? []).every(
      ({ variant }) => this.#wishes.over(variant.id, null) === null,
    );
  }

  quantityOf({ variant, quantity, priceId }: CartLine): number {
    return this.#wishes.over(variant.id, { quantity, priceId }).quantity;
  }

  load(): Promise<void> {
    return this.#inTurn(() => this.shown.load());
  }

  /** Sets the quantity of a line; it shows at once. */
  set({ variant, priceId }: CartLine, quantity: number, price = priceId): Promise<void> {
    const most = Math.max(0, Math.min(quantity, MOST_UNITS));
    return this.#wishes.set(variant.id, { quantity: most, priceId: price });
  }

  /** Sets the quantity of a variant that need not be in the cart yet; throws a failure. */
  put(variantId: string, wish: Wish): Promise<void> {
    return this.#inTurn(() => this.#put(variantId, wish));
  }

  /** Chooses how and where it is sent; throws a failure. */
  send(body: Shipping): Promise<void> {
    return this.#inTurn(async () => {
      const answer = await this.#parts.api.call((client) => client.PUT('/api/cart/shipping', { body }));
      this.shown.replace({ ...answer, pendingOrder: answer.pendingOrder ?? null });
    });
  }

  async #put(variantId: string, { quantity, priceId }: Wish): Promise<void> {
    const { api, announcer, texts } = this.#parts;
    if (this.isGuest) {
      const hasRoom = putGuestLine({ variantId, priceId, quantity });
      if (!hasRoom) announcer.toast(texts.shop.cart.full, 'assertive');
      await this.shown.load();
      return;
    }
    const init = { params: { path: { id: variantId } }, body: { quantity, priceId } };
    const answer = await api.call((client) => client.PUT('/api/cart/lines/{id}', init));
    this.shown.replace({ ...answer, pendingOrder: answer.pendingOrder ?? null });
  }

  #refuse(failure: Failure): void {
    const { announcer, texts } = this.#parts;
    announcer.toast(`${texts.t.state.notKept} ${texts.failure(failure)}`, 'assertive');
    void this.load();
  }

  async #read(signal: AbortSignal): Promise<Shown> {
    const { api } = this.#parts;
    if (this.isGuest) {
      return { cart: await this.#readGuest(signal), pendingOrder: null };
    }
    if (guestLines().length > 0) {
      const { mergeGuestCart } = await import('./merging');
      await mergeGuestCart(this.#parts);
    }
    const answer = await api.call((client) => client.GET('/api/cart', { signal }));
    return { ...answer, pendingOrder: answer.pendingOrder ?? null };
  }

  /** What is sold no more leaves a guest's cart, which cannot name it. */
  async #readGuest(signal: AbortSignal): Promise<Cart> {
    const { api, announcer, texts } = this.#parts;
    const lines = guestLines();
    if (lines.length === 0) return guestCart([], []).cart;
    const variantId = lines.map((line) => line.variantId).join(',');
    const params = { query: { variantId, limit: 100 } };
    const { products } = await api.call((client) => client.GET('/api/products', { params, signal }));
    const { cart, gone } = guestCart(lines, products);
    for (const line of gone) putGuestLine({ ...line, quantity: 0 });
    if (gone.length > 0) announcer.toast(texts.shop.cart.skipped(gone.length, texts.number(gone.length)));
    return cart;
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    const next = this.#tail.then(task, task);
    this.#tail = next;
    return next;
  }
}

/** The cart of who reads, read again when it changes elsewhere. Called while a component is made. */
export function useCart(): OwnCart {
  const session = useSession();
  const own = useOwnEvents();
  const parts = { api: useApi(), announcer: useAnnouncer(), clock: useClock(), session, texts: useTexts() };
  const cart = new OwnCart(parts);
  const reader = $derived(session.state.kind === 'unknown' ? null : (session.fan?.id ?? session.state.kind));
  $effect(() => {
    if (reader === null) return;
    untrack(() => {
      cart.shown.reset();
      void cart.load();
    });
  });
  $effect(() =>
    own.on(({ name }) => {
      if (name === 'order.changed' || name === 'balance.changed' || name === 'resync') void cart.load();
    }),
  );
  onReturn(() => void Promise.all([cart.load(), session.refresh()]));
  return cart;
}
