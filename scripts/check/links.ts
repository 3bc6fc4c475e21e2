/**
 * Checks the links in Markdown files: each must lead to an existing file and an existing heading. A document that the
 * source code names must exist, too.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const DOCUMENTS = ['*.md', 'docs/**/*.md', 'packages/*/README.md'];
const SOURCES = ['packages/*/src/**/*.{ts,sql}', '{bench,rig,scripts}/**/*.{ts,mjs}', '*.{ts,mjs}'];
const LINK = /\[[^\]]*\]\(([^()\s]+)\)/g;
const FENCED = /^```.*?^```/gms;
const CODE = /`[^`\n]*`/g;

const NAMED = /(?<![\w./-])[\w./-]+\.md\b/g;

/** Returns the problems in the form `file: what is wrong`. */
export function linkProblems(root: string): string[] {
  const documents = globSync(DOCUMENTS, { cwd: root }).sort();
  const sources = globSync(SOURCES, { cwd: root }).filter((file) => !/\.test\.ts$|node_modules/.test(file));
  return [
    ...documents.flatMap((document) => {
      const text = readFileSync(join(root, document), 'utf8').replace(FENCED, '').replace(CODE, '');
      return [...text.matchAll(LINK)].flatMap(([, target]) => problemOf(root, document, target!) ?? []);
    }),
    ...sources
      .sort()
      .flatMap((source) =>
        [...readFileSync(join(root, source), 'utf8').matchAll(NAMED)]
          .filter(
            ([name]) =>
              ![root, join(root, 'docs'), join(root, dirname(source))].some((at) =>
                existsSync(join(at, name)),
              ),
          )
          .map(([name]) => `${source}: there is no document ${name}`),
      ),
  ];
}

function problemOf(root: string, document: string, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [path, anchor] = target.split('#') as [string, string?];
  const file = path === '' ? document : normalize(join(dirname(document), path));
  if (file.startsWith('..')) return `${document}: ${target} leads out of the repository`;
  if (!existsSync(join(root, file))) return `${document}: ${target} leads to no file`;
  if (anchor === undefined || !file.endsWith('.md')) return undefined;
  if (anchorsOf(readFileSync(join(root, file), 'utf8')).has(anchor)) return undefined;
  return `${document}: ${target} leads to no heading`;
}

/** The anchors that GitHub generates for the headings of a document. A repeated heading gets a number. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading] of markdown.replace(FENCED, '').matchAll(/^#+ +(.*)$/gm)) {
    const text = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = text.replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}
