/** The tests with a planted bug: `MEX_TEST_PLANTED_BUG=<name> vitest run --config rig/planted/vitest.config.ts <file>`. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { tests } from '../../vitest.config.ts';
import { bugNamed } from './bugs.ts';
import { announce, fileAt, filesOf, plant } from './plant.ts';

const bug = bugNamed(process.env.MEX_TEST_PLANTED_BUG);
/** The name that an edit of the bug uses for the file of a module, if there is such an edit. */
const edited = (id: string) => {
  const file = fileAt(id.split('?')[0]!);
  return file !== undefined && filesOf(bug).includes(file) ? file : undefined;
};
const { foundBy } = bug;
/** Starting the database takes longer than most tests; those beside the sources that find a bug do without. */
const needsDatabase = typeof foundBy === 'string' || foundBy.file.includes('/test/');

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  plugins: [
    {
      name: 'planted-bug',
      enforce: 'pre',
      // A source with a bug in it is not cached: no other run may use it.
      configureVitest: ({ defineCacheKeyGenerator }) =>
        defineCacheKeyGenerator(({ id }) => (edited(id) === undefined ? undefined : false)),
      transform(code, id) {
        const file = edited(id);
        if (file === undefined) return undefined;
        const planted = plant(bug, file, code);
        announce(bug, file);
        return { code: planted, map: null };
      },
    },
  ],
  test: {
    ...tests,
    maxWorkers: 1,
    ...(!needsDatabase && { globalSetup: [] }),
  },
});
