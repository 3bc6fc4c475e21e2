/** Draws bar charts with text characters. */

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * Draws a bar that fills the fraction `part` of `width` columns, to the nearest eighth of a column. Any `part` above
 * zero is visible.
 */
export function bar(part: number, width: number): string {
  const eighths = Math.round(Math.min(Math.max(part, 0), 1) * width * 8);
  const drawn = part > 0 ? Math.max(eighths, 1) : 0;
  return '█'.repeat(Math.floor(drawn / 8)) + EIGHTHS[drawn % 8];
}

export interface Bar {
  label: string;
  value: number;
  text: string;
}

const MAX_BAR = 60;
const MIN_BAR = 8;

/**
 * Draws each bar on its own line. The longest bar fills the space between its label and its text, but has at least
 * MIN_BAR and at most MAX_BAR columns.
 */
export function barChart(bars: Bar[], columns: number): string[] {
  const labels = Math.max(...bars.map(({ label }) => label.length));
  const texts = Math.max(...bars.map(({ text }) => text.length));
  const width = Math.min(Math.max(columns - labels - texts - 6, MIN_BAR), MAX_BAR);
  const largest = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  return bars.map(
    ({ label, value, text }) =>
      `  ${label.padStart(labels)}  ${bar(value / largest, width).padEnd(width)}  ${text}`,
  );
}

/** Returns the terminal's width, but at least 40. Defaults to 80 if the width is unknown, as in a pipe. */
export function terminalColumns(): number {
  return Math.max(process.stdout.columns || 80, 40);
}
