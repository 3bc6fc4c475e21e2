/**
 * Selects a part of the tests that would take too long in every run. The commit chooses the part, so that all tests run
 * over many commits.
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
