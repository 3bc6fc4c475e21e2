/** Test data: a database without defects, written as the exchange writes it. */

import { createHash } from 'node:crypto';
import { create as message, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { type Protocol, type Timestamp, timestampOf } from '@measurement-exchange/contract';
import { measurementRecord, requisitionRecord } from '@measurement-exchange/testkit/measurementRecord';
import { insertCertificate, updateCertificate } from '../../../src/database/certificates.ts';
import type { Database, Transaction } from '../../../src/database/db.ts';
import { insertDescriptor, updateDescriptor } from '../../../src/database/descriptors.ts';
import { insertTypes, replaceTypes } from '../../../src/database/descriptorTypes.ts';
import { insertEventGroup, updateEventGroup } from '../../../src/database/eventGroups.ts';
import { audit } from '../../../src/database/log.ts';
import { insertParty, saveParty, setPublicKey } from '../../../src/database/parties.ts';
import { insertPopulation, savePopulation } from '../../../src/database/populations.ts';
import { insertBinding } from '../../../src/database/principals.ts';
import { appendEntries, insertReport, saveDeletedReport, saveReport } from '../../../src/database/reports.ts';
import { removeMeasurements } from '../../../src/database/retention.ts';
import { insertTrustedRoot } from '../../../src/database/trustedRoots.ts';
import { insertMeasurement, saveMeasurements } from '../../../src/database/writeMeasurements.ts';
import type { Aggregate, Change } from '../../../src/domain/aggregate.ts';
import { releaseHold, revoke } from '../../../src/domain/certificate.ts';
import {
  type EventGroupContent,
  create as group,
  remove as removed,
} from '../../../src/domain/eventGroup.ts';
import { cancel, create, etagOf, fail, fulfill, refuse } from '../../../src/domain/measurement.ts';
import { newParty, updateParty } from '../../../src/domain/party.ts';
import { newPopulation, noLongerDefault } from '../../../src/domain/population.ts';
import { deleteReport, newReport, settleReport } from '../../../src/domain/report.ts';
import type { Entry } from '../../../src/domain/reportEntries.ts';

export const BRAND = 'measurementConsumers/brand';
export const TV = 'dataProviders/tv';
export const RADIO = 'dataProviders/radio';

export const BYTES = Buffer.from('bytes');
const AUTHOR = { actor: BRAND, requestId: 'request', findings: [] };
/** The nonce is above 2^63, so that a wrong sign is noticed. */
export const NONCE = 2n ** 64n - 5n;

let second = 0;
/** Returns a time one second later on each call. */
export function clock(): Timestamp {
  return timestampOf(Date.UTC(2026, 0, 1) + ++second * 1000);
}

function sha256(data: string | Uint8Array): Uint8Array {
  return createHash('sha256').update(data).digest();
}

/** Returns the certificate of a party. Its ID is, for example, `tv-cert` for the party `dataProviders/tv`. */
export function certificateOf(party: string) {
  return {
    party,
    id: `${party.split('/')[1]}-cert`,
    notBefore: '2025-01-01T00:00:00.000000Z',
    notAfter: '2030-01-01T00:00:00.000000Z',
    revocationState: undefined,
  };
}

function record(tx: Transaction, name: string, version: number, operation = 'operation'): void {
  audit(tx, { time: clock(), principal: TV, operation, name, version, requestId: 'request' });
}

/** Adds the parties. TV was updated once, and RADIO's certificate was put on hold and released. */
export async function addParties(db: Database): Promise<void> {
  for (const name of [BRAND, TV, RADIO]) {
    const der = { x509Der: Buffer.from(name), subjectKeyIdentifier: Buffer.from(name) };
    const certificate = { ...certificateOf(name), ...der, version: 1, createTime: clock() };
    const party = newParty(name, { displayName: 'A party' }, clock());
    await insertParty(db, party);
    await insertCertificate(db, certificate);
    await setPublicKey(db, name, { message: BYTES, signature: BYTES, certificate: certificate.id });
    await db.tx('update', async (tx) => {
      if (name === TV) {
        saveParty(tx, updateParty(party, { displayName: 'TV' }, clock()));
        record(tx, name, 2);
      }
      if (name === RADIO) {
        const held = revoke(certificate, 'HOLD');
        for (const next of [held, releaseHold(held, false)]) {
          updateCertificate(tx, next, clock());
          record(tx, `${name}/certificates/${next.id}`, next.version);
        }
      }
    });
  }
}

/**
 * Adds two bindings (for BRAND and for the operator) and two trusted roots (for all parties and for TV). The audit log
 * records that BRAND's binding and TV's root were created, and that another binding and another root were created and
 * deleted.
 */
export async function addOperatorsThings(db: Database): Promise<void> {
  const subject = { issuer: 'issuer', createTime: clock() };
  const root = { subjectKeyIdentifier: BYTES, notBefore: clock(), notAfter: clock(), createTime: clock() };
  await db.tx('administer', async (tx) => {
    await insertBinding(tx, { ...subject, id: 'brand', subject: 'brand', resource: BRAND });
    await insertBinding(tx, { ...subject, id: 'boss', subject: 'boss', resource: 'operator' });
    await insertTrustedRoot(tx, { ...root, id: 'any', party: undefined, x509Der: BYTES });
    await insertTrustedRoot(tx, { ...root, id: 'tv', party: TV, x509Der: BYTES });
    for (const name of ['principals/brand', 'principals/gone', 'trustedRoots/tv', 'trustedRoots/gone']) {
      record(tx, name, 1, 'create');
    }
    for (const name of ['principals/gone', 'trustedRoots/gone']) record(tx, name, 1, 'delete');
  });
}

/** Adds two populations. The second replaced the first as the default. */
export async function addPopulations(db: Database): Promise<void> {
  const first = newPopulation(
    'first',
    {
      vidRanges: [
        { start: 1, end: 10 },
        { start: 11, end: 20 },
      ],
      modelLines: ['a', 'b'],
      default: true,
    },
    clock(),
  );
  const second = newPopulation(
    'second',
    { vidRanges: [{ start: 1, end: 30 }], modelLines: ['c'], default: true },
    clock(),
  );
  await db.tx('populate', async (tx) => {
    insertPopulation(tx, first);
    record(tx, 'populations/first', 1);
    savePopulation(tx, noLongerDefault(first, clock()));
    record(tx, 'populations/first', 2);
    insertPopulation(tx, second);
    record(tx, 'populations/second', 1);
  });
}

/**
 * Adds measurements in all states, each named after its history, and the tombstone of a removed measurement. Each
 * measurement has a requisition of TV and one of RADIO.
 */
export async function addMeasurements(db: Database): Promise<void> {
  await addMeasurement(db, 'awaiting');

  const succeeded = await addMeasurement(db, 'succeeded');
  const halfSucceeded = await change(db, succeeded, (now) => fulfillBy(TV, succeeded, now));
  await change(db, halfSucceeded, (now) => fulfillBy(RADIO, halfSucceeded, now));

  const computing = await addMeasurement(db, 'computing');
  const halfComputing = await change(db, computing, (now) => fulfillBy(TV, computing, now));
  await change(db, halfComputing, (now) => {
    // Leave out the last step, so that this measurement stays in COMPUTING. A direct measurement normally succeeds
    // immediately.
    const { after, steps } = fulfillBy(RADIO, halfComputing, now);
    const measurement = { ...after.measurement, state: 'COMPUTING' as const, version: 2 };
    return { after: { ...after, measurement }, steps: steps.slice(0, -1) };
  });

  const refused = await addMeasurement(db, 'refused');
  const refusal = { justification: 'DECLINED' as const, message: 'not this one' };
  const etag = etagOf(refused.requisitions[0]!);
  await change(db, refused, (now) => refuse(refused, 'refused-tv', { etag, refusal }, now));

  const cancelled = await addMeasurement(db, 'cancelled');
  const halfCancelled = await change(db, cancelled, (now) => fulfillBy(TV, cancelled, now));
  await change(db, halfCancelled, (now) => cancel(halfCancelled, now));

  const revoked = await addMeasurement(db, 'revoked');
  await change(db, revoked, (now) => fail(revoked, 'certificateRevoked', 'A certificate was revoked.', now));

  // Remove this measurement, so that it leaves a tombstone.
  const old = await addMeasurement(db, 'old');
  await change(db, old, (now) => cancel(old, now, 'expired'));
  await db.tx('remove', (tx) => removeMeasurements(tx, ['old'], clock()));
}

/**
 * Adds a measurement. `protocolConfig` names the duchies of the computation. A config with `workers` is for a ring.
 * Without a config, the measurement is direct.
 */
export async function addMeasurement(
  db: Database,
  id: string,
  protocolConfig?: Aggregate['measurement']['protocolConfig'],
): Promise<Aggregate> {
  const eightBytes = Buffer.alloc(8);
  eightBytes.writeBigUInt64BE(NONCE);
  const made = create(
    measurementRecord({
      id,
      consumer: BRAND,
      certificate: certificateOf(BRAND).id,
      spec: { message: BYTES, signature: BYTES },
      labels: { measurementReferenceId: 'reference' },
      protocol: protocolOf(protocolConfig),
      protocolConfig,
    }),
    [TV, RADIO].map((provider) =>
      requisitionRecord(provider.split('/')[1]!, {
        id: `${id}-${provider.split('/')[1]}`,
        certificate: certificateOf(provider).id,
        // Use both forms of the nonce that the exchange accepts as the hash input.
        nonceHash: sha256(provider === TV ? eightBytes : NONCE.toString()),
      }),
    ),
    clock(),
  );
  const request = { id: `${id}-request`, hash: sha256(id) };
  await db.tx('add', async (tx) => insertMeasurement(tx, made, request, AUTHOR));
  return made.after;
}

function protocolOf(config: Aggregate['measurement']['protocolConfig']): Protocol {
  if (config === undefined) return 'direct';
  return 'workers' in config ? 'reachOnlyLiquidLegionsV2' : 'honestMajorityShareShuffle';
}

export async function change(
  db: Database,
  before: Aggregate,
  decide: (now: Timestamp) => Change,
): Promise<Aggregate> {
  const changed = decide(clock());
  await db.tx('change', async (tx) => saveMeasurements(tx, [{ before, change: changed }], AUTHOR));
  return changed.after;
}

function fulfillBy(provider: string, before: Aggregate, now: Timestamp): Change {
  const requisition = before.requisitions.find((r) => r.provider === provider)!;
  const input = {
    etag: etagOf(requisition),
    nonce: NONCE,
    nonceHashes: [requisition.nonceHash],
    encryptedResult: { ciphertext: BYTES, typeUrl: 'type' },
    context: { buildLabel: 'build' },
    certificate: certificateOf(provider),
  };
  return fulfill(before, requisition.id, input, now);
}

function setOf(type: string): Uint8Array {
  const file = [{ name: `${type}.proto`, package: 'tv', messageType: [{ name: type }] }];
  return toBinary(FileDescriptorSetSchema, message(FileDescriptorSetSchema, { file }));
}

/** Adds descriptors of TV, each at its second version. */
export async function addDescriptors(db: Database): Promise<void> {
  for (const id of ['films', 'shows']) {
    const time = clock();
    const first = {
      id,
      provider: TV,
      descriptorSet: setOf('Old'),
      jsonBytes: 100,
      version: 1,
      createTime: time,
      updateTime: time,
    };
    const name = `${TV}/eventGroupMetadataDescriptors/${id}`;
    await db.tx('describe', async (tx) => {
      insertDescriptor(tx, first, { id: `${id}-request`, hash: sha256(id) });
      insertTypes(tx, id, ['tv.Old']);
      record(tx, name, 1);
      updateDescriptor(tx, { ...first, descriptorSet: setOf(id), version: 2 });
      replaceTypes(tx, id, [`tv.${id}`]);
      record(tx, name, 2);
    });
  }
}

/**
 * Adds event groups of TV for BRAND. Reuses the request IDs of the descriptors. This is allowed, because request IDs
 * need to be unique only within a collection.
 */
export async function addEventGroups(db: Database): Promise<void> {
  const blank: EventGroupContent = {
    referenceId: 'reference',
    mediaTypes: ['VIDEO'],
    availability: { startTime: clock() },
    attributes: [{ name: 'age', type: 'INT' }],
    eventTemplates: ['tv.Show'],
    vidModelLines: ['line'],
    entityKey: { entityType: 'creative', entityId: '7' },
    entityMetadata: { color: 'red' },
    brandName: 'brand',
    campaignName: undefined,
    encrypted: undefined,
    readable: undefined,
    publicKey: { '@type': 'type', data: BYTES, format: undefined },
  };
  const readable = { descriptor: 'films', typeUrl: 'type', value: BYTES, size: 7 };
  const contents: [string, EventGroupContent][] = [
    ['films', { ...blank, readable }],
    ['shows', { ...blank, encrypted: { ciphertext: BYTES, typeUrl: 'type' } }],
    ['gone', { ...blank, readable }],
  ];
  for (const [id, content] of contents) {
    const created = group({ id, provider: TV, consumer: BRAND }, content, clock());
    await db.tx('group', async (tx) => {
      insertEventGroup(tx, created, { id: `${id}-request`, hash: sha256(id) });
      record(tx, `${TV}/eventGroups/${id}`, 1);
      if (id !== 'gone') return;
      updateEventGroup(tx, removed(created, clock()));
      record(tx, `${TV}/eventGroups/${id}`, 2);
    });
  }
}

/**
 * Adds reports of BRAND: one in each state, named after the state. The incomplete report was complete before one of its
 * measurements was removed.
 */
export async function addReports(db: Database): Promise<void> {
  await addMeasurement(db, 'waiting');
  const told = await addMeasurement(db, 'told');
  const half = await change(db, told, (now) => fulfillBy(TV, told, now));
  await change(db, half, (now) => fulfillBy(RADIO, half, now));
  const succeeded: Entry = { key: 'a'.repeat(64), measurement: 'told', state: 'SUCCEEDED' };
  const awaiting: Entry = {
    key: 'b'.repeat(64),
    measurement: 'waiting',
    state: 'AWAITING_REQUISITION_FULFILLMENT',
  };
  const old: Entry = { key: 'c'.repeat(64), measurement: 'old', state: undefined };
  const all: [id: string, entries: Entry[]][] = [
    ['planned', []],
    ['running', [succeeded, awaiting]],
    ['complete', [succeeded]],
    ['incomplete', [succeeded, old]],
    ['deleted', [succeeded]],
  ];
  for (const [id, entries] of all) {
    const input = {
      sealedDefinition: { ciphertext: BYTES, typeUrl: 'type' },
      sealedAnswer: { ciphertext: BYTES, typeUrl: 'type' },
      definitionHash: sha256(id),
      title: 'title',
    };
    // Create the report in the state that it had while all its measurements still existed.
    const before = entries.map((entry) => (entry === old ? { ...old, state: 'SUCCEEDED' as const } : entry));
    const report = newReport({ consumer: BRAND, id }, input, before, clock());
    await db.tx('report', async (tx) => {
      insertReport(tx, report, { id: `${id}-request`, hash: sha256(id) });
      appendEntries(tx, report, 0, entries);
      record(tx, `${BRAND}/reports/${id}`, 1);
      if (id === 'incomplete') saveReport(tx, settleReport({ report, entries }), clock());
      else if (id === 'deleted') saveDeletedReport(tx, deleteReport(report, clock()));
      else return;
      record(tx, `${BRAND}/reports/${id}`, 2);
    });
  }
}
