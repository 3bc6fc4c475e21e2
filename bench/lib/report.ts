/** Prints the results of a benchmark: its tables, and each target with the measured figure. */
import { type Figure, show } from './figures.ts';

export type Row = Record<string, string | number>;

export interface Verdict {
  what: string;
  figure: Figure;
  target: string;
  met: boolean;
}

export interface Section {
  name: string;
  /** The raw figures of each round. */
  data: unknown;
  verdicts: Verdict[];
}

/** Returns a verdict on whether the median of the rounds is at least `bound`. */
export function atLeast(what: string, figure: Figure, bound: number): Verdict {
  return { what, figure, target: `≥ ${bound}`, met: figure.median >= bound };
}

export function atMost(what: string, figure: Figure, bound: number): Verdict {
  return { what, figure, target: `≤ ${bound}`, met: figure.median <= bound };
}

export function printTable(title: string, rows: Row[]): void {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? '')))];
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => line[i]!.length)));
  const line = (texts: string[]) =>
    texts
      .map((text, i) => text.padEnd(widths[i]!))
      .join('  ')
      .trimEnd();
  console.log(`\n${title}\n`);
  console.log(line(cells[0]!));
  console.log(widths.map((width) => '─'.repeat(width)).join('  '));
  for (const texts of cells.slice(1)) console.log(line(texts));
}

export function printVerdicts(verdicts: Verdict[]): void {
  if (verdicts.length === 0) return;
  printTable(
    'Targets (ratios within this run; median and spread of the rounds)',
    verdicts.map(({ what, figure, target, met }) => ({
      figure: what,
      measured: show(figure),
      target,
      verdict: met ? 'met' : 'NOT MET',
    })),
  );
}

/** Prints to stderr which part is being measured. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
  else console.error(text);
}

export function progressEnd(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}
