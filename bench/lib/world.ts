/** Creates measurements from a request that the SDK builds with real keys, and copies their rows with SQL. */
import { createHash, randomBytes } from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import { specs, TYPE_URLS } from '@measurement-exchange/contract';
import { etagOf } from '@measurement-exchange/exchange/internal/domain/measurement';
import {
  createClient,
  createConsumer,
  createTrustStore,
  decrypt,
  type MeasurementRequest,
  readCredentials,
  unpackSignedMessage,
} from '@measurement-exchange/sdk';
import type { BenchExchange, DevParty } from './exchange.ts';
import type { BenchDatabase } from './postgres.ts';

export interface Source {
  id: string;
  /** The requisition IDs, in the order of the providers. */
  requisitions: string[];
}

export interface World {
  consumer: DevParty;
  providers: DevParty[];
  /** The body of a request that creates a measurement with three providers. */
  createBody: string;
  /** A measurement that awaits the results of all three providers. */
  open: Source;
  /** A measurement that has the results of all three providers. */
  succeeded: Source;
}

/** Each data provider has ten event groups with a filter, which makes a requisition spec of about 2 KB. */
const EVENT_GROUPS = 10;
/** The size of a signed and encrypted result of reach and frequency. */
const RESULT_BYTES = 600;

export async function createWorld(exchange: BenchExchange, database: BenchDatabase): Promise<World> {
  const { dev } = exchange;
  const [consumer] = dev.measurementConsumers as [DevParty];
  const providers = dev.dataProviders;
  await exchange.call(dev.operator.token, 'POST', 'trustedRoots', { x509Pem: dev.rootCertificatePem });
  const createBody = await sealRequest(exchange, consumer, providers);
  const make = async () => {
    const created = await exchange.call(
      consumer.token,
      'POST',
      `${consumer.name}/measurements`,
      JSON.parse(createBody),
    );
    const id = (created as { name: string }).name.split('/').at(-1)!;
    const rows = await database.query('SELECT id FROM requisitions WHERE measurement = $1 ORDER BY ordinal', [
      id,
    ]);
    return { id, requisitions: rows.map((row) => row.id as string) };
  };
  const open = await make();
  const succeeded = await make();
  const { dataProviders } = JSON.parse(createBody);
  for (const [i, provider] of providers.entries()) {
    const requisition = succeeded.requisitions[i]!;
    const { ciphertext } = dataProviders[provider.name].encryptedRequisitionSpec;
    const body = {
      ...fulfillment(provider, requisition),
      nonce: String(await nonceOf(provider, Buffer.from(ciphertext, 'base64'))),
    };
    await exchange.call(
      provider.token,
      'POST',
      `${provider.name}/requisitions/${requisition}:fulfillDirect`,
      body,
    );
  }
  return { consumer, providers, createBody, open, succeeded };
}

/**
 * Builds the request that the SDK would send: every part is signed, and each provider's part is encrypted for that
 * provider.
 */
export async function sealRequest(
  { url, dev }: BenchExchange,
  consumer: DevParty,
  providers: DevParty[],
): Promise<string> {
  let body: string | undefined;
  const client = createClient({
    baseUrl: url,
    token: consumer.token,
    maxAttempts: 1,
    fetch: async (input, init) => {
      if (init?.method !== 'POST') return fetch(input, init);
      body = await new Response(init.body).text();
      throw new Error('kept');
    },
  });
  const trust = createTrustStore([{ pem: dev.rootCertificatePem }]);
  const sdk = createConsumer({ client, credentials: readCredentials(consumer), trust });
  await sdk.create(request(providers)).catch((error) => {
    if (body === undefined) throw error;
  });
  return body!;
}

export function request(providers: { name: string }[]): MeasurementRequest {
  const interval = { start: '2026-01-01T00:00:00Z', end: '2026-04-01T00:00:00Z' };
  return {
    type: 'reachAndFrequency',
    privacy: { epsilon: 0.0033, delta: 1e-12 },
    vidSampling: { start: 0.1, width: 0.3 },
    dataProviders: providers.map(({ name }) => ({
      name,
      eventGroups: Array.from({ length: EVENT_GROUPS }, (_, i) => ({
        name: `${name}/eventGroups/campaign-2026-q1-${i}`,
        interval,
        filter: `person.gender == 'F' && person.age >= ${18 + i} && person.age < ${35 + i} && device in ['phone', 'tv']`,
      })),
    })),
  };
}

