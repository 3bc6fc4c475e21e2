import Schema from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { Measurement } from '../codecs/measurement.ts';
import { Requisition } from '../codecs/requisition.ts';
import { ExchangeError, invalid } from '../errors/errors.ts';
import { REASONS, type Reason } from '../errors/reasons.ts';
import { toJson } from '../json/writer.ts';
import { errorsOf } from '../requests/errors.ts';
import type { Route } from '../routes/route.ts';
import { API_PREFIX, ROUTES } from '../routes.ts';
import { parseName } from '../values/names.ts';
import { openApiDocument } from './document.ts';
import type { JsonSchema, OpenApiReference, OpenApiResponse } from './types.ts';

const document = openApiDocument({ version: '1.2.3' });
const { schemas } = document.components;
const routes = ROUTES as readonly Route[];
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

function operationOf(route: Route) {
  const path = `${API_PREFIX}/${route.path}${route.verb ? `:${route.verb}` : ''}`;
  return document.paths[path]?.[route.method.toLowerCase()];
}

/** Yields a schema and every schema inside it. */
function* nested(schema: JsonSchema): Generator<JsonSchema> {
  yield schema;
  const { items, propertyNames, additionalProperties, properties = {}, allOf = [], oneOf = [] } = schema;
  const members = [...Object.values(properties), ...allOf, ...oneOf];
  const inner = [items, propertyNames, additionalProperties, ...members];
  for (const one of inner) if (one) yield* nested(one);
}

/** Returns the schema of a response, whether the response is inline or referenced. */
function schemaOf(response: OpenApiResponse | OpenApiReference): JsonSchema {
  const { content } =
    '$ref' in response ? document.components.responses[response.$ref.split('/').at(-1)!]! : response;
  return Object.values(content)[0]!.schema;
}

const allSchemas = [
  ...Object.values(schemas),
  ...operations.flatMap(({ parameters, requestBody, responses }) => [
    ...parameters.map((parameter) => parameter.schema),
    ...(requestBody ? [requestBody.content['application/json'].schema] : []),
    ...Object.values(responses).map(schemaOf),
  ]),
].flatMap((schema) => [...nested(schema)]);

function accepts(schema: string | JsonSchema, value: unknown): boolean {
  const root = typeof schema === 'string' ? { $ref: `#/components/schemas/${schema}` } : schema;
  return Schema.Check({ ...root, components: { schemas } } as object, JSON.parse(JSON.stringify(value)));
}

