/**
 * Checks that docs/architecture.md has one line for each folder that `DESCRIBED` matches, and no line for a folder that
 * does not exist.
 */

/**
 * The folders that a newcomer sees first: `proto`, `src` and `test` of each package, the rig, the benchmarks and the
 * scripts. The folders directly below these folders are included, too, except below `proto`.
 */
const DESCRIBED =
  /^(?:packages\/\w+\/(?:proto\/|(?:src|test)\/(?:\w+\/)?)|(?:bench|rig|scripts)\/(?:\w+\/)?)/;
/** A table row that begins with a folder. */
const ROW = /^\| `([^`]+\/)` \| *(\S.*?)? *\|$/gm;

/** `paths` are file paths relative to the root. */
export function folderProblems(paths: string[], architecture: string): string[] {
  const folders = new Set(paths.flatMap(foldersOf));
  const rows = [...architecture.matchAll(ROW)].map(([, folder, words = '']) => ({ folder: folder!, words }));
  const described = new Set(rows.map(({ folder }) => folder));
  return [
    ...[...folders]
      .filter((folder) => !described.has(folder))
      .sort()
      .map((folder) => `${folder} has no line in docs/architecture.md`),
    ...rows
      .filter(({ folder }) => DESCRIBED.test(folder) && !folders.has(folder))
      .map(({ folder }) => `docs/architecture.md describes ${folder}, which does not exist`),
    ...rows
      .filter(({ words }) => words === '')
      .map(({ folder }) => `docs/architecture.md does not say what is in ${folder}`),
    ...[...described]
      .filter((folder) => rows.filter((row) => row.folder === folder).length > 1)
      .map((folder) => `docs/architecture.md describes ${folder} more than once`),
  ];
}

/** Returns the described folders above a file, for example `packages/sdk/src/` and `packages/sdk/src/client/`. */
function foldersOf(path: string): string[] {
  const folder = DESCRIBED.exec(path)?.[0];
  if (folder === undefined) return [];
  const parent = /^packages\/\w+\/\w+\/|^\w+\//.exec(folder)![0];
  return [parent, folder];
}
