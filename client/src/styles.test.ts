import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Colours are written in one file; everything else names them by their role. */
const TOKENS = 'lib/ui/styles/tokens.css';
const RAW_COLOUR = /#[\da-f]{3,8}\b|\b(?:rgba?|hsla?|oklch|oklab|lab|lch|color)\(/i;
/** Sides that do not turn with the direction of the text. */
const PHYSICAL =
  /(?:^|[\s;{])(?:left|right|(?:margin|padding|border)-(?:left|right|top|bottom)|(?:min-|max-)?(?:width|height)):/;
const VALUE = String.raw`(?:[\w-]+\((?:[^()]|\([^()]*\))*\)|[^\s;()]+)`;
/** Four values of which those of the left and the right differ. */
const LOPSIDED = new RegExp(`(?:padding|margin|inset): ${VALUE} (${VALUE}) ${VALUE} (?!\\1;)${VALUE};`);
const Z_INDEX = /z-index:\s*-?\d/;

const root = new URL('.', import.meta.url);

/** The styles in the sources, without comments and queries. */
function styles(): { name: string; css: string }[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.css') || name.endsWith('.svelte'))
    .map((name) => ({ name, text: readFileSync(new URL(name, root), 'utf8') }))
    .map(({ name, text }) => ({
      name,
      css: (name.endsWith('.css') ? text : (/<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? ''))
        .replaceAll(/\/\*[\s\S]*?\*\//g, '')
        .replaceAll(/@media[^{]*/g, ''),
    }));
}

/** The tokens that components set to values of theirs. */
function setByMarkup(): string[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.svelte'),
  );
  return names.flatMap((name) =>
    [...readFileSync(new URL(name, root), 'utf8').matchAll(/style:(--[\w-]+)=/g)].map(
      ([, token = '']) => token,
    ),
  );
}

test.each([
  ['raw colours', RAW_COLOUR],
  ['physical sides', PHYSICAL],
  ['values for left and right that differ', LOPSIDED],
  ['layers by number', Z_INDEX],
])('styles hold no %s', (_, forbidden) => {
  const all = styles().filter(({ name }) => name !== TOKENS);
  const found = all.flatMap(({ name, css }) =>
    css
      .split('\n')
      .filter((line) => forbidden.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(all.length).toBeGreaterThan(20);
  expect(found).toEqual([]);
});

test('every token that is used exists', () => {
  const all = styles();
  const defined = new Set(
    all.flatMap(({ css }) => [...css.matchAll(/(--[\w-]+)\s*:/g)].map(([, name]) => name)),
  );
  const set = new Set(['--club-l', '--club-c', '--club-h', ...setByMarkup()]);
  const used = all.flatMap(({ name, css }) =>
    [...css.matchAll(/var\((--[\w-]+)\)/g)].map(([, token]) => ({ name, token })),
  );
  const missing = used.filter(({ token }) => !defined.has(token) && !set.has(token ?? ''));
  expect(missing).toEqual([]);
});

test('values for left and right are found where they differ', () => {
  const lopsided = 'padding: calc(var(--s2) + env(safe-area-inset-top)) var(--s3) 0 var(--gutter);';
  expect(LOPSIDED.test(lopsided)).toBe(true);
  expect(LOPSIDED.test('inset: 0 auto 0 0;')).toBe(true);
  expect(LOPSIDED.test('padding: var(--s1) var(--s2) 0 var(--s2);')).toBe(false);
});
