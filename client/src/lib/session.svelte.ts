import { createContext, untrack } from 'svelte';
import type { Api } from './api/client';
import { Refused, failureOf, type Failure } from './api/errors';
import type { Resource } from './api/resource.svelte';
import type { OwnProfile } from './api/types';
import { forgetLists } from './offline/caches';
import { Persisted, forget } from './persisted.svelte';

type SessionState =
  | { kind: 'unknown' }
  | { kind: 'signed-out' }
  | { kind: 'signed-in'; fan: OwnProfile }
  /** This browser was signed in, and the service cannot be asked. */
  | { kind: 'failed'; failure: Failure };

interface Registration {
  username: string;
  password: string;
  displayName: string;
}

/** What is noted where there is a session. */
const SIGNED_IN = 'signed-in';

/** Whether this browser noted a session, before the service is asked. */
export function isSignedInHere(): boolean {
  return new Persisted('session').value === SIGNED_IN;
}

/** Who is signed in in this browser. */
export class Session {
  #state = $state.raw<SessionState>({ kind: 'unknown' });
  readonly #api: Api;
  /** Whether a session exists, as far as this browser noted it: the cookie itself cannot be read. */
  readonly #hint = new Persisted('session');

  constructor(api: Api) {
    this.#api = api;
    api.onSignedOut(() => void this.#end());
  }

  get state(): SessionState {
    return this.#state;
  }

  get fan(): OwnProfile | null {
    return this.#state.kind === 'signed-in' ? this.#state.fan : null;
  }

  /** Loads something once it is known who reads. Called while a component is made. */
  loadWhenKnown(something: () => Resource<unknown> | undefined): void {
    const isKnown = $derived(this.#state.kind !== 'unknown');
    $effect(() => {
      const resource = something();
      if (isKnown) untrack(() => void resource?.load());
    });
  }

  /** Loads what only a fan may read, and again for another one. Called while a component is made. */
  loadForFan(something: () => Resource<unknown>): void {
    const fanId = $derived(this.fan?.id ?? null);
    $effect(() => {
      const resource = something();
      if (fanId !== null) untrack(() => void resource.load());
    });
  }

  /** Finds out whether the browser is signed in. */
  async load(): Promise<void> {
    if (this.#hint.value !== SIGNED_IN) {
      this.#state = { kind: 'signed-out' };
      if (this.#hint.value === null) await this.#ask();
      return;
    }
    try {
      await this.#read();
    } catch (error) {
      const failure = failureOf(error);
      if (failure instanceof Refused && failure.problem.status === 401) return;
      this.#state = { kind: 'failed', failure };
    }
  }

  async signIn(username: string, password: string): Promise<OwnProfile> {
    await this.#api.call((client) => client.POST('/api/login', { body: { username, password } }));
    return this.#begin();
  }

  async signUp({ username, password, displayName }: Registration): Promise<OwnProfile> {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const body = { username, password, timeZone, ...(displayName === '' ? {} : { displayName }) };
    await this.#api.call((client) => client.POST('/api/register', { body }));
    return this.#begin();
  }

  async signOut(): Promise<void> {
    await this.#api.call((client) => client.POST('/api/logout'));
    await this.#forget();
  }

  /** Deletes the account for good. */
  async deleteAccount(password: string): Promise<void> {
    await this.#api.call((client) => client.DELETE('/api/user', { body: { password } }));
    await this.#forget();
  }

  async chooseTeam(favoriteTeamId: string): Promise<OwnProfile> {
    const fan = await this.#api.call((client) => client.PATCH('/api/user', { body: { favoriteTeamId } }));
    this.#state = { kind: 'signed-in', fan };
    return fan;
  }

  /** Reads the profile and the balances again. A failure leaves what was read before. */
  async refresh(): Promise<void> {
    if (this.fan === null) return;
    try {
      await this.#read();
    } catch (error) {
      failureOf(error);
    }
  }

  /** Whether a fan reads here, as far as is known: until the service answered, what this browser noted. */
  get hasFan(): boolean {
    return this.fan !== null || (this.#state.kind !== 'signed-out' && this.#hint.value === SIGNED_IN);
  }

  /** Takes over how many notifications are unread. */
  noteUnread(unreadNotifications: number): void {
    if (this.#state.kind !== 'signed-in') return;
    this.#state = { kind: 'signed-in', fan: { ...this.#state.fan, unreadNotifications } };
  }

  /** Takes over a profile that the service answered. */
  replace(fan: OwnProfile): void {
    this.#state = { kind: 'signed-in', fan };
  }

  /** Finds out, once, whether there is a session of which nothing was noted. */
  async #ask(): Promise<void> {
    try {
      const isSignedIn = await this.#api.isSignedIn();
      // What is not known now is asked for at the next visit.
      if (isSignedIn === null || this.#hint.value !== null) return;
      this.#hint.set(isSignedIn ? SIGNED_IN : 'guest');
      if (isSignedIn) await this.#read();
    } catch (error) {
      failureOf(error);
    }
  }

  async #begin(): Promise<OwnProfile> {
    this.#hint.set(SIGNED_IN);
    await forgetLists();
    return this.#read();
  }

  async #read(): Promise<OwnProfile> {
    const fan = await this.#api.call((client) => client.GET('/api/user'));
    this.#state = { kind: 'signed-in', fan };
    return fan;
  }

  /** The session is over in the service: a request as this fan would be refused from now on. */
  async #forget(): Promise<void> {
    await this.#end();
    for (const prefix of [
      'draft:',
      'opening:',
      'buying:',
      'claiming:',
      'checkout:',
      'cart',
      'spin',
      'rewards:',
      'rounds:',
      'home:',
    ])
      forget(prefix);
  }

  /** Drafts stay where a session ended by itself: they are kept by account. */
  async #end(): Promise<void> {
    this.#hint.set(null);
    this.#state = { kind: 'signed-out' };
    await Promise.all([forgetLists(), endPush()]);
  }
}

/** Ends the messages of the account. A script that could not be loaded is a `TypeError`: the service sends nothing then either. */
async function endPush(): Promise<void> {
  try {
    await (await import('./push/forget')).forgetPush();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

export const [useSession, setSession] = createContext<Session>();
