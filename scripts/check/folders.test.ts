import { expect, it } from 'vitest';
import { folderProblems } from './folders.ts';

const FILES = [
  'packages/sdk/src/index.ts',
  'packages/sdk/src/client/client.ts',
  'packages/sdk/src/client/deep/clock.ts',
  'packages/sdk/test/readme.test.ts',
  'packages/sdk/README.md',
  'rig/network/proxy.ts',
];
const ROWS = [
  '| `packages/sdk/src/` | the entry |',
  '| `packages/sdk/src/client/` | a method for every operation |',
  '| `packages/sdk/test/` | tests |',
  '| `rig/` | harnesses |',
  '| `rig/network/` | proxies |',
  '| `docs/` | these documents |',
];
const problems = (files: string[], rows: string[]) =>
  folderProblems(files, `# Folders\n\n${rows.join('\n')}\n`);

it('folderProblems() returns nothing if every folder has a line', () => {
  expect(problems(FILES, ROWS)).toEqual([]);
});

it('folderProblems() reports folders without a line, even if they contain only other folders', () => {
  const files = ['packages/cli/src/admin/command.ts', 'bench/lib/report.ts'];
  expect(problems([...FILES, ...files], ROWS)).toEqual([
    'bench/ has no line in docs/architecture.md',
    'bench/lib/ has no line in docs/architecture.md',
    'packages/cli/src/ has no line in docs/architecture.md',
    'packages/cli/src/admin/ has no line in docs/architecture.md',
  ]);
});

it('folderProblems() reports missing folders, lines without a description, and duplicate lines', () => {
  expect(problems(FILES, [...ROWS, '| `packages/sdk/src/crypto/` | keys |'])).toEqual([
    'docs/architecture.md describes packages/sdk/src/crypto/, which does not exist',
  ]);
  expect(problems(FILES, ROWS.with(4, '| `rig/network/` | |'))).toEqual([
    'docs/architecture.md does not say what is in rig/network/',
  ]);
  expect(problems(FILES, [...ROWS, '| `rig/` | more harnesses |'])).toEqual([
    'docs/architecture.md describes rig/ more than once',
  ]);
});
