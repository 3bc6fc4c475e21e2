import { describe, expect, it } from 'vitest';
import { MeasurementInput } from '../codecs/measurement.ts';
import { ExchangeError, type Violation } from '../errors/errors.ts';
import { parseJson } from '../json/json.ts';
import { canonicalJson } from '../json/writer.ts';
import type { Route } from '../routes/route.ts';
import { ROUTES } from '../routes.ts';
import { readRequest } from './request.ts';

const route = (operation: string): Route =>
  (ROUTES as readonly Route[]).find((r) => r.operation === operation)!;
const PARAMS = {
  measurementConsumer: 'a',
  measurement: 'm',
  dataProvider: 'p',
  requisition: 'r',
  eventGroupMetadataDescriptor: 'd',
};

// biome-ignore lint/suspicious/noExplicitAny: the tests read any member of a request
function read(operation: string, query: string, body?: unknown): any {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  return readRequest(route(operation), PARAMS, query, text === undefined ? undefined : parseJson(text));
}

function violations(run: () => unknown): Violation[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ExchangeError && error.code === 'INVALID_ARGUMENT') return error.violations;
    throw error;
  }
  return [];
}
const fields = (run: () => unknown) => violations(run).map((v) => v.field);

const HASH = Buffer.alloc(32, 7).toString('base64');
const measurement = () => ({
  measurementConsumerCertificate: 'measurementConsumers/a/certificates/c',
  measurementSpec: { message: 'AQ==', signature: 'Ag==' },
  dataProviders: {
    'dataProviders/p': {
      dataProviderCertificate: 'dataProviders/p/certificates/c',
      dataProviderPublicKey: { '@type': 't', data: 'Aw==' },
      encryptedRequisitionSpec: { ciphertext: 'BA==', typeUrl: 't' },
      nonceHash: HASH,
    },
  },
});
const fulfil = (nonce: string) =>
  `{"encryptedResult":{"ciphertext":"AQ==","typeUrl":"t"},"nonce":${nonce},"certificate":"dataProviders/p/certificates/c","etag":"e"}`;

describe('a create body', () => {
  it('has the same content flat or wrapped, in camelCase or snake_case', () => {
    const flat = read('createMeasurement', '', { ...measurement(), requestId: 'q' });
    const wrapped = read('createMeasurement', '', { measurement: measurement(), request_id: 'q' });
    const { measurementSpec, measurementConsumerCertificate, dataProviders } = measurement();
    const snake = read('createMeasurement', 'request_id=q', {
      data_providers: dataProviders,
      measurement_spec: measurementSpec,
      measurement_consumer_certificate: measurementConsumerCertificate,
    });
    expect(wrapped).toMatchObject({ body: flat.body, requestId: 'q' });
    expect(snake).toMatchObject({ body: flat.body, requestId: 'q' });
    const texts = [flat, wrapped, snake].map((r) => canonicalJson(MeasurementInput, r.body));
    expect(new Set(texts).size).toBe(1);
  });

  it('may have output-only fields, which are ignored, and a parent only if it equals the path', () => {
    const body = {
      ...measurement(),
      name: 'anything',
      state: 'SUCCEEDED',
      create_time: 7,
      results: 'x',
      parent: 'measurementConsumers/a',
    };
    expect(read('createMeasurement', '', body).body).toEqual(
      read('createMeasurement', '', measurement()).body,
    );
    expect(
      fields(() => read('createMeasurement', '', { ...measurement(), parent: 'measurementConsumers/b' })),
    ).toEqual(['parent']);
  });

  it('is rejected with all invalid fields, in the spelling and wrapper of the caller', () => {
    const bad = measurement() as Record<string, unknown>;
    bad.measurement_spec = { message: '*', signature: 3, extra: 1 };
    delete bad.measurementSpec;
    delete bad.measurementConsumerCertificate;
    expect(fields(() => read('createMeasurement', '', { measurement: bad }))).toEqual([
      'measurement.measurement_spec.message',
      'measurement.measurement_spec.signature',
      'measurement.measurement_spec.extra',
      'measurement.measurementConsumerCertificate',
    ]);
  });

  it('is rejected if it has two spellings of a field, two request IDs, or a field beside the wrapper', () => {
    const both = { ...measurement(), measurement_reference_id: 'a', measurementReferenceId: 'b' };
    expect(fields(() => read('createMeasurement', '', both))).toEqual(['measurement_reference_id']);
    expect(
      fields(() => read('createMeasurement', 'requestId=a', { ...measurement(), requestId: 'b' })),
    ).toEqual(['requestId']);
    expect(fields(() => read('createMeasurement', '', { measurement: measurement(), typo: 1 }))).toEqual([
      'typo',
    ]);
  });

  it.each([[null], [[]], ['"text"'], ['3']])('is rejected if it is %j', (body) => {
    expect(violations(() => read('createMeasurement', '', body)).length).toBeGreaterThan(0);
  });

  it('is rejected if a text field is a number, or requestId is empty or too long', () => {
    expect(
      fields(() => read('createMeasurement', '', { ...measurement(), measurementReferenceId: 3 })),
    ).toEqual(['measurementReferenceId']);
    expect(fields(() => read('createMeasurement', '', { ...measurement(), requestId: 3 }))).toEqual([
      'requestId',
    ]);
    expect(fields(() => read('createMeasurement', '', { ...measurement(), requestId: '' }))).toEqual([
      'requestId',
    ]);
    expect(
      fields(() => read('createMeasurement', '', { ...measurement(), requestId: 'x'.repeat(256) })),
    ).toEqual(['requestId']);
  });

  it('is rejected if a name does not match its pattern, or there is no data provider', () => {
    const bad = measurement();
    bad.measurementConsumerCertificate = 'measurementConsumers/a/certificates/c/d';
    // @ts-expect-error the map gets an extra entry with a malformed name
    bad.dataProviders['dataProviders/..'] = bad.dataProviders['dataProviders/p'];
    expect(fields(() => read('createMeasurement', '', bad))).toEqual([
      'measurementConsumerCertificate',
      'dataProviders[dataProviders/..]',
    ]);
    expect(fields(() => read('createMeasurement', '', { ...measurement(), dataProviders: {} }))).toEqual([
      'dataProviders',
    ]);
  });

  it('may have a nonceHash of 32 bytes in base64 or 64 hexadecimal digits only', () => {
    const withHash = (nonceHash: string) => {
      const body = measurement();
      body.dataProviders['dataProviders/p'].nonceHash = nonceHash;
      return body;
    };
    const hex = read('createMeasurement', '', withHash('07'.repeat(32))).body.dataProviders[
      'dataProviders/p'
    ];
    expect(Buffer.from(hex.nonceHash)).toEqual(Buffer.alloc(32, 7));
    for (const bad of ['07'.repeat(31), 'zz'.repeat(32), Buffer.alloc(31).toString('base64'), '']) {
      expect(fields(() => read('createMeasurement', '', withHash(bad)))).toEqual([
        'dataProviders[dataProviders/p].nonceHash',
      ]);
    }
  });

  it('keeps the format of a public key and the nonce beside a ciphertext', () => {
    const body = measurement() as {
      dataProviders: Record<string, { dataProviderPublicKey: object; encryptedRequisitionSpec: object }>;
    };
    Object.assign(body.dataProviders['dataProviders/p']!.dataProviderPublicKey, { format: 'TINK_KEYSET' });
    Object.assign(body.dataProviders['dataProviders/p']!.encryptedRequisitionSpec, {
      nonce: '18446744073709551615',
    });
    const entry = read('createMeasurement', '', body).body.dataProviders['dataProviders/p'];
    expect(entry.dataProviderPublicKey.format).toBe('TINK_KEYSET');
    expect(entry.encryptedRequisitionSpec.nonce).toBe(18446744073709551615n);
  });
});

