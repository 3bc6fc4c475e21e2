/** Creates callers of every kind, and two owners of each kind with resources that the callers request. */

import type { Config } from '@measurement-exchange/exchange/config';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { createRoot, issueLeaf } from '@measurement-exchange/sdk/identity';
import {
  type DevParty,
  fulfillment,
  measurementRequest,
  startExchange,
  type TestExchange,
  UNLIMITED,
} from '../exchange.ts';
import { asOperator } from '../operator.ts';
import { reportRequest } from '../requests.ts';
import { type Sharing, shareMeasurement } from '../shareMeasurement.ts';
import { addCertificate, castOf, createMeasurement, ok, post, requisitionOf } from '../steps.ts';

export type Kind = 'measurementConsumer' | 'dataProvider' | 'duchy' | 'operator';

export interface Caller {
  title: string;
  token: string | undefined;
  /** Absent if the exchange does not know or does not admit the caller. `error` is the expected error in that case. */
  kind?: Kind;
  id?: string;
  error?: string;
}

/** The resources of one owner: their IDs for request paths, and request bodies for the owner's own calls. */
export interface Holdings {
  ids: Record<string, string>;
  bodies: Record<string, object>;
}

export interface World {
  exchange: TestExchange;
  callers: Caller[];
  /** The resources by the full name of the party that owns them. The first two parties of each kind own resources. */
  holdings: Record<string, Holdings>;
  /** Request bodies that do not depend on the owner. */
  bodies: Record<string, object>;
  mint: (name: string) => Promise<string>;
}

const POPULATION = { vidRanges: [{ start: 1, end: 1000 }] };
export const DESCRIPTOR_SET = { file: [{ name: 'a.proto', package: 'a', messageType: [{ name: 'M' }] }] };

/**
 * Parties that share an ID with a party of another kind. Calls of these parties detect whether an ID alone grants
 * access.
 */
const NAMESAKES = ['measurementConsumers/streamly', 'dataProviders/acme', 'duchies/acme', 'duchies/streamly'];
/** The first two duchies have computations. */
const DUCHIES = ['duchies/acme', 'duchies/streamly', 'duchies/asleep'];
const SUSPENDED = ['measurementConsumers/asleep', 'dataProviders/asleep', 'duchies/asleep'];

const KINDS: Record<string, Kind> = {
  measurementConsumers: 'measurementConsumer',
  dataProviders: 'dataProvider',
  duchies: 'duchy',
};

/** The configuration of an exchange to which `fillWorld` can add callers. */
export const WORLD_CONFIG: Partial<Config> = {
  rate: UNLIMITED,
  // Trust X-Forwarded-For, so that callers without a valid token can send a new address each time. The exchange limits
  // invalid tokens per address.
  trustedProxies: ['127.0.0.1/32'],
};

export async function startWorld(): Promise<World> {
  return fillWorld(await startExchange(WORLD_CONFIG));
}

/** Adds the callers and their resources to an exchange, which may run in another process. */
export async function fillWorld(exchange: TestExchange): Promise<World> {
  const issuer = await createDevIssuer({ keyFile: devKeyFile(exchange.dataDir), baseUrl: exchange.url });
  const mint = (name: string) => issuer.mint(name);
  for (const name of [...NAMESAKES, ...SUSPENDED]) {
    await exchange.database.query(
      'INSERT INTO parties (name, state, create_time, update_time) VALUES ($1, $2, now(), now())',
      [name, SUSPENDED.includes(name) ? 'SUSPENDED' : 'ACTIVE'],
    );
  }
  await addOperatorsThings(exchange);
  const { acme, globex, streamly, chirper } = castOf(exchange);
  const holdings: World['holdings'] = {};
  for (const consumer of [acme, globex]) {
    holdings[consumer.name] = await consumerHoldings(exchange, consumer, [streamly, chirper]);
  }
  for (const provider of [streamly, chirper]) {
    const measurement = await createMeasurement(exchange, acme, [streamly, chirper]);
    holdings[provider.name] = await providerHoldings(exchange, provider, measurement, [streamly, chirper]);
  }
  for (const duchy of DUCHIES) await addCertificate(exchange, duchy, 'key1');
  for (const duchy of DUCHIES.slice(0, 2)) {
    holdings[duchy] = await duchyHoldings(exchange, duchy, acme, [streamly, chirper], await mint(duchy));
  }
  for (const [owner, { ids }] of Object.entries(holdings)) {
    await addCertificate(exchange, owner, 'held', { revocationState: 'HOLD' });
    ids['releaseCertificateHold.certificate'] = 'held';
    ids.webhook = await addWebhook(exchange, owner);
  }
  return { exchange, callers: await castCallers(exchange, mint), holdings, bodies: await bodies(), mint };
}

