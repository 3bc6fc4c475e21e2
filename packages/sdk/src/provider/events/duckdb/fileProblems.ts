/**
 * Replaces the engine's error messages about files. The new message suggests a remedy and, if possible, names the file
 * and the CSV line. The message can quote text from the file, so only the provider's operator is allowed to see the
 * message.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';

function notThere(file: string): string {
  if (isFolder(file))
    return `${file} is a folder: name its files, such as ${join(file, '*.parquet')} (events.files, or --events).`;
  return `There is no file ${file}: put it there, or correct the path (events.files, or --events).`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function notWhole(file: string): string {
  return `${file} is not a whole Parquet file: write it again, or take it out of the files.`;
}

/**
 * Patterns for the engine's messages about files. `sentence` takes the text that the pattern's first capture group
 * matched, and returns the new message.
 */
const ABOUT_FILES: [pattern: RegExp, sentence: (file: string) => string][] = [
  [/No files found that match the pattern "(.+?)"/, notThere],
  // If a file is missing, the engine tries to read it as a folder, which its settings do not allow.
  [/Cannot access file "(.+?)\/\*\*\/.*" - file system operations are disabled/, notThere],
  [/(?:No magic bytes found at end of|Footer length error in) file '(.+?)'/, notWhole],
  [/File '(.+?)' too small to be a Parquet file/, notWhole],
  [
    /Columns with names: (.+?) do not exist in the CSV File/,
    (columns) =>
      `A CSV file lacks ${columns}, or has a bad line near its start: mex provider check names it.`,
  ],
  [
    /invalid timestamp field format: "(.*?)"/,
    (time) => `${JSON.stringify(time)} in a CSV file is not a time: mex provider check names the line.`,
  ],
  [
    /Cannot open file "(.+?)": Permission denied/,
    (file) => `${file} may not be read by this user: allow it.`,
  ],
];

/**
 * Patterns for the engine's reasons for rejecting a CSV line. `sentence` takes the texts that the pattern's capture
 * groups matched, and returns a new reason.
 */
const ABOUT_LINES: [pattern: RegExp, sentence: (...groups: string[]) => string][] = [
  [
    /Error when converting column "(.*?)"\. Could not convert string "(.*?)" to '?(\w+)/s,
    (column, value, type) => `${JSON.stringify(value)} in the column ${column} is not ${typeName(type!)}`,
  ],
  [
    /Expected Number of Columns: (\d+) Found: (\d+)/,
    (expected, found) => {
      const cutOff = Number(found) < Number(expected) ? ', as if it were cut off' : '';
      return `it has ${found} values instead of ${expected}${cutOff}`;
    },
  ],
  [/unterminated quote/, () => 'a quotation mark is not closed'],
  [/Invalid unicode|not utf-8/i, () => 'it is not UTF-8'],
  [/Maximum line size/, () => 'it is too long to be a line'],
];

const TYPE_NAMES: Record<string, string> = {
  BIGINT: 'a whole number',
  DOUBLE: 'a number',
  DATE: 'a date',
  BOOLEAN: 'true or false',
};
const typeName = (type: string) => (type.startsWith('TIMESTAMP') ? 'a time' : (TYPE_NAMES[type] ?? type));

/** Describes a bad line of a CSV file. `message` is the engine's error message. */
export function lineProblem(file: string, line: string, message: string): string {
  const reasons = ABOUT_LINES.flatMap(([pattern, sentence]) => {
    const match = pattern.exec(message);
    return match ? [sentence(...match.slice(1))] : [];
  });
  return `${file}, line ${line}: ${reasons[0] ?? 'it cannot be read'}. Correct the line, or write the file again.`;
}

/** Describes the problem with a file, or returns undefined if the engine's message is not about a file. */
export function fileProblem(message: string): string | undefined {
  const line = /CSV Error on Line: (\d+)/.exec(message)?.[1];
  const file = /^ *file ?= ?(.+)$/m.exec(message)?.[1]?.trim();
  if (line !== undefined && file !== undefined) return lineProblem(file, line, message);
  for (const [pattern, sentence] of ABOUT_FILES) {
    const match = pattern.exec(message);
    if (match) return sentence(match[1]!);
  }
  return undefined;
}
