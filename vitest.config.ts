import { defineConfig } from 'vitest/config';

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
