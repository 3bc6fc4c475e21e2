/**
 * A process that runs tests with one planted bug after the other. `testRun.ts` starts this process and sends it the
 * names of bugs. All runs share the database, and the transformed code of the files that no bug changes. Each run has a
 * separate worker process.
 */
import { configDefaults } from 'vitest/config';
import { createVitest, type TestModule } from 'vitest/node';
import { tests } from '../../vitest.config.ts';
import { bugNamed } from './bugs.ts';
import { fileAt, filesOf, type PlantedBug, pathOf, plant } from './plant.ts';

/** How a test ended. `why` is the error of a failed test. */
export interface TestOutcome {
  title: string;
  state: string;
  why?: string;
}

/** The report of a run with one planted bug. */
export interface Report {
  /** The files that were loaded with the bug in them. */
  planted: string[];
  tests: TestOutcome[];
  /** Errors of files that could not run. */
  errors: string[];
}

let bug: PlantedBug | undefined;
const planted = new Set<string>();

/** Returns the file of a module if the edits of the bug change it. */
function edited(id: string): string | undefined {
  const file = fileAt(id.split('?')[0]!);
  return file !== undefined && bug !== undefined && filesOf(bug).includes(file) ? file : undefined;
}

/** The timeout for polls. A planted bug often prevents an awaited event, and without a bug no test waits this long. */
const POLL_MS = 15_000;
/**
 * The timeout for tests that set no timeout themselves. A planted bug often makes a test hang, and without a bug no
 * such test takes this long.
 */
const TEST_MS = 30_000;

const vitest = await createVitest(
  {
    ...tests,
    // Include the tests that only `npm run stress` runs, because one of them may find the bug.
    exclude: configDefaults.exclude,
    testTimeout: TEST_MS,
    expect: { poll: { timeout: POLL_MS } },
    config: false,
    watch: false,
    maxWorkers: 1,
    // Stop after the first failed test.
    bail: 1,
    reporters: [{}],
  },
  {
    plugins: [
      {
        name: 'planted-bug',
        enforce: 'pre',
        // Do not cache a source with a bug, because other runs must not use it.
        configureVitest: ({ defineCacheKeyGenerator }) =>
          defineCacheKeyGenerator(({ id }) => (edited(id) === undefined ? undefined : false)),
        transform(code, id) {
          const file = edited(id);
          if (file === undefined) return undefined;
          const changed = plant(bug!, file, code);
          planted.add(file);
          return { code: changed, map: null };
        },
      },
    ],
  },
);
await vitest.standalone();
// Run no tests yet. This call only starts the database, before any bug is planted.
await vitest.runTestSpecifications([]);

async function run(name: string): Promise<Report> {
  forget();
  bug = bugNamed(name);
  forget();
  planted.clear();
  const { foundBy } = bug;
  if (typeof foundBy === 'string') throw new Error(`${name} is for ${foundBy}, not for a test.`);
  const path = pathOf(foundBy.file);
  const [project] = vitest.projects;
  const pattern = foundBy.name === undefined ? {} : { testNamePattern: new RegExp(foundBy.name) };
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications([
    project!.createSpecification(path, pattern),
  ]);
  const modules = testModules.filter(({ moduleId }) => moduleId === path);
  return {
    planted: [...planted],
    tests: modules.flatMap(outcomesOf),
    errors: [...modules.flatMap((module) => module.errors()), ...unhandledErrors].map((error) =>
      String((error as Error).message),
    ),
  };
}

/** Invalidates the files of the bug, so that they are transformed again. */
function forget(): void {
  for (const file of bug === undefined ? [] : filesOf(bug)) vitest.invalidateFile(pathOf(file));
}

function outcomesOf({ children }: TestModule): TestOutcome[] {
  return [...children.allTests()].map((test) => {
    const { state, errors } = test.result();
    const [error] = errors ?? [];
    const why = error === undefined ? {} : { why: `${error.name}: ${error.message}` };
    return { title: test.fullName, state, ...why };
  });
}

process.on('message', async (name: string) => {
  try {
    process.send!({ report: await run(name) });
  } catch (error) {
    process.send!({ error: String((error as Error).stack) });
  }
});
process.on('disconnect', async () => {
  await vitest.close();
  process.exit();
});
