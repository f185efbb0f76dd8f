import type { OpenResult, Proof, Rarity } from '../api/types';

/** From the most frequent to the rarest. */
export const RARITIES: readonly Rarity[] = ['common', 'uncommon', 'rare', 'epic', 'legendary'];

const RANGE = 2n ** 64n;

type Row = Proof['table']['slots'][number][number];
type Item = Row['collectibles'][number];

/** A choice by weight: the word that was used, and what it comes to. */
export interface Choice {
  word: bigint;
  total: bigint;
  remainder: bigint;
}

/** How one slot was drawn. */
export interface SlotDraw {
  message: string;
  /** Whether only the guaranteed rarities remained. */
  isGuaranteed: boolean;
  rarity: Rarity;
  rarityChoice: Choice;
  collectibleId: string;
  collectibleChoice: Choice;
}

/** A draw that was computed again, and whether each part of the service's proof holds. */
export interface Recomputed {
  seedHash: string;
  tableHash: string;
  slots: SlotDraw[];
  isSeedTrue: boolean;
  isTableTrue: boolean;
  areRowsTrue: boolean;
}

type Answer = Pick<OpenResult, 'proof'> & {
  collectibles: { collectible: { id: string; rarity: Rarity } | null }[];
};

/** Computes the draw of an opened pack again from the proof in its answer (docs/fair-draws.md). */
export async function recompute({ proof, collectibles }: Answer, subtle: SubtleCrypto): Promise<Recomputed> {
  const seed = bytesOf(proof.serverSeed);
  const [seedHash, tableHash, slots] = await Promise.all([
    sha256(seed, subtle),
    sha256(new TextEncoder().encode(tableText(proof.table)), subtle),
    drawSlots(proof, seed, subtle),
  ]);
  const rows = collectibles.map(({ collectible }) => `${collectible?.rarity ?? ''} ${collectible?.id ?? ''}`);
  const drawn = slots.map(({ rarity, collectibleId }) => `${rarity} ${collectibleId}`);
  return {
    seedHash,
    tableHash,
    slots,
    isSeedTrue: seedHash === proof.serverSeedHash,
    isTableTrue: tableHash === proof.tableHash,
    areRowsTrue: rows.length === drawn.length && rows.every((row, place) => row === drawn[place]),
  };
}

/** The tables as the text whose SHA-256 the proof names. */
function tableText(table: Proof['table']): string {
  const lines = ['tables-v1', `guarantee ${table.guarantee ?? 'none'}`];
  for (const [slot, rows] of table.slots.entries()) {
    lines.push(`slot ${String(slot)}`);
    for (const row of rows) {
      lines.push(`rarity ${row.rarity} ${String(row.weight)}`);
      for (const { id, weight } of row.collectibles) lines.push(`collectible ${id} ${String(weight)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

async function drawSlots(
  proof: Proof,
  seed: Uint8Array<ArrayBuffer>,
  subtle: SubtleCrypto,
): Promise<SlotDraw[]> {
  const key = await subtle.importKey('raw', seed, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const { guarantee, slots } = proof.table;
  const least = guarantee === null ? 0 : RARITIES.indexOf(guarantee);
  const drawn: SlotDraw[] = [];
  for (const [slot, rows] of slots.entries()) {
    const isGuaranteed =
      slot === slots.length - 1 && drawn.every(({ rarity }) => RARITIES.indexOf(rarity) < least);
    const left = isGuaranteed ? rows.filter(({ rarity }) => RARITIES.indexOf(rarity) >= least) : rows;
    const message = `${proof.clientSeed}:${String(proof.nonce)}:${String(slot)}`;
    const source = words(message, key, subtle);
    const [row, rarityChoice] = await choose<Row>(left, source);
    const [item, collectibleChoice] = await choose<Item>(row.collectibles, source);
    drawn.push({
      message,
      isGuaranteed: isGuaranteed && guarantee !== null,
      rarity: row.rarity,
      rarityChoice,
      collectibleId: item.id,
      collectibleChoice,
    });
  }
  return drawn;
}

/** Words of 64 bits without end: four of each digest. */
async function* words(message: string, key: CryptoKey, subtle: SubtleCrypto): AsyncGenerator<bigint, never> {
  for (let round = 0; ; round += 1) {
    const text = round === 0 ? message : `${message}:${String(round)}`;
    const digest = new DataView(await subtle.sign('HMAC', key, new TextEncoder().encode(text)));
    for (const at of [0, 8, 16, 24]) yield digest.getBigUint64(at);
  }
}

async function choose<Entry extends { weight: number }>(
  entries: readonly Entry[],
  source: AsyncGenerator<bigint, never>,
): Promise<[Entry, Choice]> {
  const total = entries.reduce((sum, { weight }) => sum + BigInt(weight), 0n);
  if (total === 0n) throw new RangeError('a table without weights');
  const limit = (RANGE / total) * total;
  let word = (await source.next()).value;
  // A word above the limit would favour the first entries.
  while (word >= limit) word = (await source.next()).value;
  const remainder = word % total;
  let passed = 0n;
  for (const entry of entries) {
    passed += BigInt(entry.weight);
    if (remainder < passed) return [entry, { word, total, remainder }];
  }
  throw new RangeError('a remainder beyond its total');
}

async function sha256(bytes: Uint8Array<ArrayBuffer>, subtle: SubtleCrypto): Promise<string> {
  return hexOf(new Uint8Array(await subtle.digest('SHA-256', bytes)));
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  const pairs = hex.match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

/** Bytes as lower-case hexadecimal digits. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
