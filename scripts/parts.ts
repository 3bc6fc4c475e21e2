/**
 * Selects a part of the stress tests or of the planted bugs, because all of them would take too long in every run. The
 * commit determines the part, so that each test and each bug is selected for some commits.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';

export function isInPart(name: string, commit: string, parts: number): boolean {
  return partOf(name, parts) === partOf(commit, parts);
}

function partOf(text: string, parts: number): number {
  return createHash('sha256').update(text).digest().readUInt32BE() % parts;
}

export function headCommit(): string {
  return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', cwd: import.meta.dirname });
}
