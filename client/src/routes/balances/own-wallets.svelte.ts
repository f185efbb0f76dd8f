import { Attempt } from '$lib/api/attempt.svelte';
import type { Api } from '$lib/api/client';
import type { Clock } from '$lib/api/resource.svelte';
import type { TokenWallet, WalletPage } from '$lib/api/types';
import { Watched } from '$lib/api/watched.svelte';

/** A network, and the fan's wallet on it, if any. */
export interface Place {
  network: string;
  wallet: TokenWallet | null;
  /** Whether a wallet can be requested there. */
  isOpen: boolean;
}

/** The networks on which a fan has wallets or can have them. */
export function placesOf({ wallets, networks }: Pick<WalletPage, 'wallets' | 'networks'>): Place[] {
  const names = [...new Set([...wallets.map(({ network }) => network), ...networks])];
  return names.map((network) => ({
    network,
    wallet: wallets.find((wallet) => wallet.network === network) ?? null,
    isOpen: networks.includes(network),
  }));
}

/** The wallets of a fan, followed until none is being made. */
export class OwnWallets extends Watched<WalletPage> {
  readonly attempt = new Attempt();
  readonly #api: Api;
  #asked = $state<string | null>(null);

  constructor(api: Api, clock: Clock) {
    const params = { query: { limit: 1 } };
    super(
      (signal) => api.call((client) => client.GET('/api/wallets', { params, signal })),
      clock,
      ({ wallets }) => wallets.every(({ status }) => status !== 'requested'),
    );
    this.#api = api;
  }

  /** The network for which a wallet was last asked. */
  get asked(): string | null {
    return this.#asked;
  }

  /** Requests a wallet; a network has one, however often it is requested. */
  async request(network: string): Promise<TokenWallet | null> {
    if (this.attempt.isRunning) return null;
    this.#asked = network;
    const body = { network };
    const answer = await this.attempt.run(() =>
      this.#api.call((client) => client.POST('/api/wallets', { body })),
    );
    await this.look();
    return answer?.wallet ?? null;
  }
}
