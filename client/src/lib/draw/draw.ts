import type { OpenResult, Proof, Rarity } from '../api/types';
import { bytesOf, choose, hmacKey, sha256, words, type Choice } from './source';

/** From the most frequent to the rarest. */
export const RARITIES: readonly Rarity[] = ['common', 'uncommon', 'rare', 'epic', 'legendary'];

type Row = Proof['table']['slots'][number][number];
type Item = Row['collectibles'][number];

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
    sha256(tableText(proof.table), subtle),
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
  const key = await hmacKey(seed, subtle);
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