describe('the operations', () => {
  it('match the routes one to one', () => {
    expect(operations).toHaveLength(routes.length);
    for (const route of routes) expect(operationOf(route)?.summary).toBe(route.summary);
  });

  it('have unique IDs that begin with the name of the operation', () => {
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(routes.length);
    for (const route of routes)
      expect(operationOf(route)!.operationId).toMatch(new RegExp(`^${route.operation}`));
  });

  it('have a validateOnly parameter if and only if they are mutations', () => {
    for (const route of routes) {
      const names = operationOf(route)!.parameters.map(({ name }) => name);
      expect(names.includes('validateOnly'), route.operation).toBe(route.mutates ?? false);
    }
  });

  it('describe their callers', () => {
    expect(document.paths[`${API_PREFIX}/dataProviders/{dataProvider}/requisitions`]!.get!.description).toBe(
      'Callers: data providers (only under their own name).',
    );
  });

  it('declare exactly the IDs of their paths, and describe every parameter', () => {
    for (const { path, parameters } of operations) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`);
      expect(inPath).toEqual(path.match(/\{\w+\}/g) ?? []);
      for (const { name, description } of parameters) expect(description, name).toMatch(/^.+\.$/);
    }
  });

  it('accept list parameters as repeated parameters', () => {
    const lists = operations.flatMap(({ parameters }) => parameters).filter(({ schema }) => schema.items);
    expect(lists.map(({ name }) => name)).toContain('filter.states');
    for (const list of lists) expect(list).toMatchObject({ style: 'form', explode: true });
  });

  it('require a body only if it has a required field', () => {
    const required = (name: string) =>
      operations.find(({ operationId }) => operationId === name)!.requestBody!.required;
    expect([required('cancelMeasurement'), required('refuseRequisition')]).toEqual([false, true]);
  });
});

describe('the errors of an operation', () => {
  it('are exactly those of its route, each under its HTTP status', () => {
    for (const route of routes) {
      const { 200: _ok, ...responses } = operationOf(route)!.responses;
      const wanted = Map.groupBy(errorsOf(route), ({ httpStatus }) => String(httpStatus));
      expect(Object.keys(responses).sort(), route.operation).toEqual([...wanted.keys()].sort());
      for (const [status, errors] of wanted) {
        const narrowed = [...nested(schemaOf(responses[status]!))].flatMap(({ properties = {} }) =>
          ['reason', 'status', 'code'].flatMap(
            (name) => properties[name]?.enum ?? properties[name]?.const ?? [],
          ),
        );
        const codes = new Set(errors.map(({ code }) => code));
        const reasons = errors.map(({ reason }) => reason);
        expect(narrowed, route.operation).toEqual([...codes, Number(status), ...reasons]);
      }
    }
  });

  it('match the response schema of their status, and other errors do not', () => {
    const route = routes.find(({ operation }) => operation === 'fulfillDirectRequisition')!;
    const schema = schemaOf(operationOf(route)!.responses[400]!);
    for (const reason of Object.keys(REASONS) as Reason[]) {
      const [error] = errorsOf(route).filter((one) => one.reason === reason && one.httpStatus === 400);
      const body = new ExchangeError(reason, 'No.', error && { code: error.code });
      expect(accepts(schema, body), reason).toBe(error !== undefined);
    }
  });

  it('have no shared response without a reference', () => {
    const references = operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap((response) => ('$ref' in response ? [response.$ref] : [])),
    );
    expect([...new Set(references)].sort()).toEqual(
      Object.keys(document.components.responses).map((name) => `#/components/responses/${name}`),
    );
  });

  it('are explained in the description of the response', () => {
    const path = `${API_PREFIX}/measurementConsumers/{measurementConsumer}/measurements:batchGet`;
    expect(document.paths[path]!.post!.responses[429]).toMatchObject({
      description: expect.stringMatching(
        /^- `RATE_LIMITED`: Too many .*\n- `RESPONSE_TOO_LARGE`: The response /,
      ),
      headers: { 'retry-after': { $ref: '#/components/headers/retry-after' } },
    });
  });
});

describe('the schemas', () => {
  it('are all referenced, and every reference exists', () => {
    const references = new Set(allSchemas.map(({ $ref }) => $ref).filter((ref) => ref !== undefined));
    expect([...references].sort()).toEqual(
      Object.keys(schemas).map((name) => `#/components/schemas/${name}`),
    );
  });

  it('have only standard keywords and formats', () => {
    const keywords =
      '$ref title description type format contentEncoding pattern const enum examples default minimum minLength ' +
      'maxLength minItems maxItems minProperties items properties required propertyNames additionalProperties ' +
      'allOf oneOf readOnly maximum exclusiveMinimum';
    const used = new Set(allSchemas.flatMap((schema) => Object.keys(schema)));
    expect([...used].filter((keyword) => !keywords.split(' ').includes(keyword))).toEqual([]);
    const formats = new Set(allSchemas.map(({ format }) => format));
    expect([...formats].sort()).toEqual(['date-time', 'uint64', undefined]);
  });

  it('are shared by reference if they occur repeatedly', () => {
    expect(schemas.Measurement!.properties!.measurementSpec).toEqual({
      $ref: '#/components/schemas/SignedMessage',
    });
    expect(schemas.Measurement!.properties!.dataProviders!.additionalProperties).toEqual({
      $ref: '#/components/schemas/DataProviderEntry',
    });
    expect(schemas.Requisition!.properties!.refusal).toEqual({ $ref: '#/components/schemas/Refusal' });
  });

  it('accept the same requisition names as parseName', () => {
    const pattern = new RegExp(schemas.Requisition!.properties!.name!.pattern!);
    for (const name of [
      'dataProviders/a/requisitions/b',
      'dataProviders/a/requisitions/b/c',
      'dataProviders/a.b',
    ]) {
      expect(pattern.test(name), name).toBe(parseName('requisition', name) !== undefined);
    }
    expect(pattern.test('measurementConsumers/a/measurements/b/requisitions/c')).toBe(true);
  });
});

