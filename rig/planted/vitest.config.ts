/** The tests with a planted bug: `MEX_TEST_PLANTED_BUG=<name> vitest run --config rig/planted/vitest.config.ts <file>`. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { tests } from '../../vitest.config.ts';
import { bugNamed } from './bugs.ts';
import { announce, fileAt, filesOf, plant } from './plant.ts';

const bug = bugNamed(process.env.MEX_TEST_PLANTED_BUG);
const { foundBy } = bug;
/** Starting the database takes longer than most tests; those beside the sources that find a bug do without. */
const needsDatabase = typeof foundBy === 'string' || foundBy.file.includes('/test/');

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  plugins: [
    {
      name: 'planted-bug',
      enforce: 'pre',
      transform(code, id) {
        const file = fileAt(id.split('?')[0]!);
        if (file === undefined || !filesOf(bug).includes(file)) return undefined;
        const planted = plant(bug, file, code);
        announce(bug, file);
        return { code: planted, map: null };
      },
    },
  ],
  test: {
    ...tests,
    maxWorkers: 1,
    // Without the cache: a source with a bug in it must not be used again.
    fsModuleCache: false,
    ...(!needsDatabase && { globalSetup: [] }),
  },
});
