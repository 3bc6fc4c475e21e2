import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

// Workers and the processes that tests start share one compile cache, which halves the start time of `mex`.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url));

// Tests must not use the `mex` profiles of the user who runs them.
process.env.XDG_CONFIG_HOME = fileURLToPath(new URL('node_modules/.cache/no-profiles', import.meta.url));
delete process.env.MEX_PROFILE;

// Temporary files go to memory if there is enough of it, so that PostgreSQL does not wait for a disk. PostgreSQL keeps
// its production settings.
const MEMORY = '/dev/shm';
if (process.env.TMPDIR === undefined && existsSync(MEMORY) && freeBytes(MEMORY) > 8e9) {
  const folder = mkdtempSync(`${MEMORY}/mex-tests-`);
  // Some tests run PostgreSQL under another account, which must be able to enter the folder.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** These files replace modules or measure memory, so each of them runs in a separate process. */
const ALONE = [
  'packages/duchy/test/{secrecy/*,stages/{crashes,noise}}.test.ts',
  'packages/exchange/test/{hostile/descriptors,http/responseSizes}.test.ts',
  'packages/sdk/test/{browser/*,provider/hostileFilters}.test.ts',
];
/** These files stub the environment or start programs. They share processes only with each other. */
const PROGRAMS = [
  'packages/cli/test/**/*.test.ts',
  'packages/console/test/**/*.test.ts',
  'packages/exchange/src/postgres/**/*.test.ts',
  'packages/exchange/test/hostile/{connections,descriptorFuzz,descriptorWork,rpcStreams}.test.ts',
  'packages/exchange/test/production/**/*.test.ts',
  'packages/sdk/test/provider/**/*.test.ts',
  'rig/**/*.test.ts',
  'scripts/**/*.test.ts',
];
/**
 * These files take long and rarely fail, so only `npm run stress` runs them. `.ci/run` uses this command to run some of
 * these files, and a 24th of all stress tests.
 */
export const STRESS_ONLY = [
  'packages/cli/test/{demo,demoDuchies,demoDuchiesDatabase,pack}.test.ts',
  'packages/cli/test/{backup,clientCredentials,companion,computations,console,consolePages,consoleSignIn}.test.ts',
  'packages/cli/test/{deployment,duchy,illDatabase}.test.ts',
  'packages/cli/test/{loadedModules,printedCommand,reports,serve,shareShuffle,warehouseClickHouse}.test.ts',
  'packages/console/test/{adversary,ask,charts,consumer,duchy,everyPage,operator,policy,provider,reports,reportsLive,served,shared}.test.ts',
  'packages/duchy/test/coalitions/{hostileMessages,shareShuffleDuchies,shareShuffleProviders,terms}.test.ts',
  'packages/duchy/test/secrecy/secrecy.test.ts',
  'packages/duchy/test/stages/{crashes,exchangeErrors,following,liquidLegions,noise,sources,traces,verification}.test.ts',
  'packages/exchange/test/eventGroups/scale.test.ts',
  'packages/exchange/test/retention/retentionAtScale.test.ts',
  'packages/exchange/test/{computations,measurements,reports}/races.test.ts',
  'packages/exchange/test/hostile/{connections,descriptorFuzz,descriptors,descriptorWork,rpcStreams}.test.ts',
  'packages/exchange/test/http/generatedClient/*.test.ts',
  'packages/exchange/test/http/responseSizes.test.ts',
  'packages/exchange/test/production/*.test.ts',
  'packages/sdk/src/provider/filter/evaluator.test.ts',
  'packages/sdk/test/consumer/lyingExchangeBounds.test.ts',
  'packages/sdk/test/provider/{agentCrashes,agentRetries,computations,hostileFilters,slices,warehouseClickHouse}.test.ts',
  'packages/sdk/test/readme.test.ts',
  'rig/slice.test.ts',
  'scripts/{ensure-installed,generate}.test.ts',
];
const isStress = process.env.MEX_STRESS !== undefined;
/** Tests of pure functions: they need no database. */
const UNITS = [
  'packages/{contract,consent,mpc,reports}/{src,test}/**/*.test.ts',
  'packages/console/src/**/*.test.ts',
  'packages/exchange/src/{auth,domain,operations}/**/*.test.ts',
  'packages/sdk/src/{client,consumer}/**/*.test.ts',
];

/**
 * Ten times the duration of the slowest test, so that tests pass even on a machine that is ten times slower because of
 * its load.
 */
const TIMEOUT_MS = 180_000;

export const tests = {
  exclude: [...configDefaults.exclude, ...(isStress ? [] : STRESS_ONLY)],
  include: ['packages/*/{src,test}/**/*.test.ts', 'scripts/**/*.test.ts', 'rig/**/*.test.ts'],
  globalSetup: ['packages/testkit/src/globalSetup.ts'],
  setupFiles: ['scripts/fastCheckSeed.ts'],
  // Under stress, all tests get more time, because some repeat something (packages/testkit/src/rounds.ts) or start
  // whole programs.
  testTimeout: isStress ? 1_200_000 : TIMEOUT_MS,
  hookTimeout: isStress ? 1_200_000 : TIMEOUT_MS,
  // Vitest's default of one second is too short on a busy machine.
  expect: { poll: { timeout: 90_000 } },
};

export default defineConfig({
  test: {
    // There are more workers than cores, because a test spends half of its time waiting for a process or a timer.
    maxWorkers: 5,
    // Projects run in the order of their names. The names are chosen so that the longest tests begin first. Files that
    // share a worker also share their imported modules, because importing takes longer than most tests.
    projects: [
      { test: { ...tests, name: 'alone', include: ALONE } },
      {
        test: {
          ...tests,
          name: 'programs',
          include: PROGRAMS,
          exclude: [...tests.exclude, ...ALONE],
          setupFiles: [...tests.setupFiles, 'scripts/restoreEnvironment.ts'],
          isolate: false,
        },
      },
      {
        test: {
          ...tests,
          name: 'services',
          exclude: [...tests.exclude, ...ALONE, ...PROGRAMS, ...UNITS],
          isolate: false,
        },
      },
      { test: { ...tests, name: 'units', include: UNITS, globalSetup: [], isolate: false } },
    ],
  },
});
