/** Formats commands that users can paste into a shell, in the folder from which they started `mex`. */
import { basename, delimiter, dirname, relative } from 'node:path';

export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns the command that started `mex`: `mex`, `npx mex`, `npm run -s mex --`, `node` with the path of a script, or
 * the path of the program. If another program runs this code, returns `mex`.
 */
export function programName(argv: readonly string[] = process.argv, env = process.env): string {
  const path = argv[1] ?? '';
  const file = basename(path);
  if (!/^mex(\.[jt]s|\.mjs)?$/.test(file)) return 'mex';
  if (env.npm_lifecycle_event === 'mex') return 'npm run -s mex --';
  if (env.npm_lifecycle_event === 'npx') return 'npx mex';
  if (file !== 'mex') return `node ${quoteWord(shortest(path))}`;
  const isOnPath = (env.PATH ?? '').split(delimiter).includes(dirname(path));
  return isOnPath ? 'mex' : quoteWord(shortest(path));
}

function shortest(path: string): string {
  const below = `./${relative('', path)}`;
  return below.startsWith('./../') || below.length > path.length ? path : below;
}

/**
 * Formats `mex <command> <options>`, without undefined options. If MEX_DATA_DIR is set and `options` has no `url`, the
 * result also sets MEX_DATA_DIR, because the user may paste the command into a shell that does not have this variable.
 */
export function commandLine(
  command: string,
  options: Readonly<Record<string, string | readonly string[] | undefined>>,
): string {
  const setting = options.url === undefined ? dataDirSetting() : [];
  const words = Object.entries(options).flatMap(([option, value]) =>
    [value ?? []].flat().flatMap((each) => [`--${option}`, quoteWord(each)]),
  );
  return [...setting, programName(), command, ...words].join(' ');
}

export function dataDirSetting(): string[] {
  const { MEX_DATA_DIR: dataDir } = process.env;
  return dataDir === undefined ? [] : [`MEX_DATA_DIR=${quoteWord(dataDir)}`];
}
