import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { explain, printJson, printTable, visible } from '../src/terminal/output.ts';

/** Characters that change the direction of text or that control a terminal. */
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

it('printJson escapes control characters and characters that change the direction of text, without loss', () => {
  const out = printed(() => printJson({ [text]: [text] }));
  for (const c of DECEPTIVE) expect(out, JSON.stringify(c)).not.toContain(c);
  expect(out).toContain('a\\u202eb');
  expect(JSON.parse(out)).toEqual({ [text]: [text] });
  expect(out.split('\n')).toHaveLength(6);
});

it('tables, visible() and explain() replace control characters and characters that change the direction', () => {
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

it('shows at most 4,000 characters of a text that another party wrote', () => {
  expect(visible('x'.repeat(4000))).toBe('x'.repeat(4000));
  expect(visible('x'.repeat(40_000))).toBe(`${'x'.repeat(4000)}…`);
});

it('visible() never cuts a surrogate pair, and replaces a lone surrogate', () => {
  const cut = visible(`x${'🎬'.repeat(20_000)}`);
  expect(cut.isWellFormed()).toBe(true);
  expect(cut).toHaveLength(4000);
  expect(visible('half \ud83c.')).toBe('half \ufffd.');
});

it('visible() replaces each control or direction character with U+FFFD', () => {
  expect(visible('a\u001b[2Jb\u202ec\r\n')).toBe('a\ufffd[2Jb\ufffdc\ufffd\ufffd');
});

it('explain() returns at most 20,000 characters of an error, with its line breaks', () => {
  const explained = explain(new Error('a line\n'.repeat(100_000)));
  expect(explained.length).toBeLessThanOrEqual(20_001);
  expect(explained.startsWith('a line\na line\n')).toBe(true);
});

it('printTable wraps columns that do not fit into the terminal, or into 120 characters, to the next line', () => {
  const table = () =>
    printTable(
      ['A', 'B', 'C', 'D'],
      [
        ['aaaa', 'bbbb', 'cccc', 'dd'],
        ['a', 'b'],
      ],
    );
  const { columns } = process.stdout;
  onTestFinished(() => {
    process.stdout.columns = columns;
  });
  const at = (width: number) => {
    process.stdout.columns = width;
    return printed(table);
  };
  const wide = 'A     B     C     D\naaaa  bbbb  cccc  dd\na     b\n';
  expect(at(0)).toBe(wide);
  const long = 'x'.repeat(58);
  expect(printed(() => printTable(['A', 'B'], [[long, `${long}xx`]]))).toBe(
    `A${' '.repeat(59)}B\n${long}  ${long}xx\n`,
  );
  expect(printed(() => printTable(['A', 'B'], [[long, `${long}xxx`]]))).toBe(
    `A\n  B\n${long}\n  ${long}xxx\n`,
  );
  expect(at(20)).toBe(wide);
  expect(at(19)).toBe('A     B     C\n  D\naaaa  bbbb  cccc\n  dd\na     b\n');
  expect(at(12)).toBe('A     B\n  C     D\naaaa  bbbb\n  cccc  dd\na     b\n');
  expect(at(3)).toBe('A\n  B\n  C\n  D\naaaa\n  bbbb\n  cccc\n  dd\na\n  b\n');
});
