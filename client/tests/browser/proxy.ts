import { createServer, request as send, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request on its way to the service. */
export interface Passing {
  readonly method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Whether the service gets it and the browser loses the answer. */
  isCutOff: boolean;
  /** Whether it gets lost before the service gets it. */
  isLost?: boolean;
  /** What is answered in place of the service. */
  answer?: { type: string; body: Uint8Array | string };
}

/** Stands between a browser and the service, of which each process gets the next request in turn. */
export class Proxy {
  readonly url: string;
  readonly #server: Server;
  /** Changes every request from now on. */
  readonly change: (change: (request: Passing) => void) => void;

  private constructor(server: Server, change: (change: (request: Passing) => void) => void) {
    this.#server = server;
    this.change = change;
    this.url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }

  static async before(target: string | readonly string[]): Promise<Proxy> {
    const targets = typeof target === 'string' ? [target] : target;
    let count = 0;
    let change: (request: Passing) => void = () => undefined;
    const server = createServer((incoming, outgoing) => {
      const passing: Passing = {
        method: incoming.method ?? 'GET',
        path: incoming.url ?? '/',
        headers: { ...incoming.headers },
        isCutOff: false,
      };
      change(passing);
      if (passing.isLost) {
        incoming.socket.destroy();
        return;
      }
      if (passing.answer) {
        outgoing.writeHead(200, { 'content-type': passing.answer.type, 'cache-control': 'no-cache' });
        outgoing.end(passing.answer.body);
        return;
      }
      const { method, path, headers } = passing;
      const process = targets[count % targets.length] ?? '';
      count += 1;
      const onward = send(process + path, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        if (passing.isCutOff) {
          // An answer that has begun: without one a browser may send the request again by itself.
          outgoing.flushHeaders();
          answer.resume();
          answer.once('end', () => incoming.socket.destroy());
          return;
        }
        answer.pipe(outgoing);
        answer.once('error', () => outgoing.destroy());
      });
      // The service is gone: so is the connection.
      onward.once('error', () => incoming.socket.destroy());
      outgoing.once('close', () => onward.destroy());
      incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Proxy(server, (next) => (change = next));
  }

  /** Breaks every connection; each request to come tries a new one. */
  breakOff(): void {
    this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
