import createClient, { type Client as AnyClient } from 'openapi-fetch';
import { noteAge } from './age';
import { Refused, Unreachable, isAborted, type Problem } from './errors';
import type { paths } from './schema';

/** The service answers in JSON unless a request accepts nothing but a file. */
type Client = AnyClient<paths, `application/${string}`>;

interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** The one client of the service. */
export class Api {
  readonly #client: Client;
  readonly #signedOut = new Set<() => void>();

  constructor(origin: string, send: (request: Request) => Promise<Response> = (request) => fetch(request)) {
    // The service takes lists separated by commas.
    const querySerializer = { array: { style: 'form', explode: false } } as const;
    this.#client = createClient<paths, `application/${string}`>({
      baseUrl: origin,
      fetch: send,
      querySerializer,
    });
  }

  /** Calls `handler` whenever an answer says that the session is over; returns what ends that. */
  onSignedOut(handler: () => void): () => void {
    this.#signedOut.add(handler);
    return () => this.#signedOut.delete(handler);
  }

  /** Sends a request and returns the body of the answer; throws `Refused` or `Unreachable`. */
  async call<Data>(send: (client: Client) => Promise<Answer<Data>>): Promise<Data> {
    const { data, error, response } = await this.#settled(send);
    if (response.ok) {
      noteAge(data, response.headers);
      return data as Data;
    }
    if (!isProblem(error))
      throw new Unreachable(`status ${String(response.status)} without a problem document`);
    const wait = Number(response.headers.get('retry-after') ?? Number.NaN);
    if (error.code === 'authentication_required') {
      for (const handler of this.#signedOut) handler();
    }
    throw new Refused(error, Number.isFinite(wait) ? wait : null);
  }

  /**
   * Whether the browser has a session, without asking for anything that a guest is refused: what is answered to a fan is
   * `private`, and to guests `public`. Null where the answer says neither.
   */
  async isSignedIn(): Promise<boolean | null> {
    const init = { params: { query: { limit: 1 } }, cache: 'no-store' as const };
    const { response } = await this.#settled((client) => client.GET('/api/leagues', init));
    const caching = response.headers.get('cache-control') ?? '';
    if (caching.startsWith('private')) return true;
    return caching.startsWith('public') ? false : null;
  }

  async #settled<Data>(send: (client: Client) => Promise<Answer<Data>>): Promise<Answer<Data>> {
    try {
      return await send(this.#client);
    } catch (error) {
      if (isAborted(error)) throw error;
      // No connection, or a body that is cut off or no JSON.
      if (error instanceof TypeError || error instanceof SyntaxError) throw new Unreachable(error.message);
      throw error;
    }
  }
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'code' in value && 'requestId' in value;
}
