import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A published migration has run on databases that we do not see: its text is fixed by its sum. */
export function migrationProblems(directory: string): string[] {
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
      if (!sums.has(file)) return [`${file}: add "${sum}  ${file}" to ${directory}/SHA256SUMS`];
      return sums.get(file) === sum
        ? []
        : [`${file}: a migration may not change; write the next one instead`];
    }),
  ];
}
