/**
 * The rows of a run. Each row is written to `rig/out/<scale>.json` as soon as it is complete, so that a stopped run
 * keeps its rows. A whole run starts a new file. `--only` adds to the existing file, and replaces the rows of the same
 * harnesses.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome, Scale } from './harness.ts';
import { addTallies, type Total } from './tally.ts';

export interface Row extends Outcome {
  /** For example `H2`, or with a planted bug `H2 no-parent-lock` or `test nonce-not-verified`. */
  name: string;
  title: string;
  seed: number;
  seconds: number;
  endedAt: string;
  /** With a planted bug: the violation that shows the bug, or the test that failed. */
  found?: string | undefined;
}

export class Results {
  rows: Row[] = [];
  private readonly file: string;
  private readonly scale: Scale;

  constructor(folder: string, scale: Scale, planted: boolean) {
    mkdirSync(folder, { recursive: true });
    this.scale = scale;
    this.file = join(folder, `${scale}${planted ? '-planted' : ''}.json`);
  }

  /** Loads the rows of earlier runs. */
  load(): this {
    try {
      this.rows = JSON.parse(readFileSync(this.file, 'utf8')).rows;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    return this;
  }

  /** Removes the rows of earlier runs. */
  clear(): void {
    rmSync(this.file, { force: true });
  }

  add(row: Row): void {
    // Load again, because another rig process may have added rows.
    this.load();
    this.rows = [...this.rows.filter(({ name }) => name !== row.name), row];
    this.rows.sort((a, b) => numberOf(a) - numberOf(b));
    writeFileSync(this.file, toText({ scale: this.scale, rows: this.rows }));
  }
}

/** The sort order of a row. Tests come after the harnesses. */
export function numberOf({ name }: Row): number {
  return Number.parseInt(name.slice(1), 10) || Number.MAX_SAFE_INTEGER;
}

export function totalOf(rows: readonly Row[]): Total {
  const operations = rows.reduce((sum, row) => sum + row.operations, 0);
  return { operations, ...addTallies(rows.map(({ tally }) => tally)) };
}

export function toText(value: unknown): string {
  return `${JSON.stringify(value, (_key, v) => (typeof v === 'bigint' ? `${v}` : v), 1)}\n`;
}
