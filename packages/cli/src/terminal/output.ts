/** Prints text and tables for people, and JSON for scripts. */
import { styleText } from 'node:util';
import { cut, JsonDecimal, toBase64 } from '@measurement-exchange/contract';
import { systemSentence } from './systemErrors.ts';

/**
 * Returns an error's message, or its stack if MEX_DEBUG is set. Replaces deceptive characters, because the message may
 * quote other parties.
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

/** Control characters, and characters that change the text direction. They could make a terminal show misleading text. */
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

/** Replaces the function that writes notes. Call the returned function to restore the previous one. */
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

/** Prints a value as a single line of JSON, for lists. */
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

/** Prints rows under their headings. Each column is as wide as its widest value. */
export function printTable(headings: string[], rows: (string | undefined)[][]): void {
  startTable(headings)(rows);
}

/** Starts a table that is printed in batches. Columns keep their width in later batches, unless a value is wider. */
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

/** Prints facts about one resource, one per line. Undefined facts are left out. */
export function printFacts(title: string, facts: Record<string, string | undefined>): void {
  print(paint('bold', title));
  const given = Object.entries(facts).filter(([, value]) => value !== undefined);
  const width = Math.max(...given.map(([label]) => label.length));
  for (const [label, value] of given) print(`  ${label.padEnd(width)}  ${value}`);
}

/** Makes another party's text safe to print: truncates it, and replaces characters that could manipulate the terminal. */
export function visible(text: string): string {
  return shortened(text, MAX_TEXT).replace(DECEPTIVE, '\ufffd');
}

/** The maximum number of characters to print of text from another party (MAX_TEXT) and of an error (MAX_ERROR). */
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
