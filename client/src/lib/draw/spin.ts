import type { SpinEntry } from '../api/types';
import { bytesOf, choose, hmacKey, sha256, words, type Choice } from './source';

type Table = SpinEntry['proof']['table'];

/** A spin that was computed again, and whether each part of the service's proof holds. */
export interface RecomputedSpin {
  seedHash: string;
  tableHash: string;
  message: string;
  /** Whether only the segments of the guarantee remained. */
  isGuaranteed: boolean;
  /** The segment that the draw comes to, and how; null where the table has nothing to draw from. */
  drawn: { segment: string; choice: Choice } | null;
  isSeedTrue: boolean;
  isTableTrue: boolean;
  isSegmentTrue: boolean;
}

/** Computes a spin again from its proof (docs/fair-draws.md). */
export async function recomputeSpin(
  { spin, proof }: { spin: Pick<SpinEntry['spin'], 'segment'>; proof: SpinEntry['proof'] },
  subtle: SubtleCrypto,
): Promise<RecomputedSpin> {
  const { pity, segments } = proof.table;
  const seed = bytesOf(proof.serverSeed);
  const isGuaranteed = pity !== null && proof.pityCount >= pity.after;
  const left = isGuaranteed ? segments.filter(({ key }) => pity.segments.includes(key)) : segments;
  const message = `${proof.clientSeed}:${String(proof.nonce)}:0`;
  const [seedHash, tableHash, drawn] = await Promise.all([
    sha256(seed, subtle),
    sha256(tableText(proof.table), subtle),
    drawFrom(left, message, seed, subtle),
  ]);
  return {
    seedHash,
    tableHash,
    message,
    isGuaranteed,
    drawn,
    isSeedTrue: seedHash === proof.serverSeedHash,
    isTableTrue: tableHash === proof.tableHash,
    isSegmentTrue: drawn?.segment === spin.segment,
  };
}

async function drawFrom(
  rows: Table['segments'],
  message: string,
  seed: Uint8Array<ArrayBuffer>,
  subtle: SubtleCrypto,
): Promise<RecomputedSpin['drawn']> {
  if (rows.every(({ weight }) => weight === 0)) return null;
  const key = await hmacKey(seed, subtle);
  const [row, choice] = await choose(rows, words(message, key, subtle));
  return { segment: row.key, choice };
}

/** The table as the text whose SHA-256 the proof names. */
function tableText({ segments, pity }: Table): string {
  const rows = segments.map(({ key, weight }) => `segment ${key} ${String(weight)}`);
  const last = pity === null ? 'pity none' : ['pity', String(pity.after), ...pity.segments].join(' ');
  return `${['wheel-v1', ...rows, last].join('\n')}\n`;
}
