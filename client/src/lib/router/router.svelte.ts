import type { Component } from 'svelte';
import { createContext, tick } from 'svelte';
import { matchPath, type Match } from './match';
import type { Params, RouteName } from './paths';
import { ScrollPositions, restoreScroll } from './scroll';

/** A page takes the parameters of its path, if it has any. */
type Page<Name extends RouteName> = Component<{ params: Params<Name> }> | Component<Record<string, never>>;

/** A page's component, loaded when it is first shown. */
interface Route<Name extends RouteName> {
  load: () => Promise<{ default: Page<Name> }>;
  /** The page that is shown instead, if any. */
  redirect?: () => string | null;
}

export type RouteTable = { [Name in RouteName]: Route<Name> };

export type Shown =
  | { kind: 'loading' }
  | { kind: 'missing' }
  | { kind: 'unloaded' }
  | { kind: 'page'; match: Match; page: Component<{ params: Record<string, string> }>; key: string };

/** Follows the address: loads pages, keeps scroll positions and moves the focus. */
export class Router {
  #shown = $state.raw<Shown>({ kind: 'loading' });
  #url = $state.raw(new URL(location.href));
  #isLoading = $state(false);
  #key = '';
  #visit = 0;
  #stopRestoring: () => void = () => undefined;
  readonly #table: RouteTable;
  readonly #prepare: (name: RouteName) => Promise<unknown>;
  readonly #positions = new ScrollPositions();

  /** `prepare` loads what a page needs beside its script. */
  constructor(table: RouteTable, prepare: (name: RouteName) => Promise<unknown> = () => Promise.resolve()) {
    this.#table = table;
    this.#prepare = prepare;
  }

  get shown(): Shown {
    return this.#shown;
  }

  get isLoading(): boolean {
    return this.#isLoading;
  }

  get query(): URLSearchParams {
    return this.#url.searchParams;
  }

  get path(): string {
    return this.#url.pathname;
  }

  /** The path with its query. */
  get address(): string {
    return this.#url.pathname + this.#url.search;
  }

  /** Shows the page of the current address and follows it from now on. Returns what ends that. */
  start(): () => void {
    history.scrollRestoration = 'manual';
    const stop = new AbortController();
    const { signal } = stop;
    const move = (): void => {
      this.#leave();
      void this.#enter(true, this.#keyOf(history.state));
    };
    addEventListener('popstate', move, { signal });
    addEventListener('click', (event) => this.#follow(event), { signal });
    addEventListener('pagehide', () => this.#leave(), { signal });
    void this.#enter(false, this.#keyOf(history.state));
    return () => stop.abort();
  }

  /** Goes to an address of the client. */
  async go(address: string, options: { replace?: boolean } = {}): Promise<void> {
    this.#leave();
    const key = crypto.randomUUID();
    if (options.replace) history.replaceState({ key }, '', address);
    else history.pushState({ key }, '', address);
    await this.#enter(true, key, null);
  }

  /** Changes the query without leaving the page or moving in it. */
  setQuery(changes: Record<string, string | null>): void {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    history.replaceState(history.state, '', url);
    this.#url = url;
  }

  #keyOf(state: unknown): string {
    if (typeof state === 'object' && state !== null && 'key' in state && typeof state.key === 'string') {
      return state.key;
    }
    const key = crypto.randomUUID();
    history.replaceState({ key }, '');
    return key;
  }

  #leave(): void {
    if (this.#key !== '') this.#positions.save(this.#key);
  }

  async #enter(movesFocus: boolean, key: string, position = this.#positions.read(key)): Promise<void> {
    const visit = ++this.#visit;
    this.#stopRestoring();
    const url = new URL(location.href);
    const match = matchPath(url.pathname);
    if (!match) {
      this.#show(url, key, { kind: 'missing' });
    } else {
      const route: Route<RouteName> = this.#table[match.name];
      const elsewhere = route.redirect?.() ?? null;
      if (elsewhere !== null) {
        history.replaceState({ key }, '', elsewhere);
        return this.#enter(movesFocus, key, position);
      }
      this.#isLoading = true;
      const shown = await this.#load(match, route, key);
      if (visit !== this.#visit) return;
      this.#show(url, key, shown);
    }
    await tick();
    if (movesFocus) focusHeading();
    this.#stopRestoring = restoreScroll(position);
  }

  async #load(match: Match, route: Route<RouteName>, key: string): Promise<Shown> {
    try {
      const [loaded] = await Promise.all([route.load(), this.#prepare(match.name)]);
      // The table's type says that a page takes its path's parameters, which are those of the match.
      const page = loaded.default as Component<{ params: Record<string, string> }>;
      return { kind: 'page', match, page, key };
    } catch {
      // The page's script could not be loaded: there is no connection, or a newer client replaced this one.
      return { kind: 'unloaded' };
    }
  }

  #show(url: URL, key: string, shown: Shown): void {
    this.#key = key;
    this.#url = url;
    this.#shown = shown;
    this.#isLoading = false;
  }

  #follow(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || !matchPath(url.pathname)) return;
    event.preventDefault();
    void this.go(url.pathname + url.search);
  }
}

/** Moves the focus to the heading of a new page, so that it is read and the next Tab starts there. */
function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus({ preventScroll: true });
}

export const [useRouter, setRouter] = createContext<Router>();
