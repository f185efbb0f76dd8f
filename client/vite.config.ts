import { svelte } from '@sveltejs/vite-plugin-svelte';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { inputsDigest } from './build/inputs.ts';
import { paths } from './src/lib/router/paths.ts';

const service = process.env.TERRACE_URL ?? 'http://127.0.0.1:3004';
const dist = process.env.TERRACE_CLIENT_DIST ?? '../crates/client/dist';
const lib = fileURLToPath(new URL('./src/lib', import.meta.url));

/** Writes what the service needs to know of a build: the pages' paths, and the digest of the sources. */
function manifest() {
  return {
    name: 'terrace-manifest',
    apply: 'build' as const,
    generateBundle(this: { emitFile: (file: { type: 'asset'; fileName: string; source: string }) => void }) {
      const routes = JSON.stringify(Object.values(paths), null, 2);
      this.emitFile({ type: 'asset', fileName: 'routes.json', source: `${routes}\n` });
      this.emitFile({ type: 'asset', fileName: '.inputs', source: `${inputsDigest(import.meta.dirname)}\n` });
    },
  };
}

export default defineConfig({
  plugins: [svelte(), manifest()],
  resolve: { alias: { $lib: lib } },
  server: {
    // The host stays: the service compares it with the origin of a write.
    proxy: { '/api': { target: service }, '/media': { target: service } },
  },
  build: {
    outDir: dist,
    emptyOutDir: true,
    // Browsers with `light-dark()`, which is not rewritten then.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  test: {
    expect: { requireAssertions: true },
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
          setupFiles: ['tests/components.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['tests/browser/*.browser.ts'],
          environment: 'node',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
