import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { contentsOf, readExports } from './sdkReference.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mex-reference-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function exportsOf(files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const packages = { followed: join(folder, 'followed.d.ts') };
  return readExports(join(folder, 'index.d.ts'), packages).map((each) => ({
    ...each,
    file: basename(each.file),
  }));
}

it('readExports() reads every kind of exported declaration with its comment, and skips the others', () => {
  const text = `/** Of the file. */
import type { Thing } from './thing.ts';
/**
 * Opens it.
 *
 * Twice is harmless.
 */
export declare function open(options: {
    /** Where it is. */
    path: string;
}): Thing;
interface Hidden {
    a: string;
}
export interface Shown extends Hidden {
    b: number;
}
export declare const LIMIT: 5;
export declare abstract class Base {
    #private;
}
/** Either. */
export type Either = 'a'
    | 'b';
export {};
`;
  const found = exportsOf({ 'index.d.ts': text });
  expect(found.map(({ name }) => name)).toEqual(['open', 'Shown', 'LIMIT', 'Base', 'Either']);
  expect(found[0]).toEqual({
    name: 'open',
    doc: 'Opens it.\n\nTwice is harmless.',
    text: `export declare function open(options: {
    /** Where it is. */
    path: string;
}): Thing;`,
    file: 'index.d.ts',
  });
  expect(found.slice(1).map(({ doc }) => doc)).toEqual(['', '', '', 'Either.']);
  expect(found.at(-1)!.text).toBe("export type Either = 'a'\n    | 'b';");
});

it('readExports() follows re-exports by their new names, and lists exports that other packages declare', () => {
  const found = exportsOf({
    'index.d.ts': `export * from './all.ts';
export { one as first, type Two, } from './some.ts';
export { three } from 'followed';
export { ExchangeError } from '@measurement-exchange/contract';
declare function late(): void;
export { late };
`,
    'followed.d.ts': 'export declare const three: 3;\nexport declare const four: 4;\n',
    'all.d.ts': 'export declare const all: 1;\n',
    'some.d.ts': `/** One. */
export declare function one(a: string): void;
export declare function one(a: number): void;
export declare const notThis: 1;
export type Two = 2;
`,
  });
  expect(found.map(({ name, file }) => [name, file])).toEqual([
    ['all', 'all.d.ts'],
    ['first', 'some.d.ts'],
    ['first', 'some.d.ts'],
    ['Two', 'some.d.ts'],
    ['three', 'followed.d.ts'],
    ['', 'index.d.ts'],
    ['late', 'index.d.ts'],
  ]);
});

it.each([
  ['export default 5;', 'cannot read'],
  ["export { missing } from './index2.ts';", 'cannot find missing'],
])('readExports() throws on an export that it cannot read: %s', (text, message) => {
  expect(() => exportsOf({ 'index.d.ts': text, 'index2.d.ts': 'export {};\n' })).toThrow(message);
});

it('contentsOf() links to every heading by a unique anchor, and to no line of code', () => {
  const body =
    '## sdk\n### client\n#### Clock\n```ts\n# no heading\n```\n#### open\n## sdk/provider\n### client\n#### open\n';
  expect(contentsOf(body)).toBe(
    [
      '- [sdk](#sdk)',
      '  - [client](#client): [Clock](#clock) [open](#open)',
      '- [sdk/provider](#sdkprovider)',
      '  - [client](#client-1): [open](#open-1)',
    ].join('\n'),
  );
});
