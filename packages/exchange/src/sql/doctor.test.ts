import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Aggregate,
  type Change,
  cancel,
  create,
  etagOf,
  fail,
  fulfil,
  refuse,
} from '../domain/measurement.ts';
import { type EmbeddedPostgres, startPostgres } from '../postgres/index.ts';
import { Database } from './db.ts';
import { insertDescriptor, updateDescriptor } from './descriptors.ts';
import { TRIGGERS, UNIQUE_INDEXES } from './doctor/server.ts';
import { CHECKS, type DoctorOptions, doctor } from './doctor.ts';
import { audit } from './log.ts';
import { insertMeasurement, saveMeasurement } from './measurements.ts';
import { migrate } from './migrate.ts';
import { ensureParty, insertCertificate, setPublicKey } from './parties.ts';

const [BRAND, SHOP, TV, RADIO] = [
  'measurementConsumers/brand',
  'measurementConsumers/shop',
  'dataProviders/tv',
  'dataProviders/radio',
] as const;
/** Of its owner `dataProviders/tv`: `tv-cert`. */
const certificateOf = (party: string) => `${party.split('/')[1]}-cert`;
const HEALTHY = 'healthy';
/** HEALTHY without its CHECK constraints, for rows that they would keep out. */
const UNGUARDED = 'unguarded';

const folder = mkdtempSync('/tmp/mex-doctor-test-');
let server: EmbeddedPostgres;
let databases = 0;

beforeAll(async () => {
  chmodSync(folder, 0o755); // PostgreSQL may run as another account
  server = await startPostgres({ dataDir: folder });
  await run('postgres', `CREATE DATABASE ${HEALTHY}`);
  await migrate({ connection: at(HEALTHY) });
  await fill(HEALTHY);
  await run('postgres', `CREATE DATABASE ${UNGUARDED} TEMPLATE ${HEALTHY}`);
  await run(
    UNGUARDED,
    `DO $$ DECLARE k record; BEGIN
       FOR k IN SELECT conrelid::regclass AS relation, conname FROM pg_constraint
                 WHERE contype = 'c' AND connamespace = 'public'::regnamespace
       LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', k.relation, k.conname); END LOOP;
     END $$`,
  );
}, 30_000);

afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const at = (database: string): pg.ClientConfig => ({ ...server.connection, database });

