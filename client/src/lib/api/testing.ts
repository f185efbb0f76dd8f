import { Api } from './client';

type Reply = { status?: number; body?: unknown; headers?: Record<string, string> };
type Handler = (request: Request) => Reply | Promise<Reply>;

/** A promise that a test settles. */
export class Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve: (value: Value) => void = () => undefined;

  constructor() {
    this.promise = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }
}

/** An API that answers from handlers by method and path; an unexpected request fails as a defect. */
export class FakeApi {
  readonly requests: { name: string; query: URLSearchParams; body: unknown }[] = [];
  readonly #handlers = new Map<string, Handler>();
  readonly api = new Api('http://terrace.test', (request) => this.#answer(request));

  on(name: string, handler: Handler): this {
    this.#handlers.set(name, handler);
    return this;
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const name = `${request.method} ${url.pathname}`;
    const isJson = request.headers.get('content-type')?.includes('json') ?? false;
    const sent: unknown = isJson ? await request.clone().json() : null;
    this.requests.push({ name, query: url.searchParams, body: sent });
    const handler = this.#handlers.get(name);
    if (!handler) throw new Error(`unexpected request: ${name}`);
    const { status = 200, body, headers = {} } = await handler(request);
    if (status === 0) throw new TypeError('Failed to fetch');
    const type = status >= 400 ? 'application/problem+json' : 'application/json';
    return new Response(body === undefined ? null : JSON.stringify(body), {
      status,
      headers: { 'content-type': type, ...headers },
    });
  }
}

/** A problem document with this code. */
export function problem(
  status: number,
  code: string,
  errors: { pointer: string; detail: string }[] = [],
): Reply {
  const body = { type: `/problems/${code}`, title: code, status, detail: code, instance: '/', code, errors };
  return { status, body: { ...body, requestId: 'request-1' } };
}
