/** Prints text and tables for people, and JSON for scripts. */
import { styleText } from 'node:util';
import { cut, JsonDecimal, toBase64 } from '@measurement-exchange/contract';
import { systemSentence } from './systemErrors.ts';

/**
 * Returns an error's message, or an explanation of a system error, or the stack if MEX_DEBUG is set. Replaces
 * characters that could make a terminal show misleading text, because the message may quote text from another party.
 */
export function explain(error: unknown): string {
  const failure = error instanceof Error ? error : new Error(String(error));
  const message = systemSentence(failure) ?? failure.message;
  const text = process.env.MEX_DEBUG === undefined ? message : (failure.stack ?? message);
  return shortened(text, MAX_ERROR).split('\n').map(visible).join('\n');
}

/** An error with its own exit code. All other errors exit with 1. */
export class Failed extends Error {
  readonly exitCode: number;
  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/**
 * Control characters, and characters that change the text direction. They could make a terminal show misleading text.
 */
const DECEPTIVE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

let writeNote = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** Prints a note for people. It goes to standard error, so that scripts do not read it as output. */
export function note(text: string): void {
  writeNote(text);
}

/** Replaces the function that writes notes. The returned function restores the previous one. */
export function divertNotes(write: (text: string) => void): () => void {
  const before = writeNote;
  writeNote = write;
  return () => {
    writeNote = before;
  };
}

export function printJson(value: unknown): void {
  print(toJson(value, 2));
}

export function printJsonLine(value: unknown): void {
  print(toJson(value));
}

/** Formats JSON as the API does: bytes in base64, and numbers with all their digits. */
export function toJson(value: unknown, indent?: number): string {
  return (
    JSON.stringify(value, apiForm, indent)
      // Escape the deceptive characters that JSON.stringify leaves unescaped, because a terminal would interpret them.
      .replace(DECEPTIVE, (c) => (c === '\n' ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`))
  );
}

/**
 * Converts a value for JSON.stringify. Reads the original from `this[key]`, because `toJSON` has already converted a
 * Buffer.
 */
function apiForm(this: Record<string, unknown>, key: string, json: unknown): unknown {
  const value = this[key];
  if (value instanceof Uint8Array) return toBase64(value);
  if (typeof value === 'bigint') return JSON.rawJSON(value.toString());
  return value instanceof JsonDecimal ? JSON.rawJSON(value.text) : json;
}

export function printTable(headings: string[], rows: (string | undefined)[][]): void {
  startTable(headings)(rows);
}

/** The width of tables if there is no terminal. */
const WIDTH = 120;

/**
 * Returns a function that prints rows of one table, and can be called once per batch of rows. Columns keep their width
 * in later batches, unless a value is wider. Columns that do not fit into the terminal continue on the next line.
 */
export function startTable(headings: string[]): (rows: (string | undefined)[][]) => void {
  const widths = headings.map((heading) => heading.length);
  let lines: number[][] | undefined;
  return (rows) => {
    const cells = rows.map((row) => row.map((cell) => visible(cell ?? '')));
    for (const row of cells)
      for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i]!, cell.length);
    const isFirst = lines === undefined;
    lines ??= folded(widths, process.stdout.columns || WIDTH);
    const textOf = (row: string[]) =>
      lines!
        .map((columns) => columns.map((i) => (row[i] ?? '').padEnd(widths[i]!)).join(GAP))
        .map((line, i) => (i === 0 ? line : GAP + line).trimEnd())
        .filter((line, i) => i === 0 || line !== '')
        .join('\n');
    if (isFirst) print(paint('dim', textOf(headings)));
    for (const row of cells) print(textOf(row));
  };
}

const GAP = '  ';

/** Distributes columns to as many lines as needed. All lines after the first are indented. */
function folded(widths: number[], width: number): number[][] {
  const lines: number[][] = [[]];
  let used = 0;
  for (const [i, column] of widths.entries()) {
    if (used > 0 && used + column > width) {
      lines.push([]);
      used = GAP.length;
    }
    lines.at(-1)!.push(i);
    used += column + GAP.length;
  }
  return lines;
}

export function printFacts(title: string, facts: Record<string, string | undefined>): void {
  print(paint('bold', title));
  const given = Object.entries(facts).filter(([, value]) => value !== undefined);
  const width = Math.max(...given.map(([label]) => label.length));
  for (const [label, value] of given) print(`  ${label.padEnd(width)}  ${value}`);
}

/**
 * Makes another party's text safe to print: truncates it, and replaces characters that could manipulate the terminal.
 */
export function visible(text: string): string {
  return shortened(text, MAX_TEXT).replace(DECEPTIVE, '\ufffd');
}

/**
 * The maximum number of UTF-16 code units to print: MAX_TEXT for text from another party, and MAX_ERROR for an error.
 */
const MAX_TEXT = 4000;
const MAX_ERROR = 20_000;

function shortened(text: string, max: number): string {
  return text.length <= max ? text.toWellFormed() : `${cut(text, max)}…`;
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

export function paint(style: Style, text: string, stream: { isTTY?: boolean } = process.stdout): string {
  if (!stream.isTTY || process.env.NO_COLOR !== undefined) return text;
  return styleText(style, text, { validateStream: false });
}
