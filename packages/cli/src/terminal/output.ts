/** Output: sentences and tables for people, JSON for scripts. */
import { cut, JsonDecimal, toBase64 } from '@measurement-exchange/contract';

/** The message of an error, which may be of somebody else's making; with MEX_DEBUG, its stack. */
export function explain(error: unknown): string {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const text = process.env.MEX_DEBUG === undefined ? message : (stack ?? message);
  return shortened(text, MAX_ERROR).split('\n').map(visible).join('\n');
}

/** An error with its own exit code; every other error exits with 1. */
export class Failed extends Error {
  readonly exitCode: number;
  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Control characters, and those that change the direction of text: in a terminal it would look like something else. */
const DECEPTIVE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

let writeNote = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** Prints to standard error, which scripts do not read. */
export function note(text: string): void {
  writeNote(text);
}

/** Has notes written in another way, until what it returns is called. */
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

/** Prints one value of a list on a line of its own. */
export function printJsonLine(value: unknown): void {
  print(toJson(value));
}

/** JSON as the API prints it: bytes in base64, and numbers with all their digits. */
function toJson(value: unknown, indent?: number): string {
  return (
    JSON.stringify(value, apiForm, indent)
      // JSON does not escape all of these, and a terminal would interpret them.
      .replace(DECEPTIVE, (c) => (c === '\n' ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`))
  );
}

/** `this` holds the value from before its toJSON was called, which bytes may have. */
function apiForm(this: Record<string, unknown>, key: string, json: unknown): unknown {
  const value = this[key];
  if (value instanceof Uint8Array) return toBase64(value);
  if (typeof value === 'bigint') return JSON.rawJSON(value.toString());
  return value instanceof JsonDecimal ? JSON.rawJSON(value.text) : json;
}

/** Rows under their headings, in columns as wide as their widest value. */
export function printTable(headings: string[], rows: (string | undefined)[][]): void {
  startTable(headings)(rows);
}

/** A table that is printed in batches: later rows are aligned with the first ones. */
export function startTable(headings: string[]): (rows: (string | undefined)[][]) => void {
  const widths = headings.map((heading) => heading.length);
  let started = false;
  return (rows) => {
    const cells = rows.map((row) => row.map((cell) => visible(cell ?? '')));
    for (const row of cells)
      for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i]!, cell.length);
    const line = (row: string[]) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd();
    if (!started) print(paint('dim', line(headings)));
    started = true;
    for (const row of cells) print(line(row));
  };
}

/** Names and values of one resource, one below the other; what is undefined is left out. */
export function printFacts(title: string, facts: Record<string, string | undefined>): void {
  print(paint('bold', title));
  const given = Object.entries(facts).filter(([, value]) => value !== undefined);
  const width = Math.max(...given.map(([label]) => label.length));
  for (const [label, value] of given) print(`  ${label.padEnd(width)}  ${value}`);
}

/** Replaces in text from others what could manipulate the terminal, and leaves out what is beyond some lines of it. */
export function visible(text: string): string {
  return shortened(text, MAX_TEXT).replace(DECEPTIVE, '\ufffd');
}

/** The CLI prints at most this many characters of a text that another party wrote, and of an error. */
const MAX_TEXT = 4000;
const MAX_ERROR = 20_000;

function shortened(text: string, max: number): string {
  return text.length <= max ? text.toWellFormed() : `${cut(text, max)}…`;
}

const COLORS = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export function paint(
  color: keyof typeof COLORS,
  text: string,
  stream: { isTTY?: boolean } = process.stdout,
): string {
  return stream.isTTY && process.env.NO_COLOR === undefined
    ? `\u001b[${COLORS[color]}m${text}\u001b[0m`
    : text;
}
