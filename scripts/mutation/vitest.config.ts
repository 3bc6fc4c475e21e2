/** The tests that run against each mutant: fast tests that need no database. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * Sorts the test files so that a test fails as early as possible if it finds the mutant: first the test beside the
 * mutated file, then small files, then tests that run a compiler.
 */
class LikelyFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const beside = this.ctx.config.related?.map((file) => file.replace(/\.ts$/, '.test.ts')) ?? [];
    const rank = ({ moduleId }: TestSpecification) => {
      const text = readFileSync(moduleId, 'utf8');
      const compiles = /judgeByBuf|metadataSets|execFileSync/.test(text);
      return beside.includes(moduleId) ? 0 : text.length + (compiles ? 1e6 : 0);
    };
    return files.toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  root: at(''),
  test: {
    include: [
      'packages/exchange/src/{auth,domain,protobuf}/**/*.test.ts',
      'packages/exchange/src/operations/*.test.ts',
      'packages/consent/src/{base/cache,certificates/*,messages/nonce,signatures/*,trust/*}.test.ts',
      'packages/contract/src/{values/names,requests/router}.test.ts',
    ],
    setupFiles: ['scripts/fastCheckSeed.ts', 'scripts/mutation/shortRuns.ts'],
    testTimeout: 20_000,
    sequence: { sequencer: LikelyFirst },
    // Each mutant has a separate worker, so its test files can share the modules that they import.
    isolate: false,
  },
});
