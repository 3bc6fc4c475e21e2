/** The rights of each kind of caller, as docs/api.md states them. */
import type { Kind } from './world.ts';

/**
 * `own`: only the caller's own party and the resources below its name. `any`: resources of any owner, but not the
 * wildcard `-`. `wildcard`: resources of any owner, and the wildcard `-`.
 */
export type Right = 'own' | 'any' | 'wildcard';
export interface Row {
  may: Partial<Record<Kind, Right>>;
  /**
   * The reason of the error if the target is absent. Undefined if nothing in the path can be absent except the party.
   */
  absent?: string;
  /** The part of the request that names resources in addition to the path. */
  names?: 'query' | 'body';
}

const MC = 'measurementConsumers/*';
const DP = 'dataProviders/*';
const NO_MEASUREMENT = 'MEASUREMENT_NOT_FOUND';
const NO_REQUISITION = 'REQUISITION_NOT_FOUND';
const NO_REPORT = 'REPORT_NOT_FOUND';
const NO_DESCRIPTOR = 'EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND';
const NO_CERTIFICATE = 'CERTIFICATE_NOT_FOUND';
const NO_EVENT_GROUP = 'EVENT_GROUP_NOT_FOUND';
const NO_POPULATION = 'POPULATION_NOT_FOUND';
const NO_COMPUTATION = 'COMPUTATION_NOT_FOUND';
const operator: Row['may'] = { operator: 'any' };
const everybody: Row['may'] = {
  measurementConsumer: 'any',
  dataProvider: 'any',
  duchy: 'any',
  operator: 'any',
};
const readDescriptors: Row['may'] = { measurementConsumer: 'any', dataProvider: 'own' };
const consumerOwn: Row['may'] = { measurementConsumer: 'own' };
const consumerAdministration: Row['may'] = { measurementConsumer: 'own', operator: 'any' };
const providerOwn: Row['may'] = { dataProvider: 'own' };
const duchyOwn: Row = { may: { duchy: 'own' }, absent: NO_COMPUTATION };

/**
 * The matrix is written by hand and not derived from the routes table, because the tests compare that table with the
 * matrix. A row denies access to every kind of caller that it does not mention.
 */
