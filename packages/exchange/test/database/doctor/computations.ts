/** Test data: measurements that duchies compute, written as the exchange writes them, and their possible defects. */
import { insertCertificate } from '../../../src/database/certificates.ts';
import { insertProgress } from '../../../src/database/computations.ts';
import type { Database } from '../../../src/database/db.ts';
import { insertParty } from '../../../src/database/parties.ts';
import type { Aggregate } from '../../../src/domain/aggregate.ts';
import { computationEtag, confirm, fulfillRequisition, setResult } from '../../../src/domain/computation.ts';
import { KEY_MEMBERS, setParameters } from '../../../src/domain/parameters.ts';
import { newParty } from '../../../src/domain/party.ts';
import type { StoredProtocolConfig } from '../../../src/domain/protocolConfig.ts';
import { addMeasurement, BYTES, certificateOf, change, clock, NONCE } from './data.ts';
import { type Illness, measurement, tvRequisition } from './illness.ts';

const [FIRST, SECOND, AGGREGATOR] = ['duchies/first', 'duchies/second', 'duchies/third'] as const;

async function configOf(db: Database) {
  const { rows } = await db.pool.query(`SELECT fingerprint FROM populations WHERE id = 'first'`);
  return {
    firstWorker: FIRST,
    secondWorker: SECOND,
    aggregator: AGGREGATOR,
    noiseMechanism: 'DISCRETE_GAUSSIAN',
    ringModulus: 127,
    population: 'populations/first',
    populationFingerprint: rows[0].fingerprint.toString('base64'),
  } as const;
}

