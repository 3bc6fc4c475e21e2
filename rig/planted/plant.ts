/** A planted bug changes the text of a source file while the file is loaded. The file on disk stays as it is. */
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGES = fileURLToPath(new URL('../../packages', import.meta.url));

export interface PlantedBug {
  name: string;
  /** Empty if the bug is only in the database: in its settings or its tables (see `relax`). */
  edits: Edit[];
  /** The cheapest way to find the bug: the ID of a harness, or a test. */
  foundBy: string | NamedTest;
  relax?: Relaxation;
}

export interface NamedTest {
  /** The path relative to `packages/`, for example `exchange/src/domain/time.test.ts`. */
  file: string;
  /** A part of the test's title. Use it for files that take a long time as a whole. */
  name?: string;
}

export interface Edit {
  /** The path relative to `packages/`, for example `exchange/src/main.ts`. */
  file: string;
  /** A snippet that occurs exactly once in the file. A space matches any white space. */
  find: string;
  replace: string;
}

/** Removes guards of the database. The tables also enforce the invariants, so some bugs show only without a guard. */
export interface Relaxation {
  statements: string[];
  /** Checks of the doctor that would report the missing guard itself. */
  ignoredChecks: string[];
}

/** Returns the source of `file` with the bug in it. Throws if a snippet does not occur exactly once. */
export function plant({ name, edits }: PlantedBug, file: string, source: string): string {
  return edits
    .filter((edit) => edit.file === file)
    .reduce((text, { find, replace }) => {
      const found = [...text.matchAll(patternOf(find))];
      if (found.length !== 1) {
        throw new Error(`${name}: expected once in packages/${file}, found ${found.length} times: ${find}`);
      }
      const [match] = found;
      return text.slice(0, match!.index) + replace + text.slice(match!.index + match![0].length);
    }, source);
}

function patternOf(snippet: string): RegExp {
  const words = snippet.trim().split(/\s+/);
  return new RegExp(words.map((word) => RegExp.escape(word)).join('\\s+'), 'g');
}

/** The files that a bug changes. */
export function filesOf({ edits }: PlantedBug): string[] {
  return [...new Set(edits.map(({ file }) => file))];
}

export function pathOf(file: string): string {
  return join(PACKAGES, file);
}

export function readSource(file: string): string {
  return readFileSync(pathOf(file), 'utf8');
}

/** The name that edits use for the file at this path. Undefined outside of `packages/`. */
export function fileAt(path: string): string | undefined {
  const file = relative(PACKAGES, path);
  return file.startsWith('..') ? undefined : file.replaceAll(sep, '/');
}

/** Prints to stderr that a bug was planted. */
export function announce(bug: PlantedBug, file: string): void {
  process.stderr.write(`PLANTED BUG: ${bug.name} in packages/${file}\n`);
}
