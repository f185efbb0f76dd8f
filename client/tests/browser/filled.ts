import { rmSync } from 'node:fs';
import { FILLED, Service } from './service';

/** Fills one database with the demo content, of which each test file's service starts with a copy. */
export async function setup(): Promise<() => void> {
  const folder = await (await Service.startEmpty()).leave();
  process.env[FILLED] = folder;
  return () => rmSync(folder, { recursive: true });
}
