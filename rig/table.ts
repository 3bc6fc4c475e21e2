/** The closing table. */
import type { Outcome } from './harness.ts';

export interface Row extends Outcome {
  /** `H2`, or `H2 no-parent-lock`. */
  name: string;
  title: string;
  seconds: number;
  /** With a bug planted: what it was found by. */
  found?: string | undefined;
}

const COLUMNS = ['harness', 'operations', 'faults', 'doctor', 'violations', 'seconds', ''];

export function printTable(rows: Row[]): void {
  const cells = [
    ...rows.map((row) => [
      row.name,
      ...figures(row),
      row.found === undefined ? row.title : `found: ${row.found.slice(0, 90)}`,
    ]),
    ['total', ...figures(sum(rows)), ''],
  ];
  const widths = COLUMNS.map((title, i) => Math.max(title.length, ...cells.map((row) => row[i]!.length)));
  const line = (row: string[]) =>
    row
      .map((cell, i) =>
        i === 0 || i === row.length - 1 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!),
      )
      .join('  ')
      .trimEnd();
  console.log(['', line(COLUMNS), ...cells.map(line)].join('\n'));
  for (const row of rows) for (const note of row.notes ?? []) console.log(`${row.name}: ${note}`);
}

function figures(row: Omit<Row, 'name' | 'title'>): string[] {
  const { operations, faults, doctorRuns = 0, violations, seconds } = row;
  return [operations, faults, doctorRuns, violations.length]
    .map((figure) => figure.toLocaleString('en'))
    .concat(seconds.toFixed(1));
}

function sum(rows: Row[]): Omit<Row, 'name' | 'title'> {
  return {
    operations: rows.reduce((total, row) => total + row.operations, 0),
    faults: rows.reduce((total, row) => total + row.faults, 0),
    doctorRuns: rows.reduce((total, row) => total + (row.doctorRuns ?? 0), 0),
    violations: rows.flatMap((row) => row.violations),
    seconds: rows.reduce((total, row) => total + row.seconds, 0),
  };
}
