import {
  ExchangeError,
  MAX_UINT64,
  matchRoute,
  type Operation,
  parseJson,
  ROUTES,
  type Route,
  readRequest,
} from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { type CallArguments, prepareCall } from './request.ts';

const OPERATIONS = Map.groupBy(ROUTES as readonly Route[], (route) => route.operation);

function prepare(operation: Operation, args: object) {
  return prepareCall(OPERATIONS.get(operation)!, args as CallArguments);
}

/** Reads the call as an exchange would. */
function asRead({ route, path, body }: ReturnType<typeof prepareCall>) {
  const [rawPath, query = ''] = path.split('?');
  const match = matchRoute(route.method, rawPath!);
  expect(match.route).toBe(route);
  return readRequest(route, match.params, query, body === undefined ? undefined : parseJson(body));
}

/** Returns the violations for which the client rejects a call without sending it, as `field: description`. */
function refusal(operation: Operation, args: object): string[] {
  try {
    prepare(operation, args);
  } catch (error) {
    const { code, violations } = error as ExchangeError;
    expect(error).toBeInstanceOf(ExchangeError);
    expect(code).toBe('INVALID_ARGUMENT');
    return violations.map(({ field, description }) => `${field}: ${description}`);
  }
  return [];
}

const requisition = 'dataProviders/p/requisitions/r';
const fulfillment = {
  encryptedResult: { ciphertext: Uint8Array.of(255, 254, 253), typeUrl: 't' },
  nonce: MAX_UINT64,
  certificate: 'dataProviders/p/certificates/c',
  etag: 'e"1',
};
const measurement = {
  measurementConsumerCertificate: 'measurementConsumers/a/certificates/c',
  measurementSpec: { message: Uint8Array.of(1), signature: Uint8Array.of(2) },
  dataProviders: {
    'dataProviders/p': {
      dataProviderCertificate: 'dataProviders/p/certificates/c',
      dataProviderPublicKey: { '@type': 't', data: Uint8Array.of(3) },
      encryptedRequisitionSpec: { ciphertext: Uint8Array.of(4), typeUrl: 't' },
      nonceHash: new Uint8Array(32),
    },
  },
};

describe('the path arguments', () => {
  it.each([
    ['getRequisition', { name: 'measurementConsumers/a/measurements/m' }],
    ['getRequisition', { name: 'dataProviders/p/requisitions/..' }],
    ['getRequisition', { name: 'dataProviders/p/requisitions/r?x=1' }],
    ['getRequisition', { name: 'dataProviders/p/requisitions/r%2Fx' }],
    ['getRequisition', { name: '' }],
    ['getRequisition', { name: 7 }],
    ['getRequisition', {}],
    ['getRequisition', { parent: 'dataProviders/p' }],
    ['listRequisitions', { parent: 'dataProviders/p/requisitions' }],
    ['listRequisitions', { parent: 'measurementConsumers/a' }],
    ['listParties', {}],
    ['listParties', { collection: 'principals' }],
  ] as [Operation, object][])('of %s must match its path: %j', (operation, args) => {
    expect(refusal(operation, args)).toEqual([
      expect.stringMatching(/^(name|parent|collection): must match/),
    ]);
  });

  it('are named in the error with their value and the expected pattern', () => {
    expect(() => prepare('getRequisition', { name: 'dataProviders/p' })).toThrow(
      'getRequisition: name is "dataProviders/p" and must be dataProviders/{dataProvider}/requisitions/{requisition}',
    );
    expect(() => prepare('listCertificates', {})).toThrow(/^listCertificates: parent is missing and must be/);
  });
});

