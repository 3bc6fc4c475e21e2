/** Standard error as a terminal. */
import { onTestFinished } from 'vitest';

/** Until the end of the test. */
export function asTerminal(): void {
  const { isTTY } = process.stderr;
  process.stderr.isTTY = true;
  onTestFinished(() => {
    process.stderr.isTTY = isTTY;
  });
}

/** The lines on a screen where this was written; knows only the control sequences that the display of progress uses. */
export function screenOf(written: string): string[] {
  const lines: string[] = [];
  let row = 0;
  // Before each part there is a control sequence, or nothing.
  for (const part of written.split('\u001b[')) {
    const [control = '', up] = /^(?:(\d+)A|J|2K)/.exec(part) ?? [];
    if (up !== undefined) row -= Number(up);
    else if (control === 'J') lines.length = row;
    else if (control === '2K') lines[row] = '';
    for (const [i, text] of part.slice(control.length).split('\n').entries()) {
      if (i > 0) row++;
      lines[row] = text + (lines[row] ?? '').slice(text.length);
    }
  }
  return lines.filter((line) => line !== '');
}
