/** Makes standard error look like a terminal, and computes the lines that a terminal would display. */
import { onTestFinished } from 'vitest';

/** Makes standard error look like a terminal until the end of the current test. */
export function asTerminal(): void {
  const { isTTY } = process.stderr;
  process.stderr.isTTY = true;
  onTestFinished(() => {
    process.stderr.isTTY = isTTY;
  });
}

/**
 * Returns the nonempty lines on a screen after this text was written. Supports only the control sequences of the
 * progress display.
 */
export function screenOf(written: string): string[] {
  const lines: string[] = [];
  let row = 0;
  // Each part after the first begins with a control sequence that lacks its first two characters.
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