/** Adds principal bindings, trusted roots and populations with the IDs `first` and `second`. */
async function addOperatorsThings(exchange: TestExchange): Promise<void> {
  const { database } = exchange;
  for (const id of ['first', 'second']) {
    await database.query(
      `INSERT INTO principals (id, issuer, subject, resource, create_time) VALUES ($1, 'issuer', $1, 'operator', now())`,
      [id],
    );
    await database.query(
      `INSERT INTO trusted_roots (id, party, x509_der, subject_key_identifier, not_before, not_after, create_time)
       VALUES ($1, 'duchies/asleep', $2, $2, now(), now() + interval '1 day', now())`,
      [id, Buffer.from(id)],
    );
    await ok(asOperator(exchange, 'POST', `populations?populationId=${id}`, POPULATION));
  }
}

async function bodies(): Promise<World['bodies']> {
  const root = await createRoot('A root', Date.now());
  const { der } = await issueLeaf(root, 'A leaf', Date.now());
  return {
    createParty: { displayName: 'New' },
    updateParty: { displayName: 'Renamed' },
    createPrincipal: { issuer: 'issuer', subject: 'third', resource: 'operator' },
    createTrustedRoot: { x509Pem: root.certificatePem },
    createPopulation: POPULATION,
    updatePopulation: { displayName: 'Renamed' },
    createCertificate: { x509Der: Buffer.from(der).toString('base64') },
    revokeCertificate: { revocationState: 'HOLD' },
    createApiKey: { displayName: 'New' },
    createWebhook: { url: 'https://example.com/' },
    updateWebhook: { description: 'Renamed' },
    redeliverWebhook: { from: '2026-01-01T00:00:00Z' },
    diffEventGroupMetadataDescriptor: { descriptorSet: DESCRIPTOR_SET },
    decodeMetadata: { typeUrl: 'type.googleapis.com/a.M', value: '' },
  };
}

async function castCallers({ dev }: TestExchange, mint: World['mint']): Promise<Caller[]> {
  const parties = [
    ...dev.measurementConsumers.slice(0, 2).map((party) => party.name),
    // Include the third data provider, which takes part in none of the measurements.
    ...dev.dataProviders.map((party) => party.name),
    ...NAMESAKES,
  ];
  const active = parties.map(async (name): Promise<Caller> => {
    const [collection, id] = name.split('/') as [string, string];
    return { title: name, token: await mint(name), kind: KINDS[collection]!, id };
  });
  const suspended = SUSPENDED.map(async (name): Promise<Caller> => {
    return { title: `${name}, suspended,`, token: await mint(name), error: '403 PRINCIPAL_SUSPENDED' };
  });
  return [
    { title: 'a caller without a token', token: undefined, error: '401 TOKEN_INVALID' },
    { title: 'a caller with an invalid token', token: 'garbage', error: '401 TOKEN_INVALID' },
    {
      title: 'a caller that only the issuer knows',
      token: await mint('measurementConsumers/nobody'),
      error: '403 PRINCIPAL_UNKNOWN',
    },
    ...(await Promise.all([...suspended, ...active])),
    { title: 'the operator', token: dev.operator.token, kind: 'operator' },
  ];
}

async function consumerHoldings(
  exchange: TestExchange,
  consumer: DevParty,
  providers: DevParty[],
): Promise<Holdings> {
  const measurement = await createMeasurement(exchange, consumer, providers);
  const requisition = await requisitionOf(exchange, providers[0]!, measurement);
  const eventGroup = await describeTo(exchange, providers[0]!, consumer.name);
  const input = reportRequest([measurement.name]);
  const report = await ok(post(exchange, consumer, `${consumer.name}/reports`, input));
  const collection = `${consumer.name}/apiKeys`;
  const apiKey = await ok(post(exchange, consumer, collection, { displayName: 'A key' }));
  return {
    ids: {
      measurement: lastId(measurement),
      report: lastId(report),
      apiKey: lastId(apiKey),
      requisition: lastId(requisition),
      certificate: own(consumer),
      eventGroup: lastId(eventGroup),
    },
    bodies: {
      createMeasurement: measurementRequest(consumer, providers),
      batchCreateMeasurements: { requests: [{ measurement: measurementRequest(consumer, providers) }] },
      cancelMeasurement: {},
      createReport: input,
      updateReport: { etag: report.etag, title: 'Renamed' },
    },
  };
}

