import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import { KeptRequest } from '$lib/api/kept-request.svelte';
import type { Clock } from '$lib/api/resource.svelte';
import type { SpinPay, SpinResult, Wheel } from '$lib/api/types';
import { hexOf } from '$lib/draw/source';
import { Promises } from './promises';

/** A spin as it is asked for. */
interface Wish {
  pay: SpinPay;
  serverSeedHash: string;
  clientSeed: string;
}

/** Spins a wheel for one fan. */
export class Spinning {
  readonly attempt = new Attempt();
  readonly promises: Promises;
  readonly #api: Api;
  readonly #wheelId: string;
  readonly #request: KeptRequest;

  constructor(api: Api, clock: Clock, fanId: string, wheelId: string) {
    this.#api = api;
    this.#wheelId = wheelId;
    this.#request = new KeptRequest(clock, `spinning:${fanId}:${wheelId}`);
    this.promises = new Promises(fanId);
  }

  /** How a spin is paid that was asked for and whose answer never arrived; null if there is none. */
  get unsettled(): SpinPay | null {
    return this.attempt.isRunning ? null : (wishOf(this.#request.kept)?.pay ?? null);
  }

  /** One tap is one spin: a tap during a request does nothing, one after a lost answer asks for the same spin again. */
  spin({ me, tableHash }: Wheel, pay: SpinPay): Promise<SpinResult | null> {
    return this.attempt.run(() => {
      const kept = this.#request.kept;
      let wish = wishOf(kept);
      if (wish === null) {
        if (me === null) throw new Error('a guest cannot spin');
        const clientSeed = hexOf(crypto.getRandomValues(new Uint8Array(16)));
        const { serverSeedHash, pityCount, nonce } = me;
        wish = { pay, serverSeedHash, clientSeed };
        this.promises.note(this.#wheelId, nonce, { serverSeedHash, clientSeed, pityCount, tableHash });
      }
      return this.#send(wish);
    });
  }

  /** The key belongs to the whole wish: with another seed the service would take it for another spin. */
  #send(body: Wish): Promise<SpinResult> {
    const content = [body.pay, body.serverSeedHash, body.clientSeed].join(' ');
    return this.#request.send(content, (key) => {
      const params = { path: { id: this.#wheelId }, header: { 'Idempotency-Key': key } };
      return this.#api.call((client) => client.POST('/api/wheel/{id}/spin', { params, body }));
    });
  }
}

function wishOf(content: string | null): Wish | null {
  const [pay, serverSeedHash, clientSeed] = content?.split(' ') ?? [];
  if ((pay !== 'free' && pay !== 'price') || !serverSeedHash || !clientSeed) return null;
  return { pay, serverSeedHash, clientSeed };
}
