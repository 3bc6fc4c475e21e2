import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decisionProblems } from './decisions.ts';

const PAGE = '# A title\n\n*17 November 2026. Accepted.*\n\n**What.** Text.\n';

function problemsOf(pages: Record<string, string>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'decisions-'));
  mkdirSync(join(root, 'docs/decisions'), { recursive: true });
  const all = { 'README.md': '# Decisions\n\n1. [A title](001-a.md)\n', ...pages };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(root, 'docs/decisions', name), text);
  return decisionProblems(root);
}

test('a page with number, date, status and a line in the index has no problem', () => {
  expect(problemsOf({ '001-a.md': PAGE })).toEqual([]);
});

test.each([
  ['a gap', { '001-a.md': PAGE, '003-b.md': PAGE.replace('A title', 'B') }, 'there is a gap'],
  ['no status', { '001-a.md': PAGE.replace('. Accepted', '') }, 'date and status'],
  ['no line in the index', { '001-b.md': PAGE }, 'README.md is missing'],
])('%s is reported', (_, pages, problem) => {
  expect(problemsOf(pages as Record<string, string>).join('\n')).toContain(problem);
});