describe('a request', () => {
  it('preserves bytes, a 64-bit nonce, and lists and times in the query', () => {
    const request = asRead(prepare('fulfillDirectRequisition', { name: requisition, body: fulfillment }));
    expect(request.body).toMatchObject({ nonce: MAX_UINT64, etag: 'e"1' });
    expect((request.body as typeof fulfillment).encryptedResult.ciphertext).toEqual(Buffer.of(255, 254, 253));
    const list = asRead(
      prepare('listCertificates', {
        parent: 'duchies/d',
        pageSize: 7,
        'filter.subjectKeyIdentifiers': [Uint8Array.of(251, 255), Uint8Array.of(1)],
      }),
    );
    expect(list.query).toEqual({
      pageSize: 7,
      'filter.subjectKeyIdentifiers': [Buffer.of(251, 255), Buffer.of(1)],
    });
    const filter = {
      'filter.states': ['UNFULFILLED', 'REFUSED'],
      'filter.updatedAfter': '2026-01-01T00:00:00+01:00',
      pageToken: 'a+b&c=d/é',
    };
    expect(asRead(prepare('listRequisitions', { parent: 'dataProviders/p', ...filter })).query).toEqual({
      ...filter,
      'filter.updatedAfter': '2025-12-31T23:00:00.000000Z',
    });
  });

  it('omits output-only fields of a resource that was read', () => {
    const group = { measurementConsumer: 'measurementConsumers/a', eventGroupReferenceId: 'ref' };
    const received = { ...group, name: 'dataProviders/p/eventGroups/g', state: 'ACTIVE', updateTime: 'x' };
    const { body } = prepare('updateEventGroup', { name: received.name, body: received });
    expect(JSON.parse(body!)).toEqual(group);
    const { body: batch } = prepare('batchUpdateEventGroups', {
      parent: 'dataProviders/p',
      body: { requests: [{ eventGroup: received }] },
    });
    expect(JSON.parse(batch!).requests).toEqual([{ eventGroup: { ...group, name: received.name } }]);
  });

  it('preserves every digit of numbers in free-form JSON', () => {
    const descriptorSet = parseJson('{"file":[{"name":"a","x":1.50,"y":18446744073709551615}]}');
    const { body } = prepare('diffEventGroupMetadataDescriptor', {
      name: 'dataProviders/p/eventGroupMetadataDescriptors/d',
      body: { descriptorSet },
    });
    expect(body).toBe('{"descriptorSet":{"file":[{"name":"a","x":1.50,"y":18446744073709551615}]}}');
  });

  it.each([
    ['listRequisitions', { parent: 'dataProviders/p', 'filter.state': ['UNFULFILLED'] }, 'filter.state'],
    ['getMeasurement', { name: 'measurementConsumers/a/measurements/m', body: {} }, 'body'],
    ['fulfillDirectRequisition', { name: requisition }, 'body'],
    ['fulfillDirectRequisition', { name: requisition, body: 'x' }, 'body'],
    ['fulfillDirectRequisition', { name: requisition, body: { ...fulfillment, etags: 'x' } }, 'body.etags'],
    [
      'createMeasurement',
      {
        parent: 'measurementConsumers/a',
        body: { ...measurement, measurementSpec: { ...measurement.measurementSpec, algorithm: 'x' } },
      },
      'body.measurementSpec.algorithm',
    ],
    [
      'createMeasurement',
      {
        parent: 'measurementConsumers/a',
        body: { ...measurement, dataProviders: { 'dataProviders/p': { x: 1 } } },
      },
      'body.dataProviders[dataProviders/p].x',
    ],
    [
      'fulfillDirectRequisition',
      { name: requisition, body: { ...fulfillment, encryptedResult: { ciphertext: null, typeUrl: 't' } } },
      'body',
    ],
  ] as [Operation, object, string][])(
    'of %s is rejected by the client for an invalid argument',
    (operation, args, field) => {
      expect(refusal(operation, args).map((r) => r.split(':')[0])).toEqual([field]);
    },
  );
});

describe('a retry', () => {
  it('is allowed for reads, for creates with a requestId and for changes with an etag', () => {
    const retryable = [...OPERATIONS.keys()].filter((operation) => {
      const route = OPERATIONS.get(operation)![0]!;
      const filled = route.path.replace(/\{\w+\}/g, 'x');
      return prepareCall([route], {
        name: filled,
        parent: filled.replace(/\/\w+$/, ''),
        ...(route.body && { body: {} }),
      }).retryable;
    });
    const changes = retryable.filter((o) => !/^(list|get|batchGet|explain|watch|whoAmI|decode|diff)/.test(o));
    expect(changes.sort()).toEqual([
      'batchCreateEventGroups',
      'batchCreateMeasurements',
      'confirmComputation',
      'createEventGroup',
      'createEventGroupMetadataDescriptor',
      'createMeasurement',
      'createReport',
      'failComputation',
      'fulfillComputationRequisition',
      'fulfillDirectRequisition',
      'refuseRequisition',
      'setComputationParameters',
      'setComputationResult',
      'updateReport',
    ]);
    const reads = [...OPERATIONS.values()].filter(([route]) => !route!.mutates);
    expect(retryable).toHaveLength(reads.length + changes.length);
  });

  it('is allowed for dry runs', () => {
    const cancel = { name: 'measurementConsumers/a/measurements/m' };
    expect(prepare('cancelMeasurement', cancel).retryable).toBe(false);
    expect(prepare('cancelMeasurement', { ...cancel, validateOnly: true }).retryable).toBe(true);
    expect(prepare('cancelMeasurement', { ...cancel, validateOnly: false }).retryable).toBe(false);
  });

  it('is safe because every create has a requestId, which is generated if it is missing', () => {
    const create = () =>
      asRead(prepare('createMeasurement', { parent: 'measurementConsumers/a', body: measurement }));
    const ids = [create().requestId, create().requestId];
    expect(ids[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(ids[1]).not.toBe(ids[0]);
    const own = { parent: 'measurementConsumers/a', body: measurement, requestId: 'mine' };
    expect(asRead(prepare('createMeasurement', own)).requestId).toBe('mine');
    const eventGroup = { measurementConsumer: 'measurementConsumers/a' };
    const { body } = asRead(
      prepare('batchCreateEventGroups', {
        parent: 'dataProviders/p',
        body: {
          requests: [{ eventGroup }, { eventGroup, requestId: 'mine' }, { eventGroup, requestId: undefined }],
        },
      }),
    );
    const parts = (body as { requests: { requestId: string }[] }).requests.map((part) => part.requestId);
    expect(parts).toEqual([expect.stringMatching(/^\w{32}$/), 'mine', expect.stringMatching(/^\w{32}$/)]);
  });
});
