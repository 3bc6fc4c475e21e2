import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readIfExists, readOrMakePrivateJson, writePrivateFile } from './privateFile.ts';

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mex-private-'));
  path = join(directory, 'secret.json');
});
afterEach(() => rm(directory, { recursive: true }));

it('replaces a file of mode 0644 with a file of mode 0600', async () => {
  await writeFile(path, 'old', { mode: 0o644 });
  await writePrivateFile(path, 'new');
  expect(await readFile(path, 'utf8')).toBe('new');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it('creates a secret once: a second caller reads the first one', async () => {
  const late = await readOrMakePrivateJson(path, async () => {
    await readOrMakePrivateJson(path, async () => ['first']);
    return ['second'];
  });
  expect(late).toEqual(['first']);
  expect(await readOrMakePrivateJson(path, () => expect.fail())).toEqual(['first']);
});

it('leaves no temporary file after a failed write', async () => {
  await mkdir(path);
  await expect(writePrivateFile(path, 'text')).rejects.toThrow('EISDIR');
  expect(await readdir(directory)).toEqual(['secret.json']);
});

it('returns the text of a file, or undefined if it is missing, and throws other errors', async () => {
  expect(await readIfExists(path)).toBeUndefined();
  await writePrivateFile(path, 'ü');
  expect(await readIfExists(path)).toBe('ü');
  await expect(readIfExists(directory)).rejects.toThrow('EISDIR');
});

it('creates missing parent folders with mode 0700', async () => {
  const deep = join(directory, 'a', 'secret.json');
  await writePrivateFile(deep, 'text');
  expect((await stat(join(directory, 'a'))).mode & 0o777).toBe(0o700);
});

it('throws an error with the path and the cause for a damaged file', async () => {
  await writePrivateFile(path, '{');
  await expect(readOrMakePrivateJson(path, () => expect.fail())).rejects.toMatchObject({
    message: `${path} is damaged: remove it, and a new one is made.`,
    cause: expect.any(SyntaxError),
  });
});
