import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRoot, issueLeaf } from '@measurement-exchange/sdk/identity';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createRereadTrustStore, readRoots } from './roots.ts';

const BETA = 'duchies/beta';
let folder: string;
let rootPem: string;
let certificate: Uint8Array;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-roots-'));
  const root = await createRoot('Beta', Date.now());
  rootPem = root.certificatePem;
  certificate = (await issueLeaf(root, 'Beta', Date.now(), { party: BETA })).der;
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

const path = (...names: string[]) => join(folder, ...names);
async function put(file: string, text: string): Promise<void> {
  await mkdir(join(path(file), '..'), { recursive: true });
  await writeFile(path(file), text);
}

it('the trust store trusts a root as soon as its file is in the folder, and stops when the file is removed', async () => {
  await mkdir(path('roots'));
  const problems: string[] = [];
  const given = async () => [path('roots')];
  const trust = createRereadTrustStore(given, { onProblem: (problem) => problems.push(problem) });
  const isTrusted = async () => {
    vi.advanceTimersByTime(1001);
    return trust.verify(BETA, certificate, new Date()).then(
      () => true,
      () => false,
    );
  };
  expect(await isTrusted()).toBe(false);
  await put('roots/duchies/beta.pem', rootPem);
  expect(await isTrusted()).toBe(true);
  // A damaged file is reported once, and the other files stay in use.
  await put('roots/duchies/gamma.pem', rootPem.slice(0, 200));
  expect([await isTrusted(), await isTrusted()]).toEqual([true, true]);
  expect(problems).toEqual([expect.stringMatching(/duchies\/gamma\.pem: .*truncated or damaged/)]);
  // Check that a root that is listed for gamma does not make beta's certificate trusted.
  await rm(path('roots/duchies/beta.pem'));
  await put('roots/duchies/gamma.pem', rootPem);
  expect(await isTrusted()).toBe(false);
});

it('readRoots reports every file that it cannot use', async () => {
  await put('mixed/duchies/beta.pem', rootPem);
  await put('mixed/duchies/notes.txt', 'x');
  await put('mixed/duchies/.hidden', 'x');
  await put('mixed/dutchies/gamma.pem', rootPem);
  await put('mixed/dataProviders/streamly.pem', 'x');
  const { roots, problems } = await readRoots([path('mixed'), `dataProviders/x=${path('none.pem')}`]);
  expect(roots).toEqual([{ party: BETA, pem: expect.stringContaining('BEGIN CERTIFICATE') }]);
  expect(problems).toEqual([
    expect.stringMatching(/duchies\/notes\.txt is not used: name files by their party/),
    expect.stringMatching(/dutchies is not used: name files by their party/),
    expect.stringMatching(/streamly\.pem: it is not a certificate/),
    expect.stringMatching(/none\.pem cannot be read \(ENOENT\)/),
  ]);
});
