/** Tests stored data: secrets, blobs, uploads and messages, and the rows that the tables reject. */
import { createHash, randomBytes } from 'node:crypto';
import { Computation, toJson } from '@measurement-exchange/contract';
import { createDuchyDatabase, type DuchyDatabase } from '@measurement-exchange/testkit/duchy';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  acknowledge,
  type Blob,
  blobSecrets,
  CHUNK_BYTES,
  computationOfRequisition,
  createComputation,
  Database,
  endComputation,
  hasMovingComputation,
  markReported,
  messagesOf,
  migrate,
  readBlob,
  readComputation,
  readSecrets,
  removeBlobs,
  requireOwnDatabase,
  Secrets,
  type Statement,
  storeMessage,
  storeUpload,
  type Upload,
  unreportedUploads,
  updateView,
  uploadOf,
  uploadsOf,
  writeBlob,
} from '../../src/database/index.ts';
import { makeComputation, type TestComputation } from '../view.ts';

let database: DuchyDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDuchyDatabase();
  db = database.db;
});
afterAll(() => database.drop());

const SECRETS = {
  randomSeed: randomBytes(48),
  noiseSeed: randomBytes(48),
  privateKeyset: randomBytes(120),
};
const ABOUT = {
  role: 'FIRST_WORKER',
  protocol: 'honestMajorityShareShuffle',
  stage: 'WAIT_TO_START',
} as const;
let made = 0;

async function computation(secrets = {}): Promise<TestComputation> {
  const made_ = await makeComputation(`s${++made}`, 'duchies/alpha');
  const { id, view, spec } = made_;
  await createComputation(db, { ...ABOUT, id, view, spec, registerCount: 10, secrets });
  return made_;
}

