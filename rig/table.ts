/** The table that is printed at the end of a run, in Markdown. */
import type { Scale } from './harness.ts';
import { type Row, totalOf } from './results.ts';
import { TARGETS, type Total } from './tally.ts';

/** The figures of one row. A figure that does not apply is 0, and its cell is empty. */
type Figures = Total & { faults: number; doctorRuns: number; violations: number; seconds: number };

const COLUMNS: [title: string, key: keyof Figures][] = [
  ['operations', 'operations'],
  ['faults', 'faults'],
  ['exchange kills', 'exchangeKills'],
  ['PostgreSQL kills', 'postgresKills'],
  ['duchy kills', 'duchyKills'],
  ['failovers', 'failovers'],
  ['fuzz requests', 'fuzzRequests'],
  ['lost', 'lostAcknowledgements'],
  ['5xx', 'serverErrors'],
  ['first success', 'firstSuccessMs'],
  ['doctor', 'doctorRuns'],
  ['violations', 'violations'],
  ['seconds', 'seconds'],
];
/** Columns in which a zero has a meaning, so it is printed. */
const ALWAYS: (keyof Figures)[] = [
  'operations',
  'lostAcknowledgements',
  'serverErrors',
  'violations',
  'seconds',
];

export function printTable(rows: readonly Row[], scale: Scale): void {
  const wanted = Object.entries(TARGETS[scale]).map(([key, least]) => [
    key,
    `≥ ${least.toLocaleString('en')}`,
  ]);
  const line = (name: string, cells: Partial<Record<keyof Figures, string>>, title: string) => [
    name,
    ...COLUMNS.map(([, key]) => cells[key] ?? ''),
    title,
  ];
  const lines = [
    ...rows.map((row) => line(row.name, cellsOf(figuresOf(row)), row.title)),
    line('total', cellsOf(sumOf(rows)), ''),
    ...(wanted.length === 0 ? [] : [line('target', Object.fromEntries(wanted), '')]),
  ];
  print(['harness', ...COLUMNS.map(([title]) => title), ''], lines);
  for (const row of rows) for (const note of row.notes ?? []) console.log(`${row.name}: ${note}`);
}

export function printPlanted(rows: readonly Row[]): void {
  print(
    ['finder', 'planted bug', 'operations', 'seconds', 'found by'],
    rows.map((row) => {
      const [id, bug] = row.name.split(' ');
      const found = (row.found ?? row.violations[0]!).replaceAll(/[\n|]/g, ' ').slice(0, 110);
      return [id!, bug!, row.operations.toLocaleString('en'), row.seconds.toFixed(1), found];
    }),
  );
}

function print(columns: string[], lines: string[][]): void {
  const widths = columns.map((title, i) => Math.max(title.length, ...lines.map((line) => line[i]!.length)));
  const isText = (i: number) => i === 0 || i === columns.length - 1 || columns[i] === 'planted bug';
  const show = (line: string[]) => {
    const cells = line.map((cell, i) => (isText(i) ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)));
    return `| ${cells.join(' | ')} |`;
  };
  const rule = `|${widths.map((width, i) => (isText(i) ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  console.log(['', show(columns), rule, ...lines.map(show), ''].join('\n'));
}

function cellsOf(figures: Figures): Partial<Record<keyof Figures, string>> {
  const shown = (key: keyof Figures) => {
    const figure = figures[key];
    if (figure === 0 && !ALWAYS.includes(key)) return '';
    return `${Math.round(figure).toLocaleString('en')}${key === 'firstSuccessMs' ? ' ms' : ''}`;
  };
  return Object.fromEntries(COLUMNS.map(([, key]) => [key, shown(key)]));
}

function figuresOf({ tally, operations, faults, doctorRuns = 0, violations, seconds }: Row): Figures {
  return { ...tally, operations, faults, doctorRuns, violations: violations.length, seconds };
}

function sumOf(rows: readonly Row[]): Figures {
  const sum = (key: 'faults' | 'doctorRuns' | 'violations' | 'seconds') =>
    rows.reduce((total, row) => total + figuresOf(row)[key], 0);
  return {
    ...totalOf(rows),
    faults: sum('faults'),
    doctorRuns: sum('doctorRuns'),
    violations: sum('violations'),
    seconds: sum('seconds'),
  };
}
