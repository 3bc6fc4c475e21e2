/**
 * Settings for mutation testing of the code that makes decisions. docs/mutation.md says what is mutated, what is left
 * out, and which mutants survive.
 */
export default {
  plugins: ['@stryker-mutator/vitest-runner', './scripts/mutation/ignore.mjs'],
  testRunner: 'vitest',
  vitest: { configFile: 'scripts/mutation/vitest.config.ts' },
  mutate: [
    'packages/exchange/src/{auth,domain,protobuf}/**/*.ts',
    'packages/exchange/src/operations/{paging,trust}.ts',
    'packages/consent/src/{base/cache,certificates/*,messages/nonce,signatures/*,trust/*}.ts',
    'packages/contract/src/{values/names,requests/router}.ts',
    '!**/*.test.ts',
  ],
  ignorers: ['messages'],
  // Stryker tests a copy of the repository, which needs only the files that the tests import. Leave out tsconfig.json,
  // too, because Stryker would read it with TypeScript 5.
  ignorePatterns: [
    '/bench',
    '/docs',
    '/packaging',
    '/reports',
    '/rig',
    '/tsconfig*.json',
    '/packages/{cli,sdk}',
  ],
  disableTypeChecks: false,
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // Stryker adds this timeout to the normal duration of the tests. It is long, so that a mutant does not seem to hang
  // on a busy machine.
  timeoutMS: 60_000,
  incrementalFile: 'reports/stryker-incremental.json',
  tempDirName: '.stryker-tmp',
  reporters: ['clear-text', 'progress-append-only', 'json', 'html'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: 'reports/mutation.json' },
  htmlReporter: { fileName: 'reports/mutation.html' },
  thresholds: { high: 95, low: 90, break: 85 },
};
