import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anchorsOf, linkProblems } from './links.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mex-links-'));
  await mkdir(join(root, 'docs'));
});
afterAll(() => rm(root, { recursive: true }));

it('every link between the documents of this repository has a target that exists', () => {
  expect(linkProblems(fileURLToPath(new URL('../..', import.meta.url)))).toEqual([]);
});

it('linkProblems() reports links to missing files and headings, and links out of the repository', async () => {
  await writeFile(
    join(root, 'README.md'),
    '# Here\n[a](docs/a.md) [b](docs/b.md#b-two) [c](#here) [d](#there)',
  );
  const b =
    '## B: `two`\n[up](../README.md#Here) [out](../../x.md) [web](https://example.com/x.md)\n```\n[no](link)\n```';
  await writeFile(join(root, 'docs/b.md'), b);
  expect(linkProblems(root)).toEqual([
    'README.md: docs/a.md leads to no file',
    'README.md: #there leads to no heading',
    'docs/b.md: ../README.md#Here leads to no heading',
    'docs/b.md: ../../x.md leads out of the repository',
  ]);
});

it('linkProblems() reports missing documents that sources mention', async () => {
  await mkdir(join(root, 'scripts'));
  await writeFile(join(root, 'scripts/a.ts'), '/** See docs/b.md, b.md and design.md. */');
  expect(linkProblems(root)).toContain('scripts/a.ts: there is no document design.md');
  expect(linkProblems(root).filter((problem) => problem.startsWith('scripts/'))).toHaveLength(1);
});

it('anchorsOf() returns the same anchors as GitHub', () => {
  const markdown = "# What's new?\n## The `mex` command\n### [A link](x.md) & more\n## The mex command\n";
  expect([...anchorsOf(markdown)]).toEqual([
    'whats-new',
    'the-mex-command',
    'a-link--more',
    'the-mex-command-1',
  ]);
});
