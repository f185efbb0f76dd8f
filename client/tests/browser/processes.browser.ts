import { afterAll, beforeAll, describe } from 'vitest';
import { touch } from './hand';
import { journey } from './journey';
import { Service } from './service';
import { Stage } from './stage';

/** An empty database on PostgreSQL; without one its tests are left out, which the task that runs them says. */
const database = process.env['TERRACE_BROWSER_DATABASE_URL'];

describe.runIf(database !== undefined)('two processes on PostgreSQL behind a proxy', () => {
  let stage: Stage | undefined;

  beforeAll(async () => {
    stage = await Stage.of(await Service.pair(database ?? ''));
  });

  afterAll(() => stage?.close());

  journey(touch, () => {
    if (!stage) throw new Error('no stage');
    return stage;
  });
});
