/**
 * Maps each RPC to the REST binding that has the same rights. The requests cannot change data: a request to write is
 * malformed, or callers with rights send it only for resources that do not exist.
 */
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import * as rpc from '@measurement-exchange/contract/rpc';

export interface RpcRow {
  /** The binding, for example `GET dataProviders/*`. */
  binding: string;
  /** Builds the request. `name` is the resource in the binding's path, or the parent of a collection. */
  request: (name: string, names: string[]) => object;
  /**
   * Set for RPCs that write. An `invalid` request is malformed, so callers with rights get INVALID_ARGUMENT. A `blind`
   * request consists of only a name and would therefore succeed, so callers with rights send it only for resources that
   * do not exist.
   */
  writes?: 'invalid' | 'blind';
  /** True if consumers are allowed to read their own event groups by the name that starts with the data provider. */
  ofConsumers?: boolean;
}

const byName = (name: string) => ({ name });
const byParent = (parent: string) => ({ parent });
const batch = (parent: string, names: string[]) => ({ parent, names });
const invalid = 'invalid';
const MC = 'measurementConsumers/*';
const DP = 'dataProviders/*';
const COLLECTIONS = [MC, DP, 'duchies/*'];
const DESCRIPTORS = `${DP}/eventGroupMetadataDescriptors`;

const of = (row: RpcRow): RpcRow[] => [row];
const ofEach = (collections: string[], row: (collection: string) => RpcRow) => collections.map(row);