describe('an update body', () => {
  it('is rejected if its name differs from the path or a required field is missing', () => {
    const name = 'dataProviders/p/eventGroupMetadataDescriptors/d';
    expect(read('updateEventGroupMetadataDescriptor', '', { name, descriptorSet: {} }).body).toEqual({
      descriptorSet: {},
    });
    const wrapped = { eventGroupMetadataDescriptor: { name: `${name}x`, descriptorSet: {} } };
    expect(fields(() => read('updateEventGroupMetadataDescriptor', '', wrapped))).toEqual([
      'eventGroupMetadataDescriptor.name',
    ]);
    expect(fields(() => read('updateEventGroupMetadataDescriptor', '', { name }))).toEqual(['descriptorSet']);
  });
});

describe('the nonce', () => {
  it.each([
    '0',
    '1',
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '9223372036854775808',
    '18446744073709551615',
  ])('%s is exact as a number and as a string', (text) => {
    expect(read('fulfillDirectRequisition', '', fulfil(text)).body.nonce).toBe(BigInt(text));
    expect(read('fulfillDirectRequisition', '', fulfil(`"${text}"`)).body.nonce).toBe(BigInt(text));
  });

  it.each([
    '-1',
    '1.0',
    '1e3',
    '18446744073709551616',
    '"18446744073709551616"',
    '"-1"',
    '"1.0"',
    '"0x1"',
    '" 1"',
    '"01"',
    '""',
    'true',
    'null',
    '[]',
  ])('rejects %s', (text) => {
    expect(fields(() => read('fulfillDirectRequisition', '', fulfil(text)))).toEqual(['nonce']);
  });
});

describe('the query', () => {
  it.each([
    ['', undefined],
    ['pageSize=0', 50],
    ['pageSize=', undefined],
    ['page_size=7', 7],
    ['pageSize=1000', 1000],
    ['pageSize=1001', 1000],
    [`pageSize=${'9'.repeat(99)}`, 1000],
  ])('%s requests a page size of %s', (query, size) => {
    expect(read('listMeasurements', query).query.pageSize).toBe(size);
  });

  it.each([
    'pageSize=-1',
    'pageSize=1.5',
    'pageSize=1e3',
    'pageSize=x',
    'pageSize=%201',
    'pageSize=1&pageSize=2',
    'pageSize=1&page_size=2',
  ])('rejects %s', (query) => {
    expect(fields(() => read('listMeasurements', query)).length).toBe(1);
  });

  it('reads repeated filters and timestamps with any offset', () => {
    const { query } = read(
      'listMeasurements',
      'filter.states=FAILED&filter.states=CANCELLED&filter.updated_after=2026-01-01T00:00:00+01:00',
    );
    expect(query['filter.states']).toEqual(['FAILED', 'CANCELLED']);
    expect(query['filter.updatedAfter']).toBe('2025-12-31T23:00:00.000000Z');
  });

  it.each([
    'filter.states=failed',
    'filter.states=',
    'filter.createdAfter=yesterday',
    'filter.createdAfter=',
    'filter.state=FAILED',
    'validateOnly=true',
    'x=%zz',
    'a%00=1',
  ])('rejects %s on a list', (query) => {
    expect(fields(() => read('listMeasurements', query)).length).toBe(1);
  });

  it('accepts validateOnly=true only for mutations, and validateOnly=yes never', () => {
    for (const row of ROUTES as readonly Route[]) {
      const accepts = (value: string) =>
        !fields(() => readRequest(row, PARAMS, `validateOnly=${value}`, undefined)).includes('validateOnly');
      expect(accepts('true')).toBe(row.mutates === true);
      expect(accepts('yes')).toBe(false);
    }
  });
});
