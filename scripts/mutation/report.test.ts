import { expect, it } from 'vitest';
import { writeReport } from './report.ts';

const PAGE = 'Before.\n\n<!-- mutation -->\nold figures\n<!-- end -->\n\nAfter.\n';
const at = (line: number, start: number, end: number) => ({
  start: { line, column: start },
  end: { line, column: end },
});
const mutants = [
  { status: 'Killed', replacement: 'false', location: at(1, 7, 12) },
  { status: 'Timeout', replacement: 'true', location: at(1, 7, 12) },
  { status: 'Survived', replacement: 'a >= b', location: at(1, 7, 12) },
  { status: 'NoCoverage', replacement: '', location: at(2, 1, 7) },
  { status: 'CompileError', replacement: 'x', location: at(2, 1, 7) },
];
const files = { 'packages/exchange/src/auth/keys.ts': { source: 'if (  a > b) {}\nstop();', mutants } };

it('writeReport() replaces the old figures, counts by folder, and lists each survivor with its line', () => {
  const page = writeReport(PAGE, { files }, new Date('2026-11-18T12:00:00Z'));
  expect(page).toMatch(/^Before\.\n\n<!-- mutation -->\nThe complete run of 2026-11-18:\n/);
  expect(page).toMatch(/<!-- end -->\n\nAfter\.\n$/);
  expect(page).not.toContain('old figures');
  expect(page).toContain('| `exchange/auth` | 1 | 1 | 1 | 1 | 50.0 % |');
  expect(page).toContain('- `exchange/auth/keys.ts`: 1 `a > b` → `a >= b`; 2 `stop()` → removed.');
});

it('writeReport() throws on a page without the markers', () => {
  expect(() => writeReport('Figures\n', { files }, new Date())).toThrow('no place');
});
