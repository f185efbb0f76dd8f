import type { SpinEntry } from '$lib/api/types';
import { Persisted } from '$lib/persisted.svelte';

/** What this browser saw before a spin, and the seed that it added. */
export interface Promised {
  serverSeedHash: string;
  clientSeed: string;
  pityCount: number;
  tableHash: string;
}

/** Of how many spins it is kept. */
const KEPT = 30;

/** What this browser saw before the newest spins of a fan. */
export class Promises {
  readonly #name: string;

  constructor(fanId: string) {
    this.#name = `spins:${fanId}`;
  }

  /** Notes what is shown before a spin of a wheel, by the spin's number. */
  note(wheelId: string, nonce: number, promised: Promised): void {
    const { serverSeedHash, clientSeed, pityCount, tableHash } = promised;
    const spin = nameOf(wheelId, nonce);
    const line = [spin, serverSeedHash, clientSeed, String(pityCount), tableHash].join(' ');
    // Other tabs note theirs meanwhile.
    const kept = new Persisted(this.#name);
    const others = linesOf(kept).filter((other) => !other.startsWith(`${spin} `));
    kept.set([line, ...others].slice(0, KEPT).join('\n'));
  }

  /** What was seen before a spin; null if another browser spun, or long ago. */
  of({ spin, proof }: Pick<SpinEntry, 'spin' | 'proof'>): Promised | null {
    const start = `${nameOf(spin.wheelId, proof.nonce)} `;
    const line = linesOf(new Persisted(this.#name)).find((each) => each.startsWith(start));
    const [serverSeedHash, clientSeed, pityCount, tableHash] = line?.slice(start.length).split(' ') ?? [];
    if (!serverSeedHash || !clientSeed || !pityCount || !tableHash) return null;
    return { serverSeedHash, clientSeed, pityCount: Number(pityCount), tableHash };
  }
}

const nameOf = (wheelId: string, nonce: number): string => `${wheelId}/${String(nonce)}`;

const linesOf = ({ value }: Persisted): string[] => (value === null || value === '' ? [] : value.split('\n'));