describe('JSON from the exchange', () => {
  const bytes = Uint8Array.of(1, 2, 3);
  const signed = { message: bytes, signature: bytes };
  const key = { '@type': 'type', data: bytes };
  const requisition = {
    name: 'dataProviders/a/requisitions/b',
    state: 'FULFILLED',
    measurement: 'measurementConsumers/a/measurements/b',
    measurementState: 'SUCCEEDED',
    measurementConsumerCertificate: 'measurementConsumers/a/certificates/c',
    measurementSpec: signed,
    dataProvider: 'dataProviders/a',
    dataProviderCertificate: 'dataProviders/a/certificates/c',
    dataProviderPublicKey: key,
    encryptedRequisitionSpec: { ciphertext: bytes, typeUrl: 'type' },
    nonceHash: new Uint8Array(32),
    nonce: 2n ** 64n - 1n,
    protocolConfig: { direct: {} },
    duchies: { 'duchies/d': { duchyCertificate: 'duchies/d/certificates/c' } },
  } satisfies Requisition;

  it('matches its schema', () => {
    expect(accepts('Requisition', JSON.parse(toJson(Requisition, requisition)))).toBe(true);
    const { dataProviderCertificate, dataProviderPublicKey, encryptedRequisitionSpec, nonceHash } =
      requisition;
    const entry = { dataProviderCertificate, dataProviderPublicKey, encryptedRequisitionSpec, nonceHash };
    const measurement: Measurement = {
      name: requisition.measurement,
      state: 'SUCCEEDED',
      measurementConsumerCertificate: requisition.measurementConsumerCertificate,
      measurementSpec: signed,
      dataProviders: { 'dataProviders/a': entry },
      protocolConfig: { measurementType: 'REACH', direct: {} },
      createTime: '2030-01-01T00:00:00.000000Z',
      results: [{ certificate: dataProviderCertificate, encryptedResult: encryptedRequisitionSpec }],
    };
    expect(accepts('Measurement', JSON.parse(toJson(Measurement, measurement)))).toBe(true);
    expect(accepts('MeasurementInput', JSON.parse(toJson(Measurement, measurement)))).toBe(true);
    expect(accepts('MeasurementInput', JSON.parse(toJson(Requisition, requisition)))).toBe(false);
  });

  it('does not match its schema if a map has a key of another kind', () => {
    const duchies = { 'dataProviders/d': { duchyCertificate: 'duchies/d/certificates/c' } };
    expect(accepts('Requisition', JSON.parse(toJson(Requisition, { ...requisition, duchies })))).toBe(false);
  });

  it('matches the response schema if it is an error', () => {
    const { responses } = operationOf(routes.find(({ operation }) => operation === 'refuseRequisition')!)!;
    const [invalidSchema, limited] = [schemaOf(responses[400]!), schemaOf(responses[429]!)];
    expect(accepts(invalidSchema, invalid([{ field: 'etag', description: 'is required' }]))).toBe(true);
    const error = new ExchangeError('RATE_LIMITED', 'Slow down.', { retryAfterSeconds: 2 });
    expect(accepts(limited, error)).toBe(true);
    expect(accepts(limited, { error: { code: 429, status: 'BAD', message: '', details: [] } })).toBe(false);
  });
});