export const MATRIX: Record<string, Row> = {
  'GET whoami': { may: everybody },
  // Populations: the operator creates and updates them; everybody gets and lists them.
  'POST populations': { may: operator },
  'PATCH populations/*': { may: operator, absent: NO_POPULATION },
  'GET populations/*': { may: everybody, absent: NO_POPULATION },
  'GET populations': { may: everybody },
  // Descriptors: a data provider creates and updates its own.
  [`POST ${DP}/eventGroupMetadataDescriptors`]: { may: providerOwn },
  [`PATCH ${DP}/eventGroupMetadataDescriptors/*`]: { may: providerOwn, absent: NO_DESCRIPTOR },
  [`PUT ${DP}/eventGroupMetadataDescriptors/*`]: { may: providerOwn, absent: NO_DESCRIPTOR },
  // Descriptor get, batchGet and list of one data provider: consumers read any, providers read their own. List and
  // batchGet with `dataProviders/-`: consumers only.
  [`GET ${DP}/eventGroupMetadataDescriptors/*`]: {
    may: { measurementConsumer: 'any', dataProvider: 'own' },
    absent: NO_DESCRIPTOR,
  },
  [`GET ${DP}/eventGroupMetadataDescriptors:batchGet`]: {
    may: { measurementConsumer: 'wildcard', dataProvider: 'own' },
    absent: NO_DESCRIPTOR,
    names: 'query',
  },
  [`GET ${DP}/eventGroupMetadataDescriptors`]: {
    may: { measurementConsumer: 'wildcard', dataProvider: 'own' },
  },
  // Requisition list, get, explain, timeline, fulfillDirect, refuse and defer under `dataProviders/X`: only that
  // provider.
  [`GET ${DP}/requisitions`]: { may: providerOwn },
  [`GET ${DP}/requisitions/*`]: { may: providerOwn, absent: NO_REQUISITION },
  [`GET ${DP}/requisitions/*:explain`]: { may: providerOwn, absent: NO_REQUISITION },
  [`GET ${DP}/requisitions/*:timeline`]: { may: providerOwn, absent: NO_REQUISITION },
  [`POST ${DP}/requisitions/*:fulfillDirect`]: { may: providerOwn, absent: NO_REQUISITION },
  [`POST ${DP}/requisitions/*:defer`]: { may: providerOwn, absent: NO_REQUISITION },
  [`POST ${DP}/requisitions/*:refuse`]: { may: providerOwn, absent: NO_REQUISITION },
  // Requisition list and get under a measurement: only the measurement's consumer.
  [`GET ${MC}/measurements/*/requisitions`]: { may: consumerOwn, absent: NO_MEASUREMENT },
  [`GET ${MC}/measurements/*/requisitions/*`]: { may: consumerOwn, absent: NO_REQUISITION },
  // Measurement create, batchCreate, get, list, batchGet, cancel, explain and timeline: only the measurement's
  // consumer.
  [`POST ${MC}/measurements`]: { may: consumerOwn },
  [`POST ${MC}/measurements:batchCreate`]: { may: consumerOwn },
  [`GET ${MC}/measurements/*`]: { may: consumerOwn, absent: NO_MEASUREMENT },
  [`GET ${MC}/measurements`]: { may: consumerOwn },
  [`POST ${MC}/measurements:batchGet`]: { may: consumerOwn, absent: NO_MEASUREMENT, names: 'body' },
  [`POST ${MC}/measurements/*:cancel`]: { may: consumerOwn, absent: NO_MEASUREMENT },
  [`GET ${MC}/measurements/*:explain`]: { may: consumerOwn, absent: NO_MEASUREMENT },
  [`GET ${MC}/measurements/*:timeline`]: { may: consumerOwn, absent: NO_MEASUREMENT },
  // API keys: a consumer manages its own, and the operator manages all.
  [`POST ${MC}/apiKeys`]: { may: consumerAdministration },
  [`GET ${MC}/apiKeys`]: { may: consumerAdministration },
  [`DELETE ${MC}/apiKeys/*`]: { may: consumerAdministration, absent: 'API_KEY_NOT_FOUND' },
  // Reports: every operation is allowed only to the report's consumer.
  [`POST ${MC}/reports`]: { may: consumerOwn },
  [`GET ${MC}/reports`]: { may: consumerOwn },
  [`GET ${MC}/reports/*`]: { may: consumerOwn, absent: NO_REPORT },
  [`PATCH ${MC}/reports/*`]: { may: consumerOwn, absent: NO_REPORT },
  [`DELETE ${MC}/reports/*`]: { may: consumerOwn, absent: NO_REPORT },
  // Computations: every operation is allowed only to the duchy itself.
  'GET duchies/*/computations': { may: { duchy: 'own' } },
  'GET duchies/*/computations/*': duchyOwn,
  'GET duchies/*/computations/*:explain': duchyOwn,
  'POST duchies/*/computations/*:setParameters': duchyOwn,
  'POST duchies/*/computations/*:confirm': duchyOwn,
  'POST duchies/*/computations/*:fulfillRequisition': duchyOwn,
  'POST duchies/*/computations/*:setResult': duchyOwn,
  'POST duchies/*/computations/*:fail': duchyOwn,
  'POST duchies/*/computations/*:log': duchyOwn,
  // Changes: each party reads only its own.
  [`GET ${MC}/changes`]: { may: consumerOwn },
  [`GET ${DP}/changes`]: { may: providerOwn },
  'GET duchies/*/changes': { may: { duchy: 'own' } },
  [`GET ${MC}/changes:watch`]: { may: consumerOwn },
  [`GET ${DP}/changes:watch`]: { may: providerOwn },
  'GET duchies/*/changes:watch': { may: { duchy: 'own' } },
  // Certificate get: consumers read their own certificates and those of all providers. Providers read their own
  // certificates and those of all consumers. All parties read those of duchies. Duchies and the operator read all.
  [`GET ${MC}/certificates/*`]: {
    may: { measurementConsumer: 'own', dataProvider: 'any', duchy: 'any', operator: 'any' },
    absent: NO_CERTIFICATE,
  },
  [`GET ${DP}/certificates/*`]: {
    may: { measurementConsumer: 'any', dataProvider: 'own', duchy: 'any', operator: 'any' },
    absent: NO_CERTIFICATE,
  },
  'GET duchies/*/certificates/*': {
    may: { measurementConsumer: 'any', dataProvider: 'any', duchy: 'any', operator: 'any' },
    absent: NO_CERTIFICATE,
  },
  // Descriptor diff and decode: consumers for any provider, providers for their own descriptors.
  [`POST ${DP}/eventGroupMetadataDescriptors/*:diff`]: { may: readDescriptors, absent: NO_DESCRIPTOR },
  [`POST ${DP}/eventGroupMetadataDescriptors/*:decode`]: { may: readDescriptors, absent: NO_DESCRIPTOR },
  // Event group create, update, delete, batch operations, get, list and decode under `dataProviders/X`: only that
  // provider. Get, list and decode under a consumer: only that consumer.
  [`POST ${DP}/eventGroups`]: { may: providerOwn },
  [`PATCH ${DP}/eventGroups/*`]: { may: providerOwn, absent: NO_EVENT_GROUP },
  [`PUT ${DP}/eventGroups/*`]: { may: providerOwn, absent: NO_EVENT_GROUP },
  [`DELETE ${DP}/eventGroups/*`]: { may: providerOwn, absent: NO_EVENT_GROUP },
  [`POST ${DP}/eventGroups:batchCreate`]: { may: providerOwn },
  [`POST ${DP}/eventGroups:batchUpdate`]: { may: providerOwn },
  [`GET ${DP}/eventGroups/*`]: { may: providerOwn, absent: NO_EVENT_GROUP },
  [`GET ${DP}/eventGroups`]: { may: providerOwn },
  [`GET ${DP}/eventGroups/*:decode`]: { may: providerOwn, absent: NO_EVENT_GROUP },
  [`GET ${MC}/eventGroups/*`]: { may: consumerOwn, absent: NO_EVENT_GROUP },
  [`GET ${MC}/eventGroups`]: { may: consumerOwn },
  [`GET ${MC}/eventGroups/*:decode`]: { may: consumerOwn, absent: NO_EVENT_GROUP },
  // Certificate create, list, revoke and releaseHold: each party for its own certificates, and the operator for all.
  ...certificateRows(MC, { measurementConsumer: 'own', operator: 'any' }),
  ...certificateRows(DP, { dataProvider: 'own', operator: 'any' }),
  ...certificateRows('duchies/*', { duchy: 'own', operator: 'any' }),
  // Webhooks: every operation is allowed only to the party itself.
  ...webhookRows(MC, consumerOwn),
  ...webhookRows(DP, providerOwn),
  ...webhookRows('duchies/*', { duchy: 'own' }),
  // Party get: consumers read themselves and any provider. Providers read themselves, any consumer and any duchy.
  // Duchies and the operator read all parties.
  [`GET ${MC}`]: {
    may: { measurementConsumer: 'own', dataProvider: 'any', duchy: 'any', operator: 'any' },
    absent: 'MEASUREMENT_CONSUMER_NOT_FOUND',
  },
  [`GET ${DP}`]: {
    may: { measurementConsumer: 'any', dataProvider: 'own', duchy: 'any', operator: 'any' },
    absent: 'DATA_PROVIDER_NOT_FOUND',
  },
  'GET duchies/*': {
    may: { dataProvider: 'any', duchy: 'any', operator: 'any' },
    absent: 'DUCHY_NOT_FOUND',
  },
  // Party summary: only the party itself.
  [`GET ${MC}:summary`]: { may: consumerOwn },
  [`GET ${DP}:summary`]: { may: providerOwn },
  'GET duchies/*:summary': { may: { duchy: 'own' } },
  // List of data providers: consumers and the operator.
  'GET dataProviders': { may: { measurementConsumer: 'any', operator: 'any' } },
  // Party update: the party itself and the operator.
  [`PATCH ${MC}`]: {
    may: { measurementConsumer: 'own', operator: 'any' },
    absent: 'MEASUREMENT_CONSUMER_NOT_FOUND',
  },
  [`PATCH ${DP}`]: { may: { dataProvider: 'own', operator: 'any' }, absent: 'DATA_PROVIDER_NOT_FOUND' },
  'PATCH duchies/*': { may: { duchy: 'own', operator: 'any' }, absent: 'DUCHY_NOT_FOUND' },
  // Only the operator: create, suspend and resume parties; list consumers and duchies; use principals, trusted roots
  // and audit entries; read party health and the exchange's status; use the doctor.
  'POST measurementConsumers': { may: operator },
  'POST dataProviders': { may: operator },
  'POST duchies': { may: operator },
  'GET measurementConsumers': { may: operator },
  'GET duchies': { may: operator },
  [`POST ${MC}:suspend`]: { may: operator, absent: 'MEASUREMENT_CONSUMER_NOT_FOUND' },
  [`POST ${MC}:resume`]: { may: operator, absent: 'MEASUREMENT_CONSUMER_NOT_FOUND' },
  [`POST ${DP}:suspend`]: { may: operator, absent: 'DATA_PROVIDER_NOT_FOUND' },
  [`POST ${DP}:resume`]: { may: operator, absent: 'DATA_PROVIDER_NOT_FOUND' },
  'POST duchies/*:suspend': { may: operator, absent: 'DUCHY_NOT_FOUND' },
  'POST duchies/*:resume': { may: operator, absent: 'DUCHY_NOT_FOUND' },
  'POST principals': { may: operator },
  'GET principals': { may: operator },
  'DELETE principals/*': { may: operator, absent: 'PRINCIPAL_NOT_FOUND' },
  'POST trustedRoots': { may: operator },
  'GET trustedRoots': { may: operator },
  'DELETE trustedRoots/*': { may: operator, absent: 'TRUSTED_ROOT_NOT_FOUND' },
  'GET auditEntries': { may: operator },
  'GET partyHealth': { may: operator },
  'GET doctor': { may: operator },
  'POST doctor:run': { may: operator },
  'GET exchangeStatus': { may: operator },
};

function webhookRows(owner: string, may: Row['may']): Record<string, Row> {
  const one: Row = { may, absent: 'WEBHOOK_NOT_FOUND' };
  return {
    [`POST ${owner}/webhooks`]: { may },
    [`GET ${owner}/webhooks`]: { may },
    [`GET ${owner}/webhooks/*`]: one,
    [`PATCH ${owner}/webhooks/*`]: one,
    [`DELETE ${owner}/webhooks/*`]: one,
    [`POST ${owner}/webhooks/*:rotateSecret`]: one,
    [`POST ${owner}/webhooks/*:test`]: one,
    [`POST ${owner}/webhooks/*:redeliver`]: one,
    [`GET ${owner}/webhooks/*/deliveries`]: one,
  };
}

function certificateRows(owner: string, may: Row['may']): Record<string, Row> {
  return {
    [`POST ${owner}/certificates`]: { may },
    [`GET ${owner}/certificates`]: { may },
    [`POST ${owner}/certificates/*:revoke`]: { may, absent: NO_CERTIFICATE },
    [`POST ${owner}/certificates/*:releaseHold`]: { may, absent: NO_CERTIFICATE },
  };
}
