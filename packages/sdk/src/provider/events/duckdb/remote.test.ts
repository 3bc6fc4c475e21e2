import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEvents } from '../../events.ts';
import { confinement } from './engine.ts';
import { connectRemote, type RemoteFiles, secretStatements } from './remote.ts';

const FILE = 's3://lakeside/2026/*.parquet';
const CONTENT = 'not an extension';
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');
let folder: string;
let remote: RemoteFiles;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'remote-'));
  const file = join(folder, 'httpfs.duckdb_extension');
  await writeFile(file, CONTENT);
  remote = { prefixes: ['s3://lakeside/2026/'], extension: { file, sha256: SHA256 } };
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const problemOf = (settings: Partial<RemoteFiles>, files: string | string[] = FILE) =>
  openEvents({ files, remote: { ...remote, ...settings } }).then(
    () => expect.fail('the events were opened'),
    (error: Error) => error.message,
  );

describe('files at a store', () => {
  it.each([
    ['s3://lakeside/2025/a.parquet'],
    ['s3://lakeside/2026'],
    ['s3://other/2026/a.parquet'],
    ['s3://lakeside/2026/../2025/a.parquet'],
    ['https://lakeside/2026/a.parquet'],
  ])('must begin with a prefix: %s', async (file) => {
    expect(await problemOf({}, ['local.parquet', file])).toBe(
      `files: ${file} begins with none of remote.prefixes.`,
    );
  });

  it('must not contain a question mark', async () => {
    const file = 's3://lakeside/2026/a.parquet?s3_endpoint=example.org';
    expect(await problemOf({}, file)).toContain('must have no question mark');
  });

  it.each([
    [[]],
    [['s3://lakeside/2026']],
    [['s3://lakeside/*/']],
    [['s3://lakeside/../']],
    [['s3:///']],
    [['/var/events/']],
    [['s3://lakeside/2026/', 'https://lakeside/']],
  ])('require prefixes that name folders of a bucket: %j', async (prefixes) => {
    expect(await problemOf({ prefixes })).toContain('remote.prefixes must be like s3://bucket/folder/');
  });

  it.each([
    'minio.internal:9000',
    'http://minio.internal:9000',
    'https://user:secret@minio.internal',
    'https://minio.internal/path',
  ])('require an https endpoint without credentials and path: %s', async (endpoint) => {
    expect(await problemOf({ endpoint })).toContain(
      'remote.endpoint must be like https://minio.internal:9000',
    );
  });

  it('have a CREATE SECRET statement with quoted values for each prefix', () => {
    const [first, second] = secretStatements(
      {
        ...remote,
        prefixes: ['s3://lakeside/2026/', "s3://it's/"],
        ...{ keyId: 'key', region: 'eu', endpoint: 'http://127.0.0.1:9000' },
      },
      "hun'ter2",
    );
    expect(first).toBe(
      `CREATE SECRET "store 0" (TYPE s3, SCOPE 's3://lakeside/2026/', KEY_ID 'key', SECRET 'hun''ter2', REGION 'eu', ` +
        `ENDPOINT '127.0.0.1:9000', URL_STYLE 'path', USE_SSL false)`,
    );
    expect(second).toContain("SCOPE 's3://it''s/'");
  });
});

it('connectRemote does not reveal the secret in its error if the engine rejects it', async () => {
  const instance = await DuckDBInstance.create(':memory:', { autoload_known_extensions: 'false' });
  const connection = await instance.connect();
  // `run` executes only the statement that contains the secret. DuckDB rejects that statement, because this test does
  // not load the extension httpfs.
  const engine = {
    runAndReadAll: (sql: string) => connection.runAndReadAll(sql),
    run: async (sql: string) => (sql.startsWith('CREATE SECRET') ? connection.run(sql) : undefined),
  } as DuckDBConnection;
  const settings = { ...remote, keyId: 'key', secret: async () => "hun'ter2" };
  const error = await connectRemote(engine, settings, folder).catch((reason: Error) => reason);
  expect(error).toMatchObject({
    message: expect.stringContaining('does not accept the settings of the store'),
  });
  expect(inspect(error)).not.toContain('ter2');
  connection.closeSync();
  instance.closeSync();
});

describe('the extension', () => {
  it('must exist, and its error contains the download address', async () => {
    const extension = { file: join(folder, 'none'), sha256: SHA256 };
    expect(await problemOf({ extension })).toMatch(
      /remote\.extension\.file: .*none cannot be read \(ENOENT\): download https:\/\/extensions\.duckdb\.org\/v\d+\.\d+\.\d+\/\w+\/httpfs\.duckdb_extension\.gz on/,
    );
  });

  it('must have the checksum of the settings', async () => {
    const { file } = remote.extension;
    expect(await problemOf({ extension: { file, sha256: 'f'.repeat(64) } })).toContain(
      `the SHA-256 of ${file} is ${SHA256}, and not the one in the settings.`,
    );
    expect(await problemOf({ extension: { file, sha256: 'f' } })).toContain('64 hexadecimal digits');
  });

  it('must be one that the engine accepts', async () => {
    expect(await problemOf({})).toMatch(
      /remote\.extension\.file: .* cannot be loaded: .*Instead, download https:.*gunzip/,
    );
  });
});

it('confinement limits the engine to the prefixes', async () => {
  const instance = await DuckDBInstance.create(':memory:', { autoload_known_extensions: 'false' });
  const connection = await instance.connect();
  for (const statement of confinement({ files: [FILE], remote })) await connection.run(statement);
  const reasonOf = (file: string) =>
    connection.run(`FROM read_parquet('${file}')`).then(
      () => 'it was read',
      (error: Error) => error.message,
    );
  // These addresses are allowed. The only error is the missing extension, which the engine needs to connect to the
  // store.
  for (const file of [FILE, 's3://lakeside/2026/07/a.parquet']) {
    expect(await reasonOf(file)).toContain('requires the extension httpfs');
  }
  for (const file of [
    's3://lakeside/2025/a.parquet',
    's3://lakeside/2026/../2025/a.parquet',
    '/etc/passwd',
  ]) {
    expect(await reasonOf(file)).toContain('Permission Error');
  }
  connection.closeSync();
  instance.closeSync();
});
