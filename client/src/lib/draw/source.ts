const RANGE = 2n ** 64n;

/** A choice by weight: the word that was used, and what it comes to. */
export interface Choice {
  word: bigint;
  total: bigint;
  remainder: bigint;
}

/** Words of 64 bits without end: four of each digest. */
export async function* words(
  message: string,
  key: CryptoKey,
  subtle: SubtleCrypto,
): AsyncGenerator<bigint, never> {
  for (let round = 0; ; round += 1) {
    const text = round === 0 ? message : `${message}:${String(round)}`;
    const digest = new DataView(await subtle.sign('HMAC', key, new TextEncoder().encode(text)));
    for (const at of [0, 8, 16, 24]) yield digest.getBigUint64(at);
  }
}

/** One entry by its weight, with the words that follow. */
export async function choose<Entry extends { weight: number }>(
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

/** The key under which a server seed draws. */
export function hmacKey(seed: Uint8Array<ArrayBuffer>, subtle: SubtleCrypto): Promise<CryptoKey> {
  return subtle.importKey('raw', seed, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}

/** The SHA-256 of bytes or of a text. */
export async function sha256(
  content: Uint8Array<ArrayBuffer> | string,
  subtle: SubtleCrypto,
): Promise<string> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return hexOf(new Uint8Array(await subtle.digest('SHA-256', bytes)));
}

/** The bytes that hexadecimal digits name. */
export function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  const pairs = hex.match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

/** Bytes as lower-case hexadecimal digits. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
