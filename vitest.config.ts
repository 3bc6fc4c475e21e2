import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

// Workers, and the processes that tests start, load what another one compiled: `mex` starts in half of the time.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url));

/** Of pure functions: they need no database, and share what they import, which takes longer than they do. */
const UNITS = [
  'packages/{contract,consent}/src/**/*.test.ts',
  'packages/exchange/src/{auth,domain,operations}/**/*.test.ts',
  'packages/sdk/src/{client,consumer,privacy,provider/shareShuffle}/**/*.test.ts',
  'packages/duchy/src/shareShuffle/**/*.test.ts',
];

export const tests = {
  include: ['packages/*/{src,test}/**/*.test.ts', 'scripts/**/*.test.ts', 'rig/**/*.test.ts'],
  globalSetup: ['packages/testkit/src/globalSetup.ts'],
  setupFiles: ['scripts/fastCheckSeed.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

export default defineConfig({
  test: {
    // Two cores: more workers only make the racing tests slower.
    maxWorkers: 2,
    projects: [
      { test: { ...tests, name: 'units', include: UNITS, globalSetup: [], isolate: false } },
      { test: { ...tests, name: 'services', exclude: [...configDefaults.exclude, ...UNITS] } },
    ],
  },
});
