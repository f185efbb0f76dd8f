import { afterAll, beforeAll } from 'vitest';
import { keyboard } from './hand';
import { journey } from './journey';
import { Stage } from './stage';

let stage: Stage | undefined;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage?.close());

journey(keyboard, () => {
  if (!stage) throw new Error('no stage');
  return stage;
});
