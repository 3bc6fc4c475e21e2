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

it('replaces a file that others could read by one that only the owner reads', async () => {
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

it('leaves nothing behind when it fails', async () => {
  await mkdir(path);
  await expect(writePrivateFile(path, 'text')).rejects.toThrow('EISDIR');
  expect(await readdir(directory)).toEqual(['secret.json']);
});

it('reads the text of a file, undefined for a missing one, and throws other errors', async () => {
  expect(await readIfExists(path)).toBeUndefined();
  await writePrivateFile(path, 'ü');
  expect(await readIfExists(path)).toBe('ü');
  await expect(readIfExists(directory)).rejects.toThrow('EISDIR');
});

it('makes the folders above it for the owner alone', async () => {
  const deep = join(directory, 'a', 'secret.json');
  await writePrivateFile(deep, 'text');
  expect((await stat(join(directory, 'a'))).mode & 0o777).toBe(0o700);
});

it('reports what is wrong with a damaged file, with the cause', async () => {
  await writePrivateFile(path, '{');
  await expect(readOrMakePrivateJson(path, () => expect.fail())).rejects.toMatchObject({
    message: `${path} is damaged: remove it, and a new one is made.`,
    cause: expect.any(SyntaxError),
  });
});