async function run(database: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client(at(database));
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

async function clone(template: string): Promise<string> {
  const name = `clone${++databases}`;
  await run('postgres', `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return name;
}

/** What the doctor says, without its prose. */
async function findings(database: string, onCheck?: DoctorOptions['onCheck']) {
  const ailments = await doctor({ connection: at(database), ...(onCheck ? { onCheck } : {}) });
  return ailments.map(({ check, examples, rows }) => ({ check, examples, rows }));
}

/** One measurement in each state, for TV and RADIO, named after the way it went; and a descriptor. */
async function fill(database: string): Promise<void> {
  const db = new Database({ connection: at(database), applicationName: 'doctor.test' });
  let second = 0;
  const clock = () => `2026-01-01T00:00:${String(++second).padStart(2, '0')}.000000Z`;
  const author = { actor: BRAND, requestId: 'r', findings: [] };
  const bytes = Buffer.from('bytes');
  const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();
  /** Above 2^63, so that the sign matters. */
  const nonce = 2n ** 64n - 5n;
  const eightBytes = Buffer.alloc(8);
  eightBytes.writeBigUInt64BE(nonce);

  const certificate = (party: string) => ({
    party,
    id: certificateOf(party),
    notBefore: '2025-01-01T00:00:00.000000Z',
    notAfter: '2030-01-01T00:00:00.000000Z',
    revocationState: undefined,
  });
  const make = async (id: string, request?: { id: string; hash: Uint8Array }): Promise<Aggregate> => {
    const spec = { message: bytes, signature: bytes, signatureAlgorithm: undefined };
    const change = create(
      {
        ...{ id, consumer: BRAND, certificate: certificateOf(BRAND), spec, referenceId: 'reference' },
        ...{ measurementType: 'REACH', protocol: 'direct' },
      },
      [TV, RADIO].map((provider) => ({
        id: `${id}-${provider.split('/')[1]}`,
        provider,
        certificate: certificateOf(provider),
        publicKey: { '@type': 'type', data: bytes, format: undefined },
        encryptedSpec: { ciphertext: bytes, typeUrl: 'type', nonce: undefined },
        // Both ways to hash it.
        nonceHash: sha256(provider === TV ? eightBytes : nonce.toString()),
      })),
      clock(),
    );
    await db.tx('make', async (tx) => insertMeasurement(tx, change, request, author));
    return change.after;
  };
  const save = async (before: Aggregate, decide: (now: string) => Change): Promise<Aggregate> => {
    const now = clock();
    const change = decide(now);
    await db.tx('save', async (tx) => saveMeasurement(tx, before, change, now, author));
    return change.after;
  };
  const fulfilment = (aggregate: Aggregate, provider: string) => {
    const { id, version } = aggregate.requisitions.find((r) => r.provider === provider)!;
    const encryptedResult = { ciphertext: bytes, typeUrl: 'type' };
    const input = { etag: etagOf({ id, version }), nonce, encryptedResult, context: { buildLabel: 'build' } };
    return (now: string) => fulfil(aggregate, id, { ...input, certificate: certificate(provider) }, now);
  };

  for (const party of [BRAND, SHOP, TV, RADIO]) {
    await ensureParty(db, party, party, clock());
    const der = { x509Der: Buffer.from(party), subjectKeyIdentifier: bytes };
    await insertCertificate(db, { ...certificate(party), ...der }, clock());
    const name = `${party}/certificates/${certificateOf(party)}`;
    await setPublicKey(db, party, { message: bytes, signature: bytes, certificate: name }, clock());
  }
  await run(
    database,
    `INSERT INTO principals (issuer, subject, resource, create_time)
     VALUES ('issuer', 'brand', '${BRAND}', now()), ('issuer', 'boss', 'operator', now())`,
  );

  await make('awaiting', { id: 'request-1', hash: sha256('1') });
  const succeeded = await make('succeeded', { id: 'request-2', hash: sha256('2') });
  await save(await save(succeeded, fulfilment(succeeded, TV)), (now) =>
    fulfilment(succeeded, RADIO)(now),
  ).catch(() => {});

  const computing = await make('computing');
  const half = await save(computing, fulfilment(computing, TV));
  await save(half, (now) => {
    // A multi-party measurement stays here until its duchies are done.
    const { after, steps } = fulfilment(half, RADIO)(now);
    const measurement = { ...after.measurement, state: 'COMPUTING' as const, version: 2 };
    return { after: { ...after, measurement }, steps: steps.slice(0, -1) };
  });

  const refused = await make('refused');
  const etag = etagOf(refused.requisitions[0]!);
  const refusal = { justification: 'DECLINED' as const, message: 'not this one' };
  await save(refused, (now) => refuse(refused, 'refused-tv', { etag, refusal }, now));

  const cancelled = await make('cancelled');
  const halfCancelled = await save(cancelled, fulfilment(cancelled, TV));
  await save(halfCancelled, (now) => cancel(halfCancelled, now));

  const revoked = await make('revoked');
  await save(revoked, (now) => fail(revoked, 'certificateRevoked', 'a certificate was revoked', now));

  for (const id of ['schema-1', 'schema-2']) {
    const name = `${TV}/eventGroupMetadataDescriptors/${id}`;
    const time = clock();
    const first = { id, provider: TV, descriptorSet: bytes, version: 1, createTime: time, updateTime: time };
    const second = { ...first, version: 2, updateTime: clock() };
    const entry = (operation: string, version: number) => ({
      ...{ time, principal: TV, operation, name, version },
      requestId: 'r',
    });
    await db.tx('describe', async (tx) => {
      insertDescriptor(tx, first, { id: `${id}-request`, hash: sha256(id) });
      audit(tx, entry('createEventGroupMetadataDescriptor', 1));
      updateDescriptor(tx, second);
      audit(tx, entry('updateEventGroupMetadataDescriptor', 2));
    });
  }
  await db.close();
}
