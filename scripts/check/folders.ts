/** Every folder that a newcomer sees first is described in one line of docs/architecture.md, and no other is. */

/** The folders of packages, of the rig, the benchmarks and the scripts, down to one below src and test. */
const DESCRIBED =
  /^(?:packages\/\w+\/(?:proto\/|(?:src|test)\/(?:\w+\/)?)|(?:bench|rig|scripts)\/(?:\w+\/)?)/;
/** A row of a table that begins with a folder. */
const ROW = /^\| `([^`]+\/)` \| *(\S.*?)? *\|$/gm;

/** `paths` are files, from the root. */
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

/** `packages/sdk/src/` and `packages/sdk/src/client/` of a file in the latter or below it. */
function foldersOf(path: string): string[] {
  const folder = DESCRIBED.exec(path)?.[0];
  if (folder === undefined) return [];
  const parent = /^packages\/\w+\/\w+\/|^\w+\//.exec(folder)![0];
  return [parent, folder];
}
