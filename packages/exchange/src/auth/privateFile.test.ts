import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readOrMakePrivateJson, writePrivateFile } from './privateFile.ts';

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mex-private-'));
  path = join(directory, 'secret.json');
});
afterEach(() => rm(directory, { recursive: true }));

it('replaces a file that others could read by one that only the owner reads', async () => {
  await writeFile(path, 'old', { mode: 0o644 });
  await writePrivateFile(path, 'new');
  expect(await readFile(path, 'utf8')).toBe('new');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it('makes a secret once: who comes second takes what is there', async () => {
  const late = await readOrMakePrivateJson(path, async () => {
    await readOrMakePrivateJson(path, async () => ['first']);
    return ['second'];
  });
  expect(late).toEqual(['first']);
  expect(await readOrMakePrivateJson(path, () => expect.fail())).toEqual(['first']);
});

it('leaves nothing behind when it fails', async () => {
  await mkdir(path);
  await expect(writePrivateFile(path, 'text')).rejects.toThrow('EISDIR');
  expect(await readdir(directory)).toEqual(['secret.json']);
});
