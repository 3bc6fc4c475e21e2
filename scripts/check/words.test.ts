import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commentsOf, wordProblems } from './words.ts';

function problemsOf(source: string): string[] {
  const root = mkdtempSync(join(tmpdir(), 'words-'));
  mkdirSync(join(root, 'packages/a/src'), { recursive: true });
  writeFileSync(join(root, 'packages/a/src/a.ts'), source);
  return wordProblems(root);
}

test.each([
  '// Who takes nothing for this long is cut.',
  '/** What the callback gets. */',
  '/**\n * The roots of a party. Of those that are\n * revoked, the latest.\n */',
  'const a = 1; // the last page, or where there is none, the first',
  '// The wish for a protocol is no content.',
  '// A page for whoever asks: it is sent to who asked.',
  '// The scan goes on after a restart.',
])('%j is reported', (source) => {
  expect(problemsOf(source)).toHaveLength(1);
});

test.each([
  '// A client that does not read for this long is disconnected.',
  '// The analyst who asked reads it.',
  '// There is no certificate, and it is no longer asked for.',
  "const a = 'Who asks?'; const url = 'https://example.com/What is it';",
])('%j is not reported', (source) => {
  expect(problemsOf(source)).toEqual([]);
});

test('commentsOf() joins the lines of one comment', () => {
  expect(commentsOf('// The first\n// sentence.\nconst a = 1;\n\n/** Another. */')).toEqual([
    { line: 1, text: 'The first sentence.' },
    { line: 5, text: 'Another.' },
  ]);
});