async function* pieces(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
const wholeOf = async (blob: Blob) => Buffer.concat(await Array.fromAsync(readBlob(db, blob.id)));

async function upload(made_: TestComputation, i = 0, data: Uint8Array = randomBytes(100)): Promise<Upload> {
  const blob = await writeBlob(db, made_.id, pieces(data));
  const { name, dataProvider } = made_.view.requisitions[i]!;
  return {
    requisition: name,
    computation: made_.id,
    dataProvider,
    certificate: `${dataProvider}/certificates/1`,
    nonce: 2n ** 64n - 1n,
    registerCount: 10,
    secretSeed: randomBytes(60),
    signedFulfillment: randomBytes(80),
    blob: blob.id,
  };
}

describe('a computation', () => {
  test('is read exactly as it was stored, including a nonce of 2^64 - 1', async () => {
    const { id, view, spec } = await computation();
    view.requisitions[0]!.nonce = 2n ** 64n - 1n;
    expect(await updateView(db, id, view)).toBe(true);
    const { view: read, ...rest } = (await readComputation(db, id))!;
    expect(rest).toMatchObject({ ...ABOUT, id, registerCount: 10, outcome: null });
    expect(JSON.parse(toJson(Computation, read))).toEqual(JSON.parse(toJson(Computation, view)));
    expect(read.requisitions[0]!.nonce).toBe(2n ** 64n - 1n);
    expect(Buffer.from((await readComputation(db, id))!.spec).equals(spec)).toBe(true);
    expect((await computationOfRequisition(db, view.requisitions[1]!.name))!.id).toBe(id);
    expect(await computationOfRequisition(db, 'dataProviders/x/requisitions/y')).toBeUndefined();
  });

  test('is not created twice, and keeps the secrets of its first creation', async () => {
    const made_ = await computation(SECRETS);
    const { id, view, spec } = made_;
    const again = { ...ABOUT, id, view, spec, registerCount: 10, secrets: { randomSeed: randomBytes(48) } };
    expect(await createComputation(db, again)).toBe(false);
    expect(Buffer.from((await readSecrets(db, id)).randomSeed!).equals(SECRETS.randomSeed)).toBe(true);
  });

  test('of protocol liquidLegionsV2 is found by hasMovingComputation from its creation until its end', async () => {
    await computation();
    expect(await hasMovingComputation(db, ['liquidLegionsV2'])).toBe(false);
    const { id, view, spec } = await makeComputation('ring', 'duchies/alpha');
    const protocol = 'liquidLegionsV2' as const;
    await createComputation(db, { ...ABOUT, protocol, id, view, spec, registerCount: 10, secrets: {} });
    expect(await hasMovingComputation(db, ['liquidLegionsV2'])).toBe(true);
    await endComputation(db, id, { outcome: 'CANCELLED' });
    expect(await hasMovingComputation(db, ['liquidLegionsV2'])).toBe(false);
  });

  test('keeps the newer of two views', async () => {
    const { id, view } = await computation();
    const newer = { ...view, state: 'COMPUTING' as const, updateTime: '2099-01-01T00:00:00.000000Z' };
    expect(await updateView(db, id, newer)).toBe(true);
    expect(await updateView(db, id, view)).toBe(false);
    expect((await readComputation(db, id))!.view.state).toBe('COMPUTING');
  });

  test.each([
    ['its spec', "UPDATE computations SET spec = 'other' WHERE id = $1"],
    ['its role', "UPDATE computations SET role = 'AGGREGATOR' WHERE id = $1"],
    ['its register count', 'UPDATE computations SET register_count = 11 WHERE id = $1'],
    ['a seed', "UPDATE computations SET random_seed = 'other' WHERE id = $1"],
    ['a seed to NULL', 'UPDATE computations SET noise_seed = NULL WHERE id = $1'],
    ['its private keyset', "UPDATE computations SET private_keyset = 'other' WHERE id = $1"],
    ['its blob key', "UPDATE computations SET blob_key = 'other' WHERE id = $1"],
    ['its blob key to NULL', 'UPDATE computations SET blob_key = NULL WHERE id = $1'],
  ])('rejects an update of %s', async (_what, statement) => {
    const { id } = await computation(SECRETS);
    await expect(database.query(statement, [id])).rejects.toMatchObject({ code: '23000' });
  });

  test('has no secrets after it has ended, and rejects further changes', async () => {
    const { id } = await computation(SECRETS);
    await endComputation(db, id, { outcome: 'CANCELLED' });
    expect(await readSecrets(db, id)).toEqual({});
    const changes = ["outcome = 'SUCCEEDED'", 'outcome = NULL', "stage = 'X'", 'run_after = now()'];
    for (const change of [...changes, "blob_key = 'x'", "blob_key = NULL, stage = 'X'"]) {
      await expect(
        database.query(`UPDATE computations SET ${change} WHERE id = $1`, [id]),
      ).rejects.toMatchObject({
        code: '23000',
      });
    }
  });
});

describe('secrets', () => {
  test('are decrypted only with the right key, and only in the row for which they were encrypted', async () => {
    const { id } = await computation(SECRETS);
    const other = await computation(SECRETS);
    const read = await readSecrets(db, id);
    for (const [name, secret] of Object.entries(SECRETS)) {
      expect(Buffer.from(read[name as keyof typeof SECRETS]!).equals(secret)).toBe(true);
    }
    const secrets = new Secrets(randomBytes(32));
    const stranger = new Database({
      connection: { connectionString: database.url },
      secrets,
      applicationName: 'x',
    });
    await expect(readSecrets(stranger, id)).rejects.toThrow(/does not open/);
    await stranger.close();
    await database.query('ALTER TABLE computations DISABLE TRIGGER USER');
    await database.query(
      'UPDATE computations SET random_seed = (SELECT random_seed FROM computations WHERE id = $2) WHERE id = $1',
      [other.id, id],
    );
    await database.query('ALTER TABLE computations ENABLE TRIGGER USER');
    await expect(readSecrets(db, other.id)).rejects.toThrow(/does not open/);
  });

  test('do not appear unencrypted in any table, and neither do blob data and the secrets key', async () => {
    const { id } = await computation(SECRETS);
    const data = randomBytes(100);
    await writeBlob(db, id, pieces(data));
    const tables = await database.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    let dump = '';
    for (const { tablename } of tables) {
      const rows = await database.query(`SELECT t::text AS row FROM ${tablename} t`);
      dump += rows.map(({ row }) => row).join('\n');
    }
    expect(dump).toContain(id);
    for (const secret of [...Object.values(SECRETS), data]) {
      expect(dump).not.toContain(secret.subarray(0, 16).toString('hex'));
      expect(dump).not.toContain(secret.toString('base64').slice(0, 16));
    }
    expect(dump).not.toContain(Buffer.from(database.secretsKey).toString('hex'));
  });

  test('belong to the first duchy that uses the database: another duchy or another key is rejected', async () => {
    await requireOwnDatabase(db, 'duchies/alpha');
    await requireOwnDatabase(database.open(), 'duchies/alpha');
    await expect(requireOwnDatabase(db, 'duchies/beta')).rejects.toThrow(/belongs to duchies\/alpha/);
    const secrets = new Secrets(randomBytes(32));
    const stranger = new Database({
      connection: { connectionString: database.url },
      secrets,
      applicationName: 'x',
    });
    await expect(requireOwnDatabase(stranger, 'duchies/alpha')).rejects.toThrow(
      /secretsKeyFile is not the key/,
    );
    await stranger.close();
  });
});

describe('a blob', () => {
  test('is read as it was written, regardless of how the source was split into pieces', async () => {
    const made_ = await computation();
    const data = randomBytes(2 * CHUNK_BYTES + 12_345);
    const cuts = [0, 1, 7, CHUNK_BYTES - 1, CHUNK_BYTES + 5, 2 * CHUNK_BYTES, data.length];
    const parts = cuts.slice(1).map((end, i) => data.subarray(cuts[i], end));
    const blob = await writeBlob(db, made_.id, pieces(...parts, Buffer.alloc(0)));
    expect(blob.length).toBe(data.length);
    expect(Buffer.from(blob.sha256).equals(createHash('sha256').update(data).digest())).toBe(true);
    expect(
      await db.tx('test', async (tx) => storeUpload(tx, { ...(await upload(made_)), blob: blob.id })),
    ).toBe(true);
    expect((await wholeOf(blob)).equals(data)).toBe(true);
    const sizes = (await Array.fromAsync(readBlob(db, blob.id))).map((chunk) => chunk.length);
    expect(sizes).toEqual([CHUNK_BYTES, CHUNK_BYTES, 12_345]);
  });

  test('may be empty', async () => {
    const made_ = await computation();
    const blob = await writeBlob(db, made_.id, pieces());
    await db.tx('test', async (tx) => storeUpload(tx, { ...(await upload(made_)), blob: blob.id }));
    expect(await wholeOf(blob)).toHaveLength(0);
  });

  test('cannot be read before an upload or a message refers to it', async () => {
    const { id } = await computation();
    const blob = await writeBlob(db, id, pieces(randomBytes(10)));
    await expect(wholeOf(blob)).rejects.toThrow(/incomplete or removed/);
  });

  test('is deleted if its source throws', async () => {
    const { id } = await computation();
    async function* source() {
      yield randomBytes(CHUNK_BYTES + 1);
      throw new Error('hung up');
    }
    await expect(writeBlob(db, id, source())).rejects.toThrow('hung up');
    expect(await database.query('SELECT * FROM blobs WHERE computation = $1', [id])).toEqual([]);
  });

  test('of a process that died between two chunks cannot be used, and is deleted when no upload can complete it', async () => {
    const made_ = await computation();
    const dying = database.open();
    async function* source() {
      yield randomBytes(CHUNK_BYTES);
      // Close the connection to simulate a dead process, which cannot remove the blob itself.
      await dying.close();
      yield randomBytes(CHUNK_BYTES);
    }
    await expect(writeBlob(dying, made_.id, source())).rejects.toThrow();
    const [left] = await database.query('SELECT id FROM blobs WHERE computation = $1', [made_.id]);
    const id = left!.id as string;
    expect(await database.query('SELECT ordinal FROM blob_chunks WHERE blob = $1', [id])).toEqual([
      { ordinal: 0 },
    ]);
    await expect(wholeOf({ id } as Blob)).rejects.toThrow(/incomplete/);
    await expect(
      db.tx('test', async (tx) => storeUpload(tx, { ...(await upload(made_)), blob: id })),
    ).rejects.toThrow(/cannot be completed/);
    expect(await uploadsOf(db, made_.id)).toEqual([]);
    await removeBlobs(db, 0, 600);
    expect(await database.query('SELECT id FROM blobs WHERE id = $1', [id])).toHaveLength(1);
    await database.query("UPDATE blobs SET create_time = now() - interval '71 minutes' WHERE id = $1", [id]);
    await removeBlobs(db, 0, 600);
    expect(await database.query('SELECT id FROM blobs WHERE id = $1', [id])).toEqual([]);
  });

  test('cannot be read if a chunk is missing or belongs to another blob', async () => {
    const made_ = await computation();
    const [one, other] = [await upload(made_, 0), await upload(made_, 1)];
    for (const each of [one, other]) await db.tx('test', (tx) => storeUpload(tx, each));
    await database.query(
      'UPDATE blob_chunks SET data = (SELECT data FROM blob_chunks WHERE blob = $2) WHERE blob = $1',
      [one.blob, other.blob],
    );
    await expect(wholeOf({ id: one.blob } as Blob)).rejects.toThrow(/does not open/);
    await database.query('DELETE FROM blob_chunks WHERE blob = $1', [other.blob]);
    await expect(wholeOf({ id: other.blob } as Blob)).rejects.toThrow(/lacks chunk 0/);
  });

  /** Stores this many messages of a computation. Each has 300 KB and therefore two chunks. */
  async function messages(count: number, computation: string): Promise<string[]> {
    const blobs: string[] = [];
    for (let i = 0; i < count; i++) {
      const { id: blob } = await writeBlob(db, computation, pieces(randomBytes(300_000)));
      const about = { computation, stage: 'SEEDS', direction: 'IN', peer: `duchies/d${i}` } as const;
      await db.tx('test', (tx) =>
        storeMessage(tx, { ...about, certificate: 'c', signedMessage: randomBytes(5), blob }),
      );
      blobs.push(blob);
    }
    return blobs;
  }
  const chunksOf = (blobs: string[]) =>
    database.query('SELECT blob, ordinal, data FROM blob_chunks WHERE blob = ANY($1)', [blobs]);

  test('is deleted with its key when its computation ends, so that copies of it cannot be decrypted', async () => {
    const [made_, other] = [await computation(), await computation()];
    const [blobs, others] = [await messages(12, made_.id), await messages(1, other.id)];
    const copies = await chunksOf(blobs);
    expect(copies).toHaveLength(24);
    const { blob, ordinal, data } = copies[0] as { blob: string; ordinal: number; data: Buffer };
    const place = `blobs/${blob}/${ordinal}`;
    const key = await blobSecrets(db, made_.id, 'read');
    expect(key.open(place, data).length).toBeGreaterThan(0);
    // Neither the duchy's key nor the key of another computation decrypts the chunk.
    expect(() => db.secrets.open(place, data)).toThrow(/does not open/);
    const otherKey = await blobSecrets(db, other.id, 'read');
    expect(() => otherKey.open(place, data)).toThrow(/does not open/);

    await endComputation(db, made_.id, { outcome: 'SUCCEEDED' });
    expect(await chunksOf(blobs)).toEqual([]);
    expect(await database.query('SELECT blob_key FROM computations WHERE id = $1', [made_.id])).toEqual([
      { blob_key: null },
    ]);
    await expect(wholeOf({ id: blobs[0]! } as Blob)).rejects.toThrow(/removed/);
    expect(await chunksOf(others)).toHaveLength(2);
    expect(await wholeOf({ id: others[0]! } as Blob)).toHaveLength(300_000);
    await expect(writeBlob(db, made_.id, pieces(randomBytes(10)))).rejects.toThrow(/has ended/);
  });

  test('cannot be read if the process died while it ended the computation, and is deleted by the next cleanup', async () => {
    const made_ = await computation();
    const blobs = await messages(6, made_.id);
    const dying = {
      query: <R>(statement: Statement<R>, values: unknown[]) =>
        statement.name === 'removeBlobsOf'
          ? Promise.reject(new Error('killed'))
          : db.query(statement, values),
    };
    expect(await endComputation(dying, made_.id, { outcome: 'FAILED' })).toBe(true);
    expect(await chunksOf(blobs)).toHaveLength(12);
    await expect(wholeOf({ id: blobs[0]! } as Blob)).rejects.toThrow(/does not open/);
    expect(await removeBlobs(db, 0, 600)).toBe(6);
    expect(await chunksOf(blobs)).toEqual([]);
  });

  test('of a computation without a blob key is encrypted with the key of the duchy', async () => {
    const made_ = await computation();
    await database.query(
      `SET session_replication_role = replica; UPDATE computations SET blob_key = NULL WHERE id = '${made_.id}';
       SET session_replication_role = origin`,
    );
    const [blob] = await messages(1, made_.id);
    expect(await wholeOf({ id: blob! } as Blob)).toHaveLength(300_000);
    const [chunk] = (await chunksOf([blob!])) as { data: Buffer }[];
    expect(db.secrets.open(`blobs/${blob}/0`, chunk!.data).length).toBeGreaterThan(0);
  });

  test('that is kept after its computation ended is deleted with its key after the given number of hours', async () => {
    const made_ = await computation();
    const one = await upload(made_);
    await db.tx('test', (tx) => storeUpload(tx, one));
    await endComputation(db, made_.id, { outcome: 'SUCCEEDED', keepsBlobs: true });
    await removeBlobs(db, 1, 600);
    expect(await wholeOf({ id: one.blob } as Blob)).toHaveLength(100);
    expect(await removeBlobs(db, 0, 600)).toBeGreaterThan(0);
    const [row] = await database.query('SELECT blob_key FROM computations WHERE id = $1', [made_.id]);
    expect(row).toEqual({ blob_key: null });
    await expect(wholeOf({ id: one.blob } as Blob)).rejects.toThrow(/removed/);
    expect(await database.query('SELECT * FROM blob_chunks WHERE blob = $1', [one.blob])).toEqual([]);
    expect(await uploadOf(db, one.requisition)).toMatchObject({ blob: one.blob });
    expect(await removeBlobs(db, 0, 600)).toBe(0);
  });
});

describe('an upload', () => {
  test('is stored once, and marked as reported once', async () => {
    const made_ = await computation();
    const one = await upload(made_);
    const other = await upload(made_);
    const stored = await Promise.all(
      [one, other].map((each) => db.tx('test', (tx) => storeUpload(tx, each))),
    );
    expect(stored.filter(Boolean)).toHaveLength(1);
    const [first] = await uploadsOf(db, made_.id);
    const winner = stored[0] ? one : other;
    expect(first).toMatchObject({
      nonce: 2n ** 64n - 1n,
      registerCount: 10,
      blob: winner.blob,
      reportedTime: null,
    });
    expect(await unreportedUploads(db)).toContainEqual(
      expect.objectContaining({ requisition: one.requisition }),
    );
    await markReported(db, one.requisition);
    const { reportedTime } = (await uploadOf(db, one.requisition))!;
    expect(reportedTime).toBeInstanceOf(Date);
    await markReported(db, one.requisition);
    expect((await uploadOf(db, one.requisition))!.reportedTime).toEqual(reportedTime);
    expect(await unreportedUploads(db)).not.toContainEqual(
      expect.objectContaining({ requisition: one.requisition }),
    );
  });

  test('is not stored for a computation that has ended', async () => {
    const made_ = await computation();
    const one = await upload(made_);
    await endComputation(db, made_.id, { outcome: 'FAILED' });
    expect(await db.tx('test', (tx) => storeUpload(tx, one))).toBe(false);
    expect(await uploadOf(db, one.requisition)).toBeUndefined();
  });

  test.each([
    "UPDATE uploads SET secret_seed = 'x' WHERE requisition = $1",
    'UPDATE uploads SET nonce = 1 WHERE requisition = $1',
    'DELETE FROM uploads WHERE requisition = $1',
  ])('cannot be changed or deleted: %s', async (statement) => {
    const made_ = await computation();
    const one = await upload(made_);
    await db.tx('test', (tx) => storeUpload(tx, one));
    await expect(database.query(statement, [one.requisition])).rejects.toMatchObject({ code: '23000' });
    await expect(database.query('DELETE FROM blobs WHERE id = $1', [one.blob])).rejects.toThrow();
    await expect(
      database.query("UPDATE blobs SET sha256 = sha256('x') WHERE id = $1", [one.blob]),
    ).rejects.toMatchObject({ code: '23000' });
  });
});

test('a message is stored once for each stage and direction, can be acknowledged, and cannot be changed', async () => {
  const { id } = await computation();
  const message = async (direction: 'IN' | 'OUT', peer = 'duchies/beta') => {
    const blob = await writeBlob(db, id, pieces(randomBytes(10)));
    const about = { computation: id, stage: 'SHUFFLE_PHASE_INPUT_ONE', direction, peer };
    return { ...about, certificate: `${peer}/certificates/1`, signedMessage: randomBytes(5), blob: blob.id };
  };
  const out = await message('OUT');
  expect(await db.tx('test', (tx) => storeMessage(tx, out))).toBe(true);
  expect(await db.tx('test', async (tx) => storeMessage(tx, await message('OUT')))).toBe(false);
  expect(await db.tx('test', async (tx) => storeMessage(tx, await message('IN')))).toBe(true);
  await acknowledge(db, out);
  const stored = await messagesOf(db, id);
  expect(
    stored.map(({ direction, blob, acknowledgedTime }) => [direction, blob, acknowledgedTime !== null]),
  ).toEqual([
    ['OUT', out.blob, true],
    ['IN', expect.any(String), false],
  ]);
  await expect(
    database.query("UPDATE messages SET signed_message = 'x' WHERE computation = $1", [id]),
  ).rejects.toMatchObject({ code: '23000' });
});

test('concurrent migrations apply nothing to a migrated database, and reject an applied migration that differs', async () => {
  const connection = { connectionString: database.url };
  expect(await Promise.all([migrate(connection), migrate(connection)])).toEqual([[], []]);
  await database.query("UPDATE schema_migrations SET sha256 = 'other'");
  await expect(migrate(connection)).rejects.toThrow(/migrations that differ/);
});
