/**
 * Writes the figures and the surviving mutants of the last complete `npm run mutate` into docs/mutation.md:
 * node scripts/mutation/report.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Position {
  line: number;
  column: number;
}

interface Mutant {
  status: string;
  replacement?: string;
  location: { start: Position; end: Position };
}

/** The parts of Stryker's JSON report that are used here. */
export interface MutationReport {
  files: Record<string, { source: string; mutants: Mutant[] }>;
}

const GENERATED = /(<!-- mutation -->\n)[\s\S]*?(<!-- end -->)/;
const COUNTED = ['Killed', 'Timeout', 'Survived', 'NoCoverage'] as const;
const UNNOTICED = ['Survived', 'NoCoverage'];
const MAX_SNIPPET = 50;

if (import.meta.main) {
  const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const report = JSON.parse(readFileSync(path('reports/mutation.json'), 'utf8')) as MutationReport;
  const page = readFileSync(path('docs/mutation.md'), 'utf8');
  writeFileSync(path('docs/mutation.md'), writeReport(page, report, new Date()));
}

export function writeReport(page: string, { files }: MutationReport, day: Date): string {
  const byFolder = Map.groupBy(Object.keys(files).sort(), (file) => file.replace(/\/[^/]*$/, ''));
  const rows = [...byFolder].map(([folder, names]) =>
    rowOf(
      `\`${short(folder)}\``,
      names.flatMap((name) => files[name]!.mutants),
    ),
  );
  const all = rowOf(
    '**all**',
    Object.values(files).flatMap(({ mutants }) => mutants),
  );
  const text = [
    `The complete run of ${day.toISOString().slice(0, 10)}:\n`,
    '| Code | Killed | Timeout | Survived | No coverage | Score |',
    '|---|---:|---:|---:|---:|---:|',
    ...rows,
    `${all}\n`,
    '## Survivors\n',
    'By file: the line, the original, and the mutant that no test noticed.\n',
    ...Object.keys(files)
      .sort()
      .flatMap((name) => survivorsOf(name, files[name]!)),
  ].join('\n');
  if (!GENERATED.test(page)) throw new Error('The page has no place for the report.');
  return page.replace(GENERATED, (_, start, end) => `${start}${text}\n${end}`);
}

function rowOf(title: string, mutants: Mutant[]): string {
  const counts = COUNTED.map((status) => mutants.filter((mutant) => mutant.status === status).length);
  const [killed, timeout] = counts as [number, number];
  const score = (100 * (killed + timeout)) / counts.reduce((a, b) => a + b, 0);
  return `| ${title} | ${counts.map((count) => count.toLocaleString('en')).join(' | ')} | ${score.toFixed(1)} % |`;
}

function short(path: string): string {
  return path.replace(/^packages\//, '').replace('/src', '');
}

function textAt(source: string, { start, end }: Mutant['location']): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1)!.slice(0, end.column - 1);
  lines[0] = lines[0]!.slice(start.column - 1);
  return lines.join(' ');
}

function snippet(text: string): string {
  const flat = text.replace(/\s+/g, ' ').replaceAll('`', "'");
  return flat === ''
    ? 'removed'
    : `\`${flat.length > MAX_SNIPPET ? `${flat.slice(0, MAX_SNIPPET)}…` : flat}\``;
}

function survivorsOf(name: string, { source, mutants }: MutationReport['files'][string]): string[] {
  const survivors = mutants.filter(({ status }) => UNNOTICED.includes(status));
  if (survivors.length === 0) return [];
  const list = survivors.map(
    ({ location, replacement = '' }) =>
      `${location.start.line} ${snippet(textAt(source, location))} → ${snippet(replacement)}`,
  );
  return [`- \`${short(name)}\`: ${list.join('; ')}.`];
}
