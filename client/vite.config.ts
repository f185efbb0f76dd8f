import { svelte } from '@sveltejs/vite-plugin-svelte';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { inputsDigest } from './build/inputs.ts';
import { paths, type RouteName } from './src/lib/router/paths.ts';
import { textsOf } from './src/routes/areas.ts';

const service = process.env.TERRACE_URL ?? 'http://127.0.0.1:3004';
const dist = process.env.TERRACE_CLIENT_DIST ?? '../crates/client/dist';
const lib = fileURLToPath(new URL('./src/lib', import.meta.url));

/** What the service worker needs not keep; the service sets the club's name in the manifest. */
const UNKEPT = /^(?:sw\.js|manifest\.webmanifest|\.inputs|routes\.json|screenshots\/.*)$/;

interface Built {
  type: 'asset' | 'chunk';
  code?: string;
  source?: string | Uint8Array;
  imports?: string[];
  facadeModuleId?: string | null;
  viteMetadata?: { importedCss: Set<string> };
}

type Bundle = Record<string, Built>;

/** The scripts and styles that a chunk needs, with its own. */
function needed(bundle: Bundle, name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const { imports = [], viteMetadata } = bundle[name] ?? {};
  for (const style of viteMetadata?.importedCss ?? []) found.add(style);
  for (const other of imports) needed(bundle, other, found);
  return found;
}

/** The files of a page beside those of the start: its scripts and styles, and its texts in each language. */
interface PageFiles {
  files: string[];
  texts: Record<string, string[]>;
}

/**
 * The paths of all pages, each with the files of its page. Where a page can lead to another one at once, nothing is known
 * before the start has run.
 */
function routes(bundle: Bundle): Record<string, PageFiles> {
  const table = readFileSync(join(import.meta.dirname, 'src/routes/table.ts'), 'utf8');
  const chunkOf = (module: string): string => {
    const known = Object.entries(bundle).find(([, { facadeModuleId: id }]) => id?.endsWith(module));
    if (known === undefined) throw new Error(`no chunk of ${module}`);
    return known[0];
  };
  const start = needed(bundle, chunkOf('/index.html'));
  const beside = (modules: string[]): string[] =>
    [...modules.reduce((found, module) => needed(bundle, chunkOf(module), found), new Set<string>())].filter(
      (file) => !start.has(file),
    );
  const textsIn = (language: string, parts: string[]): string[] =>
    beside(parts.map((part) => `/src/lib/i18n/${language}${part}.ts`));
  return Object.fromEntries(
    Object.entries(paths).map(([name, path]): [string, PageFiles] => {
      const line = new RegExp(`^  ${name}: \\{ load: \\(\\) => import\\('\\.(.+?)'\\)(.*) \\},$`, 'm').exec(
        table,
      );
      const [, module, more] = line ?? [];
      if (module === undefined) throw new Error(`src/routes/table.ts has no line for ${name}`);
      if (more !== '') return [path, { files: [], texts: {} }];
      const parts = textsOf(name as RouteName).map((part) => `-${part}`);
      // The start has the common texts in English alone.
      const texts = { en: textsIn('en', parts), de: textsIn('de', ['', ...parts]) };
      return [path, { files: beside([`/src/routes${module}`]), texts }];
    }),
  );
}

/**
 * Writes what the service needs to know of a build, the pages' paths with their files and the digest of the sources, and
 * into the service worker which files there are, with a digest over them.
 */
function manifest() {
  const open = join(import.meta.dirname, 'public');
  return {
    name: 'terrace-manifest',
    apply: 'build' as const,
    generateBundle: {
      order: 'post' as const,
      handler(
        this: { emitFile: (file: { type: 'asset'; fileName: string; source: string }) => void },
        _: unknown,
        bundle: Bundle,
      ) {
        const published = readdirSync(open, { recursive: true, encoding: 'utf8' })
          .filter((name) => statSync(join(open, name)).isFile())
          .map((name) => [name, readFileSync(join(open, name))] as const);
        const built = Object.entries(bundle).map(
          ([name, file]) => [name, file.code ?? file.source ?? ''] as const,
        );
        const files = [...published, ...built]
          .filter(([name]) => !UNKEPT.test(name))
          .sort(([a], [b]) => (a < b ? -1 : 1));
        const worker = bundle['sw.js'];
        if (worker?.code === undefined || worker.imports?.length !== 0)
          throw new Error('sw.js is not one file');
        const digest = createHash('sha256').update(worker.code);
        for (const [name, content] of files) digest.update(name).update(content);
        const shell = {
          digest: digest.digest('hex').slice(0, 16),
          files: files.map(([name]) => `/${name}`).filter((name) => name !== '/index.html'),
          pages: Object.values(paths),
        };
        worker.code = `const SHELL=${JSON.stringify(shell)};${worker.code}`;
        const known = JSON.stringify(routes(bundle), null, 2);
        this.emitFile({ type: 'asset', fileName: 'routes.json', source: `${known}\n` });
        this.emitFile({
          type: 'asset',
          fileName: '.inputs',
          source: `${inputsDigest(import.meta.dirname)}\n`,
        });
      },
    },
  };
}

export default defineConfig({
  plugins: [svelte(), manifest()],
  resolve: { alias: { $lib: lib } },
  server: {
    // The host stays: the service compares it with the origin of a write.
    proxy: Object.fromEntries(
      ['/api', '/media', '/content', '/theme.css'].map((path) => [path, { target: service }]),
    ),
  },
  build: {
    outDir: dist,
    emptyOutDir: true,
    // Browsers with `light-dark()`, which is not rewritten then.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: ['index.html', 'src/sw.ts'],
      // It only names the framework's functions: a page loads those that it calls.
      treeshake: {
        moduleSideEffects: [{ test: /svelte\/src\/internal\/client\/index\.js$/, sideEffects: false }],
      },
      output: {
        // What many pages share is one file: many small ones compress worse, and each is a request.
        codeSplitting: { groups: [{ name: 'shared', minShareCount: 12 }] },
        // A worker governs the paths below its own.
        entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash:7].js'),
        // Their names are part of the first load; with small letters alone they compress better.
        hashCharacters: 'base36',
        chunkFileNames: 'assets/[name]-[hash:7].js',
        assetFileNames: 'assets/[name]-[hash:5].[ext]',
      },
    },
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  test: {
    // Tests assert no time; a busy machine takes longer.
    expect: { requireAssertions: true, poll: { timeout: 30_000 } },
    testTimeout: 30_000,
    allowOnly: false,
    unstubGlobals: true,
    restoreMocks: true,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['src/**/*.test.ts', 'tests/*.test.ts'], environment: 'node' },
      },
      {
        extends: true,
        resolve: { conditions: ['browser'] },
        test: {
          name: 'components',
          include: ['src/**/*.component.ts'],
          environment: 'happy-dom',
          // A phone: what stands beside a page on a wide screen is not loaded.
          environmentOptions: { happyDOM: { width: 390, height: 844 } },
          setupFiles: ['tests/components.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'screenshots',
          include: ['tests/screenshots/take.ts'],
          environment: 'node',
          testTimeout: 600_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'bench',
          include: ['tests/bench/measure.ts'],
          environment: 'node',
          testTimeout: 3_600_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'busy',
          include: ['tests/bench/busy.ts'],
          environment: 'node',
          testTimeout: 36_000_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['tests/browser/*.browser.ts'],
          environment: 'node',
          globalSetup: 'tests/browser/filled.ts',
          testTimeout: 240_000,
          hookTimeout: 240_000,
          // Beside a service and a browser for each.
          maxWorkers: 2,
          isolate: false,
        },
      },
    ],
  },
});
