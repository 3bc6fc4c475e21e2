/** Checks the decision pages: numbered without gaps, listed in the index, each with its date and status. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const STATUS =
  /^# .+\n\n\*\d{1,2} [A-Z][a-z]+ \d{4}\. (?:Accepted|Amended by|Superseded by)(?: \[[^\]]+\]\([^)]+\))?\.\*\n/;

/** Returns the problems in the form `file: what is wrong`. */
export function decisionProblems(root: string): string[] {
  const folder = join(root, 'docs/decisions');
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  return globSync('[0-9]*.md', { cwd: folder })
    .sort()
    .flatMap((file, i) => {
      const number = String(i + 1);
      const page = readFileSync(join(folder, file), 'utf8');
      const title = /^# (.*)/.exec(page)?.[1];
      return [
        file.startsWith(`${number.padStart(3, '0')}-`) ? [] : `the number must be ${number}: there is a gap`,
        STATUS.test(page)
          ? []
          : 'a line with date and status must follow the title: *17 November 2026. Accepted.*',
        index.includes(`\n${number}. [${title}](${basename(file)})\n`)
          ? []
          : 'its line in README.md is missing',
      ]
        .flat()
        .map((problem) => `docs/decisions/${file}: ${problem}`);
    });
}
