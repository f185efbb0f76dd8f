import { afterAll } from 'vitest';
import type { Stage } from './stage';

/** Waits for the stage of a file of tests. It is closed after the last of them. */
export async function staged(opening: Promise<Stage>): Promise<Stage> {
  const stage = await opening;
  afterAll(() => stage.close());
  return stage;
}
