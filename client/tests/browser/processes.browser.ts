import { describe } from 'vitest';
import { touch } from './hand';
import { journey } from './journey';
import { Service } from './service';
import { Stage } from './stage';
import { staged } from './staged';

/** An empty database on PostgreSQL; without one its tests are left out, which the task that runs them says. */
const database = process.env['TERRACE_BROWSER_DATABASE_URL'];

const stage = database === undefined ? null : await staged(Stage.of(await Service.pair(database)));

describe.runIf(stage !== null)('two processes on PostgreSQL behind a proxy', () => {
  journey(touch, () => {
    if (!stage) throw new Error('no stage');
    return stage;
  });
});
