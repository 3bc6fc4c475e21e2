/** A planted bug is a change to the text of a source file, made when the file is loaded; the file stays as it is. */
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGES = fileURLToPath(new URL('../../packages', import.meta.url));

export interface PlantedBug {
  name: string;
  /** None where the bug is in the database's settings only. */
  edits: Edit[];
  /** The cheapest finder: a harness by its ID, or a test. */
  foundBy: string | NamedTest;
  relax?: Relaxation;
}

export interface NamedTest {
  /** `exchange/src/domain/time.test.ts`, from `packages/`. */
  file: string;
  /** A part of the test's title, where the whole file would take long. */
  name?: string;
}

export interface Edit {
  /** `exchange/src/main.ts`, from `packages/`. */
  file: string;
  /** Occurs exactly once in the file; a space matches any white space. */
  find: string;
  replace: string;
}

/** The tables enforce the invariants, too, so some bugs show only when a guard of the database is removed. */
export interface Relaxation {
  statements: string[];
  /** Checks of the doctor that would report the missing guard instead of its consequences. */
  ignoredChecks: string[];
}

/** The source of `file` with the bug in it. Throws when a snippet is not there exactly once. */
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

/** The name that edits use for the file of this path; undefined outside the packages. */
export function fileAt(path: string): string | undefined {
  const file = relative(PACKAGES, path);
  return file.startsWith('..') ? undefined : file.replaceAll(sep, '/');
}

/** Tells those who run a program with a bug that it is there. */
export function announce(bug: PlantedBug, file: string): void {
  process.stderr.write(`PLANTED BUG: ${bug.name} in packages/${file}\n`);
}
