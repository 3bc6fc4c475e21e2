/** For tests: a healthy database, written the way the exchange writes it. */
import { createHash } from 'node:crypto';
import type { Timestamp } from '@measurement-exchange/contract';
import {
  type Aggregate,
  type Change,
  cancel,
  create,
  etagOf,
  fail,
  fulfil,
  refuse,
} from '../../domain/measurement.ts';
import type { Database } from '../db.ts';
import { insertDescriptor, updateDescriptor } from '../descriptors.ts';
import { audit } from '../log.ts';
import { insertMeasurement, saveMeasurement } from '../measurements.ts';
import { ensureParty, insertCertificate, setPublicKey } from '../parties.ts';

export const BRAND = 'measurementConsumers/brand';
export const TV = 'dataProviders/tv';
export const RADIO = 'dataProviders/radio';

const BYTES = Buffer.from('bytes');
const AUTHOR = { actor: BRAND, requestId: 'request', findings: [] };
/** Above 2^63, so that the sign matters. */
const NONCE = 2n ** 64n - 5n;

let second = 0;
function clock(): Timestamp {
  return `2026-01-01T00:00:${String(++second).padStart(2, '0')}.000000Z`;
}

function sha256(data: string | Uint8Array): Uint8Array {
  return createHash('sha256').update(data).digest();
}

/** A TV's is `tv-cert`. */
function certificateOf(party: string) {
  return {
    party,
    id: `${party.split('/')[1]}-cert`,
    notBefore: '2025-01-01T00:00:00.000000Z',
    notAfter: '2030-01-01T00:00:00.000000Z',
    revocationState: undefined,
  };
}

export async function addParties(db: Database): Promise<void> {
  for (const party of [BRAND, TV, RADIO]) {
    const certificate = certificateOf(party);
    const der = { x509Der: Buffer.from(party), subjectKeyIdentifier: BYTES };
    const name = `${party}/certificates/${certificate.id}`;
    await ensureParty(db, party, 'A party', clock());
    await insertCertificate(db, { ...certificate, ...der }, clock());
    await setPublicKey(db, party, { message: BYTES, signature: BYTES, certificate: name }, clock());
  }
}

/** One in each state, named after the way it went, each with a requisition of TV and one of RADIO. */
export async function addMeasurements(db: Database): Promise<void> {
  await add(db, 'awaiting');

  const succeeded = await add(db, 'succeeded');
  const halfSucceeded = await change(db, succeeded, (now) => fulfilBy(TV, succeeded, now));
  await change(db, halfSucceeded, (now) => fulfilBy(RADIO, halfSucceeded, now));

  const computing = await add(db, 'computing');
  const halfComputing = await change(db, computing, (now) => fulfilBy(TV, computing, now));
  await change(db, halfComputing, (now) => {
    // A direct measurement succeeds at once; this one stays between the two steps.
    const { after, steps } = fulfilBy(RADIO, halfComputing, now);
    const measurement = { ...after.measurement, state: 'COMPUTING' as const, version: 2 };
    return { after: { ...after, measurement }, steps: steps.slice(0, -1) };
  });

  const refused = await add(db, 'refused');
  const refusal = { justification: 'DECLINED' as const, message: 'not this one' };
  const etag = etagOf(refused.requisitions[0]!);
  await change(db, refused, (now) => refuse(refused, 'refused-tv', { etag, refusal }, now));

  const cancelled = await add(db, 'cancelled');
  const halfCancelled = await change(db, cancelled, (now) => fulfilBy(TV, cancelled, now));
  await change(db, halfCancelled, (now) => cancel(halfCancelled, now));

  const revoked = await add(db, 'revoked');
  await change(db, revoked, (now) => fail(revoked, 'certificateRevoked', 'A certificate was revoked.', now));
}

async function add(db: Database, id: string): Promise<Aggregate> {
  const eightBytes = Buffer.alloc(8);
  eightBytes.writeBigUInt64BE(NONCE);
  const made = create(
    {
      id,
      consumer: BRAND,
      certificate: certificateOf(BRAND).id,
      spec: { message: BYTES, signature: BYTES, signatureAlgorithm: undefined },
      referenceId: 'reference',
      measurementType: 'REACH',
      protocol: 'direct',
    },
    [TV, RADIO].map((provider) => ({
      id: `${id}-${provider.split('/')[1]}`,
      provider,
      certificate: certificateOf(provider).id,
      publicKey: { '@type': 'type', data: BYTES, format: undefined },
      encryptedSpec: { ciphertext: BYTES, typeUrl: 'type', nonce: undefined },
      // Both preimages that are accepted.
      nonceHash: sha256(provider === TV ? eightBytes : NONCE.toString()),
    })),
    clock(),
  );
  const request = { id: `${id}-request`, hash: sha256(id) };
  await db.tx('add', async (tx) => insertMeasurement(tx, made, request, AUTHOR));
  return made.after;
}

async function change(
  db: Database,
  before: Aggregate,
  decide: (now: Timestamp) => Change,
): Promise<Aggregate> {
  const changed = decide(clock());
  await db.tx('change', async (tx) => saveMeasurement(tx, before, changed, AUTHOR));
  return changed.after;
}

function fulfilBy(provider: string, before: Aggregate, now: Timestamp): Change {
  const requisition = before.requisitions.find((r) => r.provider === provider)!;
  const input = {
    etag: etagOf(requisition),
    nonce: NONCE,
    encryptedResult: { ciphertext: BYTES, typeUrl: 'type' },
    context: { buildLabel: 'build' },
    certificate: certificateOf(provider),
  };
  return fulfil(before, requisition.id, input, now);
}

/** Of TV, each at its second version. */
export async function addDescriptors(db: Database): Promise<void> {
  for (const id of ['films', 'shows']) {
    const time = clock();
    const first = { id, provider: TV, descriptorSet: BYTES, version: 1, createTime: time, updateTime: time };
    const name = `${TV}/eventGroupMetadataDescriptors/${id}`;
    const entry = { time, principal: TV, operation: 'operation', name, requestId: 'request' };
    await db.tx('describe', async (tx) => {
      insertDescriptor(tx, first, { id: `${id}-request`, hash: sha256(id) });
      audit(tx, { ...entry, version: 1 });
      updateDescriptor(tx, { ...first, version: 2 });
      audit(tx, { ...entry, version: 2 });
    });
  }
}
