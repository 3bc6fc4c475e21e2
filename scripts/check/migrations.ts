import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Statements that break replicas of the previous version. Such replicas still serve requests during a migration: they
 * read the columns that they know, and write rows without the new columns.
 */
const BREAKING: [pattern: RegExp, problem: string][] = [
  [/\bDROP\s+(?:TABLE|COLUMN|FUNCTION)\b/i, 'drops what the version before still uses'],
  [/\bRENAME\b/i, 'renames what the version before still uses'],
  [
    /\bALTER\s+(?:COLUMN\s+)?\w+\s+(?:SET\s+DATA\s+)?TYPE\b/i,
    'changes the type of a column that the version before uses',
  ],
  [/\bSET\s+NOT\s+NULL\b/i, 'requires a column that the version before may not write'],
  [
    /\bADD\s+(?!CONSTRAINT\b)(?=[^,;]*\bNOT\s+NULL\b)(?![^,;]*\bDEFAULT\b)/i,
    'adds a column without a default that the version before does not write',
  ],
];

export function breakingChanges(sql: string): string[] {
  let statements = sql.replace(/--.*$/gm, '');
  // Remove what is in parentheses, such as the precision of a type or the condition of a CHECK, from the inside out.
  for (let before = ''; before !== statements; ) {
    before = statements;
    statements = before.replace(/\([^()]*\)/g, ' ');
  }
  return BREAKING.filter(([pattern]) => pattern.test(statements)).map(([, problem]) => problem);
}

/**
 * Finds published migrations that were changed or removed, and migrations that break the previous version. A published
 * migration has already run on other databases, so its checksum must not change. Migrations with a number below
 * `compatibleFrom` are allowed to break the previous version.
 */
export function migrationProblems(directory: string, compatibleFrom: number): string[] {
  const sums = new Map(
    readFileSync(join(directory, 'SHA256SUMS'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/).reverse() as [string, string]),
  );
  const files = globSync('*.sql', { cwd: directory }).sort();
  const missing = [...sums.keys()].filter((file) => !files.includes(file));
  return [
    ...missing.map((file) => `${file}: a migration may not be removed`),
    ...files.flatMap((file) => {
      const sum = createHash('sha256')
        .update(readFileSync(join(directory, file)))
        .digest('hex');
      const breaking =
        Number(file.slice(0, 4)) < compatibleFrom
          ? []
          : breakingChanges(readFileSync(join(directory, file), 'utf8'));
      if (breaking.length > 0) return breaking.map((problem) => `${file}: ${problem}`);
      if (!sums.has(file)) return [`${file}: add "${sum}  ${file}" to ${directory}/SHA256SUMS`];
      return sums.get(file) === sum
        ? []
        : [`${file}: a migration may not change; write the next one instead`];
    }),
  ];
}
