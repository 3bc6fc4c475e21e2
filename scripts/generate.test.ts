import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAILURE_CODES, PROGRESS_CODES, REASONS } from '@measurement-exchange/contract';
import { REFUSAL_CODES } from '@measurement-exchange/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printFiles, staleFiles, write } from './generate.ts';

const files = printFiles();
const code = 'packages/contract/src/gen/wfa/measurement/api/v2alpha/specs_pb.ts';
let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'mex-generate-test-'));
});
afterAll(() => rmSync(root, { recursive: true }));

describe('the generated files', () => {
  it('include the errors, the refusals, the failures, the OpenAPI document and the protobuf code', () => {
    expect([...files.keys()]).toEqual(
      expect.arrayContaining([
        'docs/errors.md',
        'docs/refusals.md',
        'docs/failures.md',
        'docs/openapi.json',
        code,
      ]),
    );
    expect(JSON.parse(files.get('docs/openapi.json')!)).toMatchObject({ openapi: '3.1.0' });
  });

  it('list every reason, with its code, status and meaning', () => {
    const rows = files
      .get('docs/errors.md')!
      .split('\n')
      .map((line) => line.replace(/ +/g, ' '));
    expect(rows).toContain(
      `| \`METHOD_NOT_ALLOWED\` | UNIMPLEMENTED | 405 | ${REASONS.METHOD_NOT_ALLOWED.meaning} |`,
    );
    expect(rows.filter((row) => row.startsWith('| `'))).toHaveLength(Object.keys(REASONS).length);
  });

  it('list the meaning and the remedy of every refusal code', () => {
    const text = files.get('docs/refusals.md')!;
    for (const [code, { justification, meaning, remedy }] of Object.entries(REFUSAL_CODES)) {
      expect(text).toContain(`| \`${code}\` | ${justification} | ${meaning} | ${remedy} |`);
    }
  });

  it('list the meaning and the remedy of every failure code of a duchy', () => {
    const text = files.get('docs/failures.md')!;
    for (const [code, { meaning, remedy }] of Object.entries(FAILURE_CODES)) {
      expect(text).toContain(`| \`${code}\` | ${meaning} | ${remedy} |`);
    }
    for (const [code, meaning] of Object.entries(PROGRESS_CODES)) {
      expect(text).toContain(`| \`${code}\` | ${meaning} |`);
    }
  });
});

describe('a generated file', () => {
  it('is stale if it is missing, until it is written', () => {
    expect(staleFiles(root, files)).toEqual([...files.keys()].sort());
    for (const [path, content] of files) write(root, path, content);
    expect(staleFiles(root, files)).toEqual([]);
  });

  it('is stale if it was edited', () => {
    const file = join(root, code);
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n`);
    expect(staleFiles(root, files)).toEqual([code]);
    write(root, code, files.get(code));
  });

  it('is stale if it is left over in the protobuf code, until it is removed', () => {
    const leftOver = 'packages/contract/src/gen/old_pb.ts';
    write(root, leftOver, '');
    expect(staleFiles(root, files)).toEqual([leftOver]);
    write(root, leftOver, files.get(leftOver));
    expect(staleFiles(root, files)).toEqual([]);
  });
});