const HIDING = { epsilon: 0.1, delta: 1e-9 };
const RING: StoredProtocolConfig = {
  ...{ workers: [FIRST, SECOND], aggregator: AGGREGATOR, noiseMechanism: 'DISCRETE_GAUSSIAN' },
  ...{ decayRate: 12, maxSize: 1000, histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
};
const KEY = { message: BYTES, signature: BYTES };

/**
 * Adds three measurements: one waits for parameters of two duchies, one is computing, and one has a result. Then adds
 * the ring measurements. Call `addPopulations` first.
 */
export async function addComputations(db: Database): Promise<void> {
  for (const name of [FIRST, SECOND, AGGREGATOR]) {
    const der = { x509Der: Buffer.from(name), subjectKeyIdentifier: Buffer.from(name) };
    await insertParty(db, newParty(name, {}, clock()));
    await insertCertificate(db, { ...certificateOf(name), ...der, version: 1, createTime: clock() });
  }
  await setBy(db, await addMeasurement(db, 'shares-missing', await configOf(db)), FIRST);
  await compute(db, 'shares-sent');
  const running = await compute(db, 'shares-summed');
  const report = { computation: 'shares-sent', duchy: FIRST, time: clock() };
  await db.tx('report', async (tx) =>
    insertProgress(tx, { ...report, stage: 'SETUP', attempt: 1, message: 'halfway', progress: 0.5 }),
  );
  const input = {
    etag: computationEtag(running),
    certificate: certificateOf(AGGREGATOR),
    encryptedResult: { ciphertext: BYTES, typeUrl: 'type' },
  };
  await change(db, running, (now) => setResult(running, AGGREGATOR, input, now));
  await addRings(db);
}

/** Adds three ring measurements: one waits for data, one waits for two more confirmations, and one is computing. */
async function addRings(db: Database): Promise<void> {
  let aggregate = await addMeasurement(db, 'sketches-wanted', RING);
  for (const duchy of [FIRST, SECOND, AGGREGATOR]) aggregate = await setBy(db, aggregate, duchy);
  await confirmBy(db, await compute(db, 'sketches-sent', RING), FIRST);
  aggregate = await compute(db, 'sketches-counted', RING);
  for (const duchy of [FIRST, SECOND, AGGREGATOR]) aggregate = await confirmBy(db, aggregate, duchy);
}

function confirmBy(db: Database, before: Aggregate, duchy: string): Promise<Aggregate> {
  const input = { etag: computationEtag(before) };
  return change(db, before, (now) => confirm(before, duchy, input, now));
}

async function compute(db: Database, id: string, config?: StoredProtocolConfig): Promise<Aggregate> {
  let aggregate = await addMeasurement(db, id, config ?? (await configOf(db)));
  for (const duchy of [FIRST, SECOND, AGGREGATOR]) aggregate = await setBy(db, aggregate, duchy);
  for (const { id: requisition, provider, fulfillingDuchy, nonceHash } of aggregate.requisitions) {
    const before = aggregate;
    const input = {
      etag: computationEtag(before),
      requisition: `${provider}/requisitions/${requisition}`,
      nonce: NONCE,
      nonceHashes: [nonceHash],
      context: undefined,
    };
    aggregate = await change(db, before, (now) => fulfillRequisition(before, fulfillingDuchy!, input, now));
  }
  return aggregate;
}

function setBy(db: Database, before: Aggregate, duchy: string): Promise<Aggregate> {
  const isRing = 'workers' in before.measurement.protocolConfig!;
  const hasKey = isRing || duchy !== AGGREGATOR;
  const input = {
    etag: computationEtag(before),
    certificate: certificateOf(duchy),
    keys: {
      protocol: undefined,
      publicKey: hasKey ? KEY : undefined,
      elGamalPublicKey: isRing ? KEY : undefined,
    },
    signed: [...KEY_MEMBERS],
  };
  return change(db, before, (now) => setParameters(before, duchy, input, now));
}

const computation = (duchy: string, id: string) => `${duchy}/computations/${id}`;
const of = (duchy: string, id: string) => `WHERE duchy = '${duchy}' AND id = '${id}'`;

export const COMPUTATION_ILLNESSES: Illness[] = [
  [
    'an aggregator that is not the configured one',
    `UPDATE measurements SET protocol_config = protocol_config || '{"aggregator": "duchies/other"}'
      WHERE id = 'shares-missing'`,
    'computation-participants',
    // One finding covers two differences: the configured aggregator is missing, and another duchy takes part.
    [measurement('shares-missing')],
  ],
  [
    'a ring computation without one of its configured workers',
    `DELETE FROM computations ${of(SECOND, 'sketches-wanted')};
     DELETE FROM transitions WHERE measurement = 'sketches-wanted' AND requisition = '${SECOND}'`,
    'computation-participants',
    [measurement('sketches-wanted')],
  ],
  [
    'a ring computation that computes before all duchies have confirmed',
    `UPDATE computations SET state = 'COMPUTING' WHERE id = 'sketches-sent'`,
    'computation-state',
    [FIRST, SECOND, AGGREGATOR].map((duchy) => computation(duchy, 'sketches-sent')),
  ],
  [
    'a duchy of a ring without an ElGamal key, and a duchy of share-shuffle with one',
    `UPDATE computations SET elgamal_message = NULL, elgamal_signature = NULL ${of(AGGREGATOR, 'sketches-counted')};
     UPDATE computations SET elgamal_message = 'k', elgamal_signature = 's' ${of(FIRST, 'shares-sent')}`,
    'computation-parameters',
    [computation(FIRST, 'shares-sent'), computation(AGGREGATOR, 'sketches-counted')],
  ],
  [
    'a duchy that confirmed before all data arrived, and a share-shuffle duchy that waits to confirm',
    `UPDATE computations SET participant_state = 'READY', version = 3 ${of(FIRST, 'sketches-wanted')};
     UPDATE computations SET participant_state = 'PARAMS_SET' ${of(FIRST, 'shares-missing')};
     UPDATE transitions SET cause = 'keysSet', to_state = 'PARAMS_SET'
       WHERE measurement = 'shares-missing' AND requisition = '${FIRST}' AND version = 2;
     INSERT INTO transitions (measurement, requisition, version, from_state, to_state, time, actor, cause, request_id)
       VALUES ('sketches-wanted', '${FIRST}', 3, 'PARAMS_SET', 'READY', now(), 'actor', 'confirmed', 'request')`,
    'computation-confirmation',
    [computation(FIRST, 'shares-missing'), computation(FIRST, 'sketches-wanted')],
  ],
  [
    'a requisition of a ring whose data goes to the aggregator',
    `UPDATE requisitions SET fulfilling_duchy = '${AGGREGATOR}' WHERE id = 'sketches-wanted-tv'`,
    'fulfilling-duchy',
    [tvRequisition('sketches-wanted')],
  ],
  [
    'a computation state ahead of the participants, and update times that differ between participants',
    `UPDATE computations SET state = 'PENDING_FULFILLMENT' ${of(FIRST, 'shares-missing')};
     UPDATE computations SET update_time = update_time - interval '1 second' ${of(SECOND, 'shares-sent')}`,
    'computation-state',
    [computation(FIRST, 'shares-missing'), computation(SECOND, 'shares-sent')],
  ],
  [
    'computing duchies without a certificate or without a public key',
    `UPDATE computations SET certificate = NULL ${of(AGGREGATOR, 'shares-sent')};
     UPDATE computations SET key_message = NULL, key_signature = NULL ${of(FIRST, 'shares-sent')}`,
    'computation-parameters',
    [computation(FIRST, 'shares-sent'), computation(AGGREGATOR, 'shares-sent')],
  ],
  [
    'a succeeded measurement without a result, and a computing measurement with a result type',
    `UPDATE measurements SET result_ciphertext = NULL WHERE id = 'shares-summed';
     UPDATE measurements SET result_type_url = 'type' WHERE id = 'shares-sent'`,
    'computation-result',
    [measurement('shares-sent'), measurement('shares-summed')],
  ],
  [
    'a result from a worker instead of the aggregator',
    `UPDATE measurements SET result_duchy = '${FIRST}', result_certificate = 'first-cert' WHERE id = 'shares-summed'`,
    'computation-result',
    [measurement('shares-summed')],
  ],
  [
    'a duchy that failed in a computation that is still running',
    `UPDATE computations SET participant_state = 'FAILED', version = version + 1 ${of(SECOND, 'shares-sent')};
     INSERT INTO transitions (measurement, requisition, version, from_state, to_state, time, actor, cause, request_id)
       VALUES ('shares-sent', '${SECOND}', 3, 'READY', 'FAILED', now(), 'actor', 'failed', 'request')`,
    'computation-failure',
    [computation(SECOND, 'shares-sent')],
  ],
  [
    'a requisition whose data goes to the aggregator, and a direct requisition whose data goes to a duchy',
    `UPDATE requisitions SET fulfilling_duchy = '${AGGREGATOR}' WHERE id = 'shares-sent-tv';
     UPDATE requisitions SET fulfilling_duchy = '${FIRST}' WHERE id = 'awaiting-tv'`,
    'fulfilling-duchy',
    [tvRequisition('awaiting'), tvRequisition('shares-sent')],
  ],
  [
    'a result type in a requisition whose data went to a duchy',
    `UPDATE requisitions SET result_type_url = 'type' WHERE id = 'shares-sent-tv'`,
    'result-presence',
    [tvRequisition('shares-sent')],
  ],
  [
    'a measurement that duchies compute before all requisitions are fulfilled',
    `DELETE FROM transitions WHERE measurement = 'shares-sent' AND requisition = 'shares-sent-tv' AND version > 2;
     UPDATE requisitions SET state = 'UNFULFILLED', version = 2, nonce = NULL WHERE id = 'shares-sent-tv'`,
    'computed-unfulfilled',
    [measurement('shares-sent')],
  ],
  [
    'a participant whose transition log lacks a version',
    `DELETE FROM transitions WHERE measurement = 'shares-missing' AND requisition = '${FIRST}' AND version = 2`,
    'log-version',
    [computation(FIRST, 'shares-missing')],
  ],
  [
    'a transition of a participant with a cause that only requisitions have',
    `UPDATE transitions SET cause = 'fulfilled' WHERE measurement = 'shares-missing' AND requisition = '${FIRST}'
        AND version = 2`,
    'log-edge',
    [computation(FIRST, 'shares-missing')],
  ],
  [
    'references to a certificate that the duchy does not have',
    `UPDATE computations SET certificate = 'tv-cert' ${of(FIRST, 'shares-missing')};
     UPDATE measurements SET result_certificate = 'tv-cert' WHERE id = 'shares-summed'`,
    'certificate-owner',
    [computation(FIRST, 'shares-missing'), measurement('shares-summed')],
  ],
  [
    'pending measurements with a duchy certificate on hold, and no revocation in progress',
    `UPDATE certificates SET revocation_state = 'HOLD' WHERE party = '${FIRST}'`,
    'revoked-pending',
    ['shares-missing', 'shares-sent', 'sketches-counted', 'sketches-sent', 'sketches-wanted'].map(
      measurement,
    ),
  ],
  [
    'a progress report for a computation that does not exist',
    `UPDATE computation_log SET duchy = 'duchies/other'`,
    'orphan',
    ['report of duchies/other on shares-sent'],
  ],
];
