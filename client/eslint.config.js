import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

/** Globals that one module of `lib` wraps. */
const WRAPPED = ['fetch', 'EventSource', 'indexedDB', 'localStorage', 'sessionStorage', 'confirm', 'alert'];

/** What no module imports, except the one that wraps it. */
const IMPORTS = [
  { name: 'svelte/store', message: 'State is a class with runes.' },
  { name: 'openapi-fetch', message: 'Requests go through lib/api.' },
];

const restricted = { paths: IMPORTS };
const slices = [
  'accounts',
  'balances',
  'boards',
  'home',
  'inbox',
  'packs',
  'quests',
  'rewards',
  'room',
  'settings',
  'shop',
  'teams',
  'trivia',
  'wheels',
];

export default ts.config(
  { ignores: ['src/lib/api/schema.d.ts'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  ...ts.configs.recommendedTypeChecked,
  ...svelte.configs.recommended,
  {
    languageOptions: {
      globals: { ...globals.browser, ...globals.node },
      parserOptions: { projectService: true, extraFileExtensions: ['.svelte'] },
    },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': 'off',
      'max-lines': ['error', { max: 300 }],
      'max-lines-per-function': ['error', { max: 60 }],
      'no-undef': 'off',
      // State is replaced whole or has private fields: most dates, addresses and sets need no reactivity.
      'svelte/prefer-svelte-reactivity': 'off',
      'svelte/no-navigation-without-resolve': 'off',
    },
  },
  {
    files: ['src/**'],
    rules: {
      'no-restricted-globals': ['error', ...WRAPPED],
      'no-restricted-imports': ['error', restricted],
    },
  },
  {
    files: ['src/lib/api/client.ts'],
    rules: { 'no-restricted-globals': 'off', 'no-restricted-imports': 'off' },
  },
  {
    files: [
      'src/lib/persisted.svelte.ts',
      'src/lib/router/scroll.ts',
      'src/lib/live/browser.ts',
      'src/sw.ts',
      'src/lib/outbox/database.ts',
    ],
    rules: { 'no-restricted-globals': 'off' },
  },
  {
    files: ['src/lib/ui/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        { ...restricted, patterns: [{ group: ['$lib/api/*', '**/api/*'] }] },
      ],
    },
  },
  ...slices.map((slice) => ({
    files: [`src/routes/${slice}/**`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          ...restricted,
          patterns: slices
            .filter((other) => other !== slice)
            .map((other) => ({
              group: [`**/${other}/*`, '!$lib/**'],
              message: 'A slice imports lib, never another slice.',
            })),
        },
      ],
    },
  })),
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
    rules: {
      'svelte/button-has-type': 'error',
    },
  },
  {
    files: ['**/*.svelte'],
    rules: {
      'svelte/max-lines-per-block': ['error', { script: 100, template: 120, style: 120 }],
      'max-lines': 'off',
      'max-lines-per-function': 'off',
      // The parser knows no types of markup; svelte-check does.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
    },
  },
  { files: ['src/**/*.svelte'], rules: { 'svelte/require-event-prefix': 'error' } },
  { files: ['**/*.js'], ...ts.configs.disableTypeChecked },
  { files: ['**/*.test.ts', '**/*.component.ts', 'tests/**'], rules: { 'max-lines-per-function': 'off' } },
);