async function providerHoldings(
  exchange: TestExchange,
  provider: DevParty,
  measurement: { name: string },
  providers: DevParty[],
): Promise<Holdings> {
  const requisition = await requisitionOf(exchange, provider, measurement);
  const collection = `${provider.name}/eventGroupMetadataDescriptors`;
  const descriptor = await ok(post(exchange, provider, collection, { descriptorSet: DESCRIPTOR_SET }));
  const nonce = BigInt(providers.indexOf(provider) + 1);
  const eventGroup = await describeTo(exchange, provider, 'measurementConsumers/acme');
  const input = { measurementConsumer: 'measurementConsumers/acme' };
  return {
    ids: {
      requisition: lastId(requisition),
      eventGroupMetadataDescriptor: lastId(descriptor),
      certificate: own(provider),
      eventGroup: lastId(eventGroup),
    },
    bodies: {
      createEventGroup: input,
      updateEventGroup: input,
      batchCreateEventGroups: { requests: [{ eventGroup: input }] },
      batchUpdateEventGroups: { requests: [{ eventGroup: { ...input, name: eventGroup.name } }] },
      createEventGroupMetadataDescriptor: { descriptorSet: DESCRIPTOR_SET },
      updateEventGroupMetadataDescriptor: { descriptorSet: DESCRIPTOR_SET },
      fulfillDirectRequisition: fulfillment(provider, requisition, nonce),
      deferRequisition: {
        reason: 'The logs come tomorrow.',
        until: new Date(Date.now() + 86_400_000).toISOString(),
      },
      refuseRequisition: { refusal: { justification: 'DECLINED' }, etag: requisition.etag },
    },
  };
}

/**
 * Creates four computations of one duchy. One waits for the duchy's parameters, one for data, one for the duchy's
 * confirmation, and one for the result.
 */
async function duchyHoldings(
  exchange: TestExchange,
  duchy: string,
  consumer: DevParty,
  providers: DevParty[],
  token: string,
): Promise<Holdings> {
  const [first, second] = DUCHIES.filter((name) => name !== duchy) as [string, string];
  const aggregating = { firstWorker: first, secondWorker: second, aggregator: duchy };
  const working = { firstWorker: duchy, secondWorker: second, aggregator: first };
  const share = async (duchies: Sharing, until: Parameters<typeof shareMeasurement>[3]) => {
    const id = lastId(await createMeasurement(exchange, consumer, providers));
    await shareMeasurement(exchange.database, id, duchies, until);
    return ok(exchange.call(token, 'GET', `/v2alpha/${duchy}/computations/${id}`));
  };
  const pending = await share(aggregating, 'PENDING_PARAMS');
  const ready = await share(working, 'PENDING_FULFILLMENT');
  const fulfilled = await share(working, 'PENDING_CONFIRMATION');
  const computing = await share(aggregating, 'COMPUTING');
  const certificate = `${duchy}/certificates/key1`;
  const { encryptedResult } = fulfillment(providers[0]!, computing, 1n);
  return {
    ids: {
      certificate: 'key1',
      computation: lastId(pending),
      'fulfillComputationRequisition.computation': lastId(ready),
      'confirmComputation.computation': lastId(fulfilled),
      'setComputationResult.computation': lastId(computing),
    },
    bodies: {
      setComputationParameters: { etag: pending.etag, certificate },
      confirmComputation: { etag: fulfilled.etag },
      fulfillComputationRequisition: {
        etag: ready.etag,
        requisition: ready.requisitions[0].name,
        nonce: 1n,
      },
      setComputationResult: { etag: computing.etag, certificate, encryptedResult },
      failComputation: { etag: pending.etag, code: 'STAGE_FAILED' },
      logComputation: { stage: 'SETUP', attempt: 1, code: 'RUNNING' },
    },
  };
}

/** Creates a descriptor, and an event group with metadata of the type in that descriptor. */
async function describeTo(exchange: TestExchange, provider: DevParty, measurementConsumer: string) {
  const collection = `${provider.name}/eventGroupMetadataDescriptors`;
  const { name } = await ok(post(exchange, provider, collection, { descriptorSet: DESCRIPTOR_SET }));
  const metadata = { eventGroupMetadataDescriptor: name, metadata: { '@type': 'type.googleapis.com/a.M' } };
  const body = { measurementConsumer, encryptedMetadata: { metadata } };
  return ok(post(exchange, provider, `${provider.name}/eventGroups`, body));
}

/** Adds a paused webhook directly to the database, so that the exchange sends nothing to its URL. */
async function addWebhook({ database }: TestExchange, party: string): Promise<string> {
  const id = `hook-${party.replace('/', '-')}`;
  await database.query(
    `INSERT INTO webhooks (id, party, url, description, kinds, state, pause_reason, secret, cursor_xid, cursor_seq,
       next_attempt_time, create_time, update_time)
     VALUES ($1, $2, 'https://example.com/', '', '{}', 'PAUSED', 'a test', '', '0', 0, now(), now(), now())`,
    [id, party],
  );
  return id;
}

function lastId({ name }: { name: string }): string {
  return name.split('/').at(-1)!;
}

function own(party: DevParty): string {
  return lastId({ name: party.certificate });
}
