import { afterEach, expect, it, vi } from 'vitest';
import { explain, printJson, printTable, visible } from '../src/output.ts';

/** What changes the direction of text, and what a terminal obeys. */
const DECEPTIVE = [
  ...['\u061c', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e'],
  ...['\u2066', '\u2067', '\u2068', '\u2069', '\u0000', '\u001b', '\u007f', '\u009b'],
];
const text = DECEPTIVE.map((c) => `a${c}b`).join('');

function printed(print: () => void): string {
  let out = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    out += chunk;
    return true;
  });
  print();
  return out;
}
afterEach(() => {
  vi.restoreAllMocks();
});

it('shows nothing deceptive as JSON, and loses nothing of it', () => {
  const out = printed(() => printJson({ [text]: [text] }));
  for (const c of DECEPTIVE) expect(out, JSON.stringify(c)).not.toContain(c);
  expect(out).toContain('a\\u202eb');
  expect(JSON.parse(out)).toEqual({ [text]: [text] });
  expect(out.split('\n')).toHaveLength(6);
});

it('shows nothing deceptive in tables, facts and errors', () => {
  const outs = [
    printed(() => printTable(['NAME'], [[text]])),
    visible(text),
    explain(new Error(`1\n${text}`)),
  ];
  for (const out of outs) {
    for (const c of DECEPTIVE) expect(out, JSON.stringify(c)).not.toContain(c);
    expect(out).toContain('a\ufffdb');
  }
  expect(outs[2]).toMatch(/^1\n/);
});
