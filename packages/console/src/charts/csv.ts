/** Writes a table as CSV (RFC 4180), for a spreadsheet or a notebook. */
import type { Table } from './chart.ts';

export function toCsv({ columns, rows }: Table): string {
  return [columns, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(value: string | number): string {
  // Put an apostrophe before text that starts like a formula, because a spreadsheet would otherwise run the formula.
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
