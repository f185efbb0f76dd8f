import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What the bytes of a build depend on, beside the versions in the lock file. */
const INPUTS = [
  'build',
  'index.html',
  'package-lock.json',
  'package.json',
  'public',
  'src',
  'svelte.config.js',
  'tsconfig.json',
  'vite.config.ts',
];

/** Files that reach no browser: tests, and types, which a build removes. */
const IGNORED = /\.(test|component)\.ts$|\.d\.ts$|\/testing\.ts$/;

/**
 * SHA-256 over the sources of a build. Each file adds its path, a zero byte, its length in bytes as decimal digits, a
 * zero byte, and its content, in the order of the paths. `crates/client` computes the same.
 */
export function inputsDigest(folder: string): string {
  const hash = createHash('sha256');
  for (const name of INPUTS.flatMap((input) => files(folder, input)).sort()) {
    const content = readFileSync(join(folder, name));
    hash.update(`${name}\0${String(content.length)}\0`);
    hash.update(content);
  }
  return hash.digest('hex');
}

function files(folder: string, name: string): string[] {
  if (IGNORED.test(name)) return [];
  try {
    return readdirSync(join(folder, name)).flatMap((entry) => files(folder, `${name}/${entry}`));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return [name];
    throw error;
  }
}
