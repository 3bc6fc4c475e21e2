/** Mutation testing of what decides: docs/mutation.md says what is mutated, what is left out, and what survives. */
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
  // The copy needs only what the tests import. Without tsconfig.json, which Stryker would read with TypeScript 5.
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
  // On top of the time that the tests take: long, so that a busy machine does not look like a hanging mutant.
  timeoutMS: 60_000,
  incrementalFile: 'reports/stryker-incremental.json',
  tempDirName: '.stryker-tmp',
  reporters: ['clear-text', 'progress-append-only', 'json', 'html'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: 'reports/mutation.json' },
  htmlReporter: { fileName: 'reports/mutation.html' },
  thresholds: { high: 95, low: 90, break: 85 },
};
