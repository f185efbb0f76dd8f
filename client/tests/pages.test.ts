import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { paths } from '../src/lib/router/paths';

test('the page tree of the documents holds every page, and no other', () => {
  const text = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8');
  const tree = text.slice(text.indexOf('## Pages'), text.indexOf('## Rules'));
  const rows = tree.split('\n').filter((line) => line.startsWith('| `'));
  const shown = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)]);
  expect(shown.map(([, path]) => path).sort()).toEqual(Object.values(paths).sort());
});
