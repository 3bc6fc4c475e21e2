/** What people see: plain sentences on a terminal, JSON for scripts. */

/** An error in the words of whoever threw it; a stack helps nobody who typed a command. */
export function explain(error: unknown): string {
  if (process.env.MEX_DEBUG !== undefined && error instanceof Error) return error.stack ?? error.message;
  return error instanceof Error ? error.message : String(error);
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** Rows under their headings, in columns as wide as their widest value. */
export function printTable(headings: string[], rows: (string | undefined)[][]): void {
  const cells = [headings, ...rows].map((row) => row.map((cell) => visible(cell ?? '')));
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  for (const [i, row] of cells.entries()) {
    const line = row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
    print(i === 0 ? paint('dim', line) : line);
  }
}

/** What others wrote may hold control characters, which could repaint the terminal. */
export function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, '�');
}

const COLOURS = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;

export function paint(colour: keyof typeof COLOURS, text: string): string {
  return process.stdout.isTTY && process.env.NO_COLOR === undefined
    ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m`
    : text;
}
