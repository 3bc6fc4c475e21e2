import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Workers, and the processes that tests start, load what another one compiled: `mex` starts in half of the time.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url));

export default defineConfig({
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'scripts/**/*.test.ts', 'rig/**/*.test.ts'],
    globalSetup: ['packages/testkit/src/globalSetup.ts'],
    setupFiles: ['scripts/fastCheckSeed.ts'],
    // Two cores: more workers only make the racing tests slower.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
