/**
 * The rows of a run, written to `rig/out/<scale>.json` as they come, so that a long run that is stopped loses none.
 * A whole run begins anew; `--only` adds to what is there, and replaces the row of the same harness.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome, Scale } from './harness.ts';
import { addTallies, type Total } from './tally.ts';

export interface Row extends Outcome {
  /** `H2`, or with a bug planted `H2 no-parent-lock` or `test nonce-unchecked`. */
  name: string;
  title: string;
  seed: number;
  seconds: number;
  endedAt: string;
  /** With a bug planted: what it was found by. */
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

  /** Results of earlier runs, in the order of these names. */
  load(): this {
    try {
      this.rows = JSON.parse(readFileSync(this.file, 'utf8')).rows;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    return this;
  }

  /** Nothing of earlier runs. */
  clear(): void {
    rmSync(this.file, { force: true });
  }

  add(row: Row): void {
    // Another rig, of other harnesses, may have added to it meanwhile.
    this.load();
    this.rows = [...this.rows.filter(({ name }) => name !== row.name), row];
    this.rows.sort((a, b) => numberOf(a) - numberOf(b));
    writeFileSync(this.file, toText({ scale: this.scale, rows: this.rows }));
  }
}

/** The order of a table: tests come after the harnesses. */
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