export const ROWS: Record<string, RpcRow[]> = {
  'Measurements/GetMeasurement': of({ binding: `GET ${MC}/measurements/*`, request: byName }),
  'Measurements/CreateMeasurement': of({
    binding: `POST ${MC}/measurements`,
    request: (parent) => ({ parent, measurement: {} }),
    writes: invalid,
  }),
  'Measurements/ListMeasurements': of({ binding: `GET ${MC}/measurements`, request: byParent }),
  'Measurements/BatchGetMeasurements': of({ binding: `POST ${MC}/measurements:batchGet`, request: batch }),
  'Measurements/BatchCreateMeasurements': of({
    binding: `POST ${MC}/measurements:batchCreate`,
    request: byParent,
    writes: invalid,
  }),
  'Measurements/CancelMeasurement': of({
    binding: `POST ${MC}/measurements/*:cancel`,
    request: byName,
    writes: 'blind',
  }),
  'Requisitions/GetRequisition': [
    { binding: `GET ${DP}/requisitions/*`, request: byName },
    { binding: `GET ${MC}/measurements/*/requisitions/*`, request: byName },
  ],
  'Requisitions/ListRequisitions': [
    { binding: `GET ${DP}/requisitions`, request: byParent },
    { binding: `GET ${MC}/measurements/*/requisitions`, request: byParent },
  ],
  'Requisitions/RefuseRequisition': of({
    binding: `POST ${DP}/requisitions/*:refuse`,
    request: byName,
    writes: invalid,
  }),
  'Requisitions/FulfillDirectRequisition': of({
    binding: `POST ${DP}/requisitions/*:fulfillDirect`,
    request: (name) => ({ name, certificate: 'none' }),
    writes: invalid,
  }),
  'Certificates/GetCertificate': ofEach(COLLECTIONS, (collection) => ({
    binding: `GET ${collection}/certificates/*`,
    request: byName,
  })),
  'Certificates/ListCertificates': ofEach(COLLECTIONS, (collection) => ({
    binding: `GET ${collection}/certificates`,
    request: byParent,
  })),
  'Certificates/CreateCertificate': ofEach(COLLECTIONS, (collection) => ({
    binding: `POST ${collection}/certificates`,
    request: byParent,
    writes: invalid,
  })),
  'Certificates/RevokeCertificate': ofEach(COLLECTIONS, (collection) => ({
    binding: `POST ${collection}/certificates/*:revoke`,
    request: byName,
    writes: invalid,
  })),
  'Certificates/ReleaseCertificateHold': ofEach(COLLECTIONS, (collection) => ({
    binding: `POST ${collection}/certificates/*:releaseHold`,
    request: byName,
    writes: 'blind',
  })),
  'EventGroups/GetEventGroup': [
    { binding: `GET ${DP}/eventGroups/*`, request: byName, ofConsumers: true },
    { binding: `GET ${MC}/eventGroups/*`, request: byName },
  ],
  'EventGroups/ListEventGroups': ofEach([MC, DP], (collection) => ({
    binding: `GET ${collection}/eventGroups`,
    request: byParent,
  })),
  'EventGroups/CreateEventGroup': of({
    binding: `POST ${DP}/eventGroups`,
    request: byParent,
    writes: invalid,
  }),
  'EventGroups/BatchCreateEventGroups': of({
    binding: `POST ${DP}/eventGroups:batchCreate`,
    request: byParent,
    writes: invalid,
  }),
  'EventGroups/UpdateEventGroup': of({
    binding: `PUT ${DP}/eventGroups/*`,
    request: (name) => ({ eventGroup: { name, measurementConsumer: 'nobody' } }),
    writes: invalid,
  }),
  'EventGroups/BatchUpdateEventGroups': of({
    binding: `POST ${DP}/eventGroups:batchUpdate`,
    request: byParent,
    writes: invalid,
  }),
  'EventGroups/DeleteEventGroup': of({
    binding: `DELETE ${DP}/eventGroups/*`,
    request: byName,
    writes: 'blind',
  }),
  'EventGroupMetadataDescriptors/GetEventGroupMetadataDescriptor': of({
    binding: `GET ${DESCRIPTORS}/*`,
    request: byName,
  }),
  'EventGroupMetadataDescriptors/ListEventGroupMetadataDescriptors': of({
    binding: `GET ${DESCRIPTORS}`,
    request: byParent,
  }),
  'EventGroupMetadataDescriptors/BatchGetEventGroupMetadataDescriptors': of({
    binding: `GET ${DESCRIPTORS}:batchGet`,
    request: batch,
  }),
  'EventGroupMetadataDescriptors/CreateEventGroupMetadataDescriptor': of({
    binding: `POST ${DESCRIPTORS}`,
    request: byParent,
    writes: invalid,
  }),
  'EventGroupMetadataDescriptors/UpdateEventGroupMetadataDescriptor': of({
    binding: `PATCH ${DESCRIPTORS}/*`,
    request: (name) => ({ eventGroupMetadataDescriptor: { name } }),
    writes: invalid,
  }),
  'DataProviders/GetDataProvider': of({ binding: `GET ${DP}`, request: byName }),
  'DataProviders/ReplaceDataAvailabilityInterval': of({
    binding: `PATCH ${DP}`,
    request: (name) => ({ name, dataAvailabilityInterval: { startTime: { nanos: -1 } } }),
    writes: invalid,
  }),
  'DataProviders/ReplaceDataAvailabilityIntervals': of({
    binding: `PATCH ${DP}`,
    request: (name) => ({ name, dataAvailabilityIntervals: [{}] }),
    writes: invalid,
  }),
  'DataProviders/ReplaceDataProviderCapabilities': of({
    binding: `PATCH ${DP}`,
    request: (name) => ({ name, capabilities: {} }),
    writes: 'blind',
  }),
  'MeasurementConsumers/GetMeasurementConsumer': of({ binding: `GET ${MC}`, request: byName }),
  'PublicKeys/UpdatePublicKey': ofEach([MC, DP], (collection) => ({
    binding: `PATCH ${collection}`,
    request: (name) => ({ publicKey: { name: `${name}/publicKey`, publicKey: {} } }),
    writes: invalid,
  })),
  'ApiKeys/CreateApiKey': of({ binding: `POST ${MC}/apiKeys`, request: byParent, writes: invalid }),
  'ApiKeys/DeleteApiKey': of({ binding: `DELETE ${MC}/apiKeys/*`, request: byName, writes: 'blind' }),
  'Populations/GetPopulation': of({ binding: 'GET populations/*', request: byName }),
  'Populations/ListPopulations': of({ binding: 'GET populations', request: () => ({}) }),
  'Populations/CreatePopulation': of({
    binding: 'POST populations',
    request: () => ({ population: { populationSpecRef: { case: 'populationSpec', value: {} } } }),
    writes: invalid,
  }),
  // Use the rights for populations, because a model line is only a label of a population.
  'ModelLines/ListModelLines': of({
    binding: 'GET populations',
    request: () => ({ parent: 'modelProviders/-/modelSuites/-' }),
  }),
};

/**
 * RPCs without their own row. Every caller that is allowed to list model lines and get data providers is also allowed
 * to use these RPCs.
 */
export const COVERED = ['ModelLines/GetModelLine', 'ModelLines/EnumerateValidModelLines'];

/** RPCs that the exchange does not serve for any caller. */
export const UNSERVED = [
  'DataProviders/ReplaceDataProviderRequiredDuchies',
  'MeasurementConsumers/CreateMeasurementConsumer',
  'MeasurementConsumers/AddMeasurementConsumerOwner',
  'MeasurementConsumers/RemoveMeasurementConsumerOwner',
  'ModelLines/CreateModelLine',
  'ModelLines/SetModelLineHoldbackModelLine',
  'ModelLines/SetModelLineActiveEndTime',
  'ModelLines/SetModelLineType',
];

const SERVICES = Object.values(rpc as Record<string, unknown>).filter(
  (one): one is DescService =>
    (one as DescService).kind === 'service' && (one as DescService).typeName.startsWith('wfa.'),
);

/** The RPCs of all services of the public API, except uploads, which go to duchies. */
export const METHODS = new Map<string, DescMethod>(
  SERVICES.filter(({ name }) => name !== 'RequisitionFulfillment').flatMap(({ name, methods }) =>
    methods.map((method) => [`${name}/${method.name}`, method]),
  ),
);
