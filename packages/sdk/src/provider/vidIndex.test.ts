import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { populationFingerprint, VidIndex } from '@measurement-exchange/mpc/shares/vidIndex';
import { orderVids } from '@measurement-exchange/mpc/shares/vidOrder';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { openVidIndex, readIndexes, writeIndexes } from './vidIndex.ts';

const RANGES = [
  { start: 1, end: 700 },
  { start: 5000, end: 5299 },
];
const folders: string[] = [];
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-vids-'));
  folders.push(folder);
});
afterAll(() => Promise.all(folders.map((each) => rm(each, { recursive: true }))));

function expectRight(index: VidIndex) {
  const expected = new VidIndex(RANGES, orderVids(RANGES));
  expect(index.size).toBe(1000);
  for (let vid = 0; vid <= 5300; vid++) expect(index.of(vid)).toBe(expected.of(vid));
}

async function file(): Promise<string> {
  const names = await readdir(folder);
  expect(names).toHaveLength(1);
  return join(folder, names[0]!);
}

test('openVidIndex creates an index once, and reads it from its file afterwards', async () => {
  expectRight(await openVidIndex(join(folder, 'new'), RANGES));
  folder = join(folder, 'new');
  const before = await readFile(await file());
  expectRight(await openVidIndex(folder, RANGES.toReversed()));
  expect((await readFile(await file())).equals(before)).toBe(true);
  expect(before).toHaveLength(68 + 4000);
});

function flipped(bytes: Buffer, at: number): Buffer {
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes;
}

test.each<[string, (bytes: Buffer) => Buffer]>([
  ['a changed byte of the indexes', (bytes) => flipped(bytes, 2000)],
  ['a changed magic number', (bytes) => flipped(bytes, 0)],
  ['a changed fingerprint', (bytes) => flipped(bytes, 10)],
  ['a changed digest', (bytes) => flipped(bytes, 40)],
  ['missing bytes', (bytes) => bytes.subarray(0, -4)],
  ['additional bytes', (bytes) => Buffer.concat([bytes, Buffer.alloc(4)])],
  ['no content', () => Buffer.alloc(0)],
])('readIndexes returns undefined for a file with %s', async (_, spoil) => {
  const path = join(folder, 'index');
  const fingerprint = populationFingerprint(RANGES);
  await writeIndexes(path, fingerprint, orderVids(RANGES));
  expect(await readIndexes(path, fingerprint, 1000)).toEqual(orderVids(RANGES));
  await writeFile(path, spoil(await readFile(path)));
  expect(await readIndexes(path, fingerprint, 1000)).toBeUndefined();
});

test('openVidIndex replaces a corrupt file', async () => {
  await openVidIndex(folder, RANGES);
  const good = await readFile(await file());
  await writeFile(await file(), flipped(Buffer.from(good), 2000));
  expectRight(await openVidIndex(folder, RANGES));
  expect((await readFile(await file())).equals(good)).toBe(true);
});

test('openVidIndex leaves no file behind if it is aborted', async () => {
  const reason = new Error('stop');
  await expect(openVidIndex(folder, RANGES, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const opening = openVidIndex(folder, [{ start: 1, end: 20_000_000 }], controller.signal);
  setTimeout(() => controller.abort(), 50);
  await expect(opening).rejects.toMatchObject({ name: 'AbortError' });
  expect(await readdir(folder)).toEqual([]);
});

test('openVidIndex keeps the 8 files that were used last, and deletes old temporary files', async () => {
  const old = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const make = async (name: string, hours: number) => {
    await writeFile(join(folder, name), 'x');
    await utimes(join(folder, name), old(hours), old(hours));
  };
  await openVidIndex(folder, RANGES);
  const kept = (await file()).split('/').at(-1)!;
  await utimes(join(folder, kept), old(9), old(9));
  for (let i = 1; i <= 8; i++) await make(`${i}.vids`, i);
  await make('1.vids.crashed', 2);
  await make('1.vids.being-written', 0.5);
  await make('shares', 99);
  // The folder has nine files with orders of VIDs, and the second call adds a tenth. Only the eight files that were
  // used last are kept. The first call counts as a use of the file for RANGES, so this file must be among the eight.
  await openVidIndex(folder, RANGES);
  await openVidIndex(folder, [{ start: 1, end: 10 }]);
  const names = await readdir(folder);
  expect(names).toContain(kept);
  expect(names.filter((name) => name.endsWith('.vids'))).toHaveLength(8);
  expect(names).not.toContain('7.vids');
  expect(names).not.toContain('8.vids');
  expect(names).toContain('6.vids');
  expect(names.filter((name) => !name.endsWith('.vids')).sort()).toEqual(['1.vids.being-written', 'shares']);
});

test('populationFingerprint is the same for the same VIDs, and differs for other VIDs', () => {
  const hex = (ranges: typeof RANGES) => Buffer.from(populationFingerprint(ranges)).toString('hex');
  expect(hex([{ start: 1, end: 10 }])).toBe(
    '0b206f4cc4e58817ddc932072d882289dff314c399a5bedd3f40cd88c6c98f3f',
  );
  expect(
    hex([
      { start: 6, end: 10 },
      { start: 1, end: 5 },
    ]),
  ).toBe(hex([{ start: 1, end: 10 }]));
  expect(hex([{ start: 1, end: 11 }])).not.toBe(hex([{ start: 1, end: 10 }]));
});

test('VidIndex rejects indexes of another length', () => {
  expect(() => new VidIndex(RANGES, new Uint32Array(999))).toThrow(RangeError);
});
