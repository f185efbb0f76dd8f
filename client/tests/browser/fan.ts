/** The password of every fan who signs up. */
export const PASSWORD = 'a scarf on row 14';

/** A fan who writes through the API, as another client would. */
export class Fan {
  readonly #origin: string;
  readonly #token: string;

  private constructor(origin: string, token: string) {
    this.#origin = origin;
    this.#token = token;
  }

  /** The fan of the demo content. */
  static signIn(origin: string): Promise<Fan> {
    return Fan.#enter(origin, '/api/login', 'mia', 'terrace-demo');
  }

  static signUp(origin: string, username: string): Promise<Fan> {
    return Fan.#enter(origin, '/api/register', username, PASSWORD);
  }

  static async #enter(origin: string, path: string, username: string, password: string): Promise<Fan> {
    const answer = await fetch(origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
    const cookie = answer.headers.get('set-cookie')?.split(';')[0];
    if (!answer.ok || cookie === undefined) throw new Error(`${path}: ${String(answer.status)}`);
    return new Fan(origin, cookie);
  }

  /** The cookie of the session. */
  get cookie(): string {
    return this.#token;
  }

  async post(body: string): Promise<string> {
    const { post } = (await this.#send('POST', '/api/locker-room', { body })) as { post: { id: string } };
    return post.id;
  }

  async react(id: string, kind: string): Promise<void> {
    await this.#send('POST', `/api/locker-room/${id}/react`, { kind });
  }

  async comment(id: string, body: string): Promise<void> {
    await this.#send('POST', `/api/locker-room/${id}/comments`, { body });
  }

  async delete(id: string): Promise<void> {
    await this.#send('DELETE', `/api/locker-room/${id}`);
  }

  /** Earns the points of a daily visit. */
  async visit(): Promise<void> {
    await this.#send('POST', '/api/quests/daily-visit');
  }

  /** Reads as this fan. */
  read(path: string): Promise<unknown> {
    return this.#send('GET', path);
  }

  async #send(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await fetch(this.#origin + path, {
      method,
      headers: {
        cookie: this.#token,
        origin: this.#origin,
        'content-type': 'application/json',
        'idempotency-key': crypto.randomUUID(),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }
}