export async function nonceOf(provider: DevParty, ciphertext: Uint8Array): Promise<bigint> {
  const plaintext = await decrypt(readCredentials(provider).encryptionPrivateKey, ciphertext);
  return fromBinary(specs.RequisitionSpecSchema, unpackSignedMessage(plaintext).message).nonce;
}

/** Returns the request that fulfills a copied requisition. The nonce of copied requisitions is 1. */
export function fulfillment(provider: DevParty, requisition: string) {
  return {
    encryptedResult: {
      ciphertext: randomBytes(RESULT_BYTES).toString('base64'),
      typeUrl: TYPE_URLS.MeasurementResult,
    },
    nonce: '1',
    certificate: provider.certificate,
    etag: etagOf({ id: requisition, version: 1 }),
  };
}

export interface Copies {
  /** The start of the texts whose hashes are the IDs of the copies. It distinguishes these copies from all others. */
  prefix: string;
  count: number;
  /** Copies only the first provider's requisition. */
  single?: boolean;
  consumer?: string;
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex').slice(0, 13);

/** The IDs are hashes, so they are spread over the index like the exchange's own IDs. */
export const copyId = (prefix: string, i: number) => `m${md5(`${prefix} ${i}`)}`;
export const copyRequisitionId = (prefix: string, i: number, ordinal: number) =>
  `r${md5(`${prefix} ${i} ${ordinal}`)}`;

/**
 * Copies the rows of a measurement, its requisitions and its log. The creation times of the copies are one microsecond
 * apart, just before the creation time of the source. The nonce of open requisitions is 1.
 */
export async function copyMeasurement(
  database: BenchDatabase,
  source: Source,
  copies: Copies,
): Promise<void> {
  const { prefix, count, single = false, consumer } = copies;
  const id = `'m' || substr(md5('${prefix} ' || i), 1, 13)`;
  const requisitionId = `'r' || substr(md5('${prefix} ' || i || ' ' || r.ordinal), 1, 13)`;
  const earlier = (column: string) => `${column} - (${count} - i) * interval '1 microsecond'`;
  const copied = async (table: string, alias: string, changed: Record<string, string>, from: string) => {
    const columns = await database.query(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attnum > 0
          AND NOT attisdropped AND attidentity = '' AND attname <> 'xid' ORDER BY attnum`,
    );
    const names = columns.map(({ name }) => name as string);
    const values = names.map((name) => changed[name] ?? `${alias}.${name}`);
    return `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${from};`;
  };
  const series = `generate_series(0, ${count - 1}) AS i`;
  const some = single ? 'AND r.ordinal = 0' : '';
  const texts = [
    await copied(
      'measurements',
      'm',
      {
        id,
        request_id: 'NULL',
        request_hash: 'NULL',
        ...(single && { requisition_count: '1' }),
        ...(consumer && { consumer: `'${consumer}'` }),
        create_time: earlier('m.create_time'),
        update_time: earlier('m.update_time'),
      },
      `${series} CROSS JOIN measurements m WHERE m.id = '${source.id}'`,
    ),
    await copied(
      'requisitions',
      'r',
      {
        id: requisitionId,
        measurement: id,
        nonce_hash: `CASE WHEN r.state = 'UNFULFILLED' THEN sha256(int8send(1)) ELSE r.nonce_hash END`,
        create_time: earlier('r.create_time'),
        update_time: earlier('r.update_time'),
      },
      `${series} CROSS JOIN requisitions r WHERE r.measurement = '${source.id}' ${some}`,
    ),
    await copied(
      'transitions',
      't',
      {
        measurement: id,
        requisition: `CASE WHEN t.requisition = '' THEN '' ELSE ${requisitionId} END`,
        time: earlier('t.time'),
      },
      `${series} CROSS JOIN transitions t LEFT JOIN requisitions r ON r.id = t.requisition
        WHERE t.measurement = '${source.id}' AND (r.id IS NULL OR true ${some})`,
    ),
  ];
  // The source rows passed all triggers and foreign key checks, so the copies skip them.
  await database.query(`SET LOCAL session_replication_role = replica; ${texts.join(' ')}`);
}
