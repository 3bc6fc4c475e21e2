import {
  type DevParty,
  measurementRequest,
  type Reply,
  reachSpec,
  type TestExchange,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import {
  castOf,
  createMeasurement,
  errorOf,
  fulfill,
  get,
  lineOf,
  metadata,
  ok,
  post,
  requisitionOf,
  signed,
  stored,
} from '@measurement-exchange/testkit/steps';
import { describe, expect, it } from 'vitest';
import { FINDING_CODES } from '../../src/domain/findings.ts';

const UNKNOWN_TYPE = 'type.example/unknown';

let files = 0;
/** Returns a file with two messages that no provider has registered yet. */
const file = () => {
  const name = `f${++files}`;
  const messageType = [{ name: `M${files}` }, { name: `N${files}` }];
  return { name: `${name}.proto`, package: name, messageType };
};
const fileWithoutPackage = () => {
  const { package: _, ...rest } = file();
  return rest;
};

/**
 * A request that must cause a finding: the expected code and fields of the finding, and the call that sends the
 * request.
 */
interface Fault {
  title: string;
  code: keyof typeof FINDING_CODES;
  fields: string[];
  call: (exchange: TestExchange) => Promise<Reply>;
}

function fault(title: string, code: Fault['code'], fields: string[], call: Fault['call']): Fault {
  return { title, code, fields, call };
}

/** Returns a function that creates a measurement with this spec for one provider. */
const withSpec = (spec: (acme: DevParty) => Uint8Array | object) => (exchange: TestExchange) => {
  const { acme, streamly } = castOf(exchange);
  const given = spec(acme);
  const bytes = given instanceof Uint8Array ? given : Buffer.from(JSON.stringify(given));
  const request = { ...measurementRequest(acme, [streamly]), measurementSpec: signed(acme, bytes) };
  return post(exchange, acme, `${acme.name}/measurements`, request);
};

const reach = (epsilon: number, delta: number, start: number, width: number) => (acme: DevParty) => ({
  measurementPublicKey: acme.encryptionPublicKey,
  vidSamplingInterval: { start, width },
  reach: { privacyParams: { epsilon, delta } },
});

const IN_SPEC = 'measurementSpec.message';
const FAULTS: Fault[] = [
  fault(
    'a spec that is not a MeasurementSpec',
    'SPEC_UNDECODABLE',
    [IN_SPEC],
    withSpec(() => Buffer.from('?')),
  ),
  fault(
    'a spec in broken JSON',
    'SPEC_UNDECODABLE',
    [IN_SPEC],
    withSpec(() => Buffer.from('{"reach"')),
  ),
  fault(
    'a spec without a measurement type',
    'SPEC_UNDECODABLE',
    [IN_SPEC],
    withSpec(() => ({})),
  ),
  fault(
    'an epsilon of 0, in protobuf',
    'SPEC_PARAMETER_INVALID',
    [`${IN_SPEC}.reach.privacyParams.epsilon`],
    withSpec((acme) => reachSpec(acme.encryptionPublicKey, [1n], 0)),
  ),
  fault(
    'an epsilon below 0 and a delta below 0, in JSON',
    'SPEC_PARAMETER_INVALID',
    [`${IN_SPEC}.reach.privacyParams.epsilon`, `${IN_SPEC}.reach.privacyParams.delta`],
    withSpec(reach(-1, -1, 0, 1)),
  ),
  fault(
    'a sampling width of 0',
    'SPEC_PARAMETER_INVALID',
    [`${IN_SPEC}.vidSamplingInterval.width`],
    withSpec(reach(1, 0, 0, 0)),
  ),
  fault(
    'a sampling width above 1',
    'SPEC_PARAMETER_INVALID',
    [`${IN_SPEC}.vidSamplingInterval.width`, `${IN_SPEC}.vidSamplingInterval`],
    withSpec(reach(1, 0, 0, 1.5)),
  ),
  fault(
    'a spec without a public key',
    'SPEC_PARAMETER_INVALID',
    [`${IN_SPEC}.measurementPublicKey`],
    withSpec((acme) => ({ ...reach(1, 0, 0, 1)(acme), measurementPublicKey: '' })),
  ),
  fault(
    'unknown types in an entry',
    'TYPE_URL_UNKNOWN',
    [
      'dataProviders[dataProviders/streamly].dataProviderPublicKey.@type',
      'dataProviders[dataProviders/streamly].encryptedRequisitionSpec.typeUrl',
    ],
    (exchange) => {
      const { acme, streamly } = castOf(exchange);
      const request = measurementRequest(acme, [streamly]);
      const entry = request.dataProviders[streamly.name]!;
      entry.dataProviderPublicKey['@type'] = UNKNOWN_TYPE;
      entry.encryptedRequisitionSpec.typeUrl = UNKNOWN_TYPE;
      return post(exchange, acme, `${acme.name}/measurements`, request);
    },
  ),
  fault('a result of an unknown type', 'TYPE_URL_UNKNOWN', ['encryptedResult.typeUrl'], async (exchange) => {
    const { acme, streamly } = castOf(exchange);
    const requisition = await requisitionOf(
      exchange,
      streamly,
      await createMeasurement(exchange, acme, [streamly]),
    );
    const encryptedResult = { ciphertext: 'AQ==', typeUrl: UNKNOWN_TYPE };
    return fulfill(exchange, streamly, requisition, 1n, { encryptedResult });
  }),
  fault(
    'a new descriptor with messages that have no package',
    'METADATA_WITHOUT_PACKAGE',
    ['descriptorSet', 'descriptorSet'],
    (exchange) => {
      const { streamly } = castOf(exchange);
      const body = { descriptorSet: { file: [fileWithoutPackage()] } };
      return post(exchange, streamly, `${streamly.name}/eventGroupMetadataDescriptors`, body);
    },
  ),
  fault(
    'a replaced descriptor with messages that have no package',
    'METADATA_WITHOUT_PACKAGE',
    ['descriptorSet', 'descriptorSet'],
    async (exchange) => {
      const { streamly } = castOf(exchange);
      const parent = `${streamly.name}/eventGroupMetadataDescriptors`;
      const first = file();
      const { name } = await ok(post(exchange, streamly, parent, { descriptorSet: { file: [first] } }));
      return exchange.call(streamly.token, 'PUT', `/v2alpha/${name}`, {
        descriptorSet: { file: [first, fileWithoutPackage()] },
      });
    },
  ),
];

/** Returns how often each code was found, from the metrics. */
async function counted(exchange: TestExchange): Promise<Record<string, number>> {
  const { text } = await exchange.call(undefined, 'GET', '/metrics');
  const lines = text.matchAll(/^mex_findings_total\{code="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, code, count]) => [code, Number(count)]));
}

/** Codes that are tested in other files. */
const ELSEWHERE = {
  'consent.test.ts': [
    'SPEC_SIGNATURE_INVALID',
    'NONCE_HASHES_MISMATCH',
    'CERTIFICATE_UNTRUSTED',
    'PUBLIC_KEY_NOT_CURRENT',
  ],
  'parties.test.ts': ['PUBLIC_KEY_SIGNATURE_INVALID'],
  'schemasStrict.test.ts': ['TYPE_ALREADY_REGISTERED', 'SCHEMA_CHANGE_BREAKING'],
};

it('every finding code that can reject a request is tested here or in another file', () => {
  const refusing = Object.entries(FINDING_CODES).filter(([, { refuses }]) => refuses !== false);
  const tested = [...FAULTS.map((f) => f.code), ...Object.values(ELSEWHERE).flat()];
  expect(new Set(tested)).toEqual(new Set(refusing.map(([code]) => code)));
});

describe('advisory checks', () => {
  const exchange = useExchange();

  it.each(FAULTS)(
    'accept $title, and report $code in a header, the log and the metrics',
    async ({ code, fields, call }) => {
      const before = await counted(exchange);
      const reply = await call(exchange);
      const resource = await ok(reply);
      expect(resource).not.toHaveProperty('findings');
      expect(reply.headers.get('x-mex-findings')).toBe(String(fields.length));
      expect((await lineOf(exchange, reply)).findings).toEqual(fields.map(() => code));
      expect((await counted(exchange))[code]).toBe((before[code] ?? 0) + fields.length);
    },
  );

  it.each(FAULTS.filter((f) => f.code !== 'METADATA_WITHOUT_PACKAGE'))(
    'store the findings about $title in the timeline',
    async ({ code, fields, call }) => {
      const { acme } = castOf(exchange);
      const reply = await call(exchange);
      const { measurement, name } = await ok(reply);
      const { transitions } = await get(exchange, acme, `${measurement ?? name}:timeline`);
      const step = transitions.find((t: { findings?: unknown }) => t.findings !== undefined);
      expect(step.requestId).toBe(reply.headers.get('x-request-id'));
      expect(step.findings.map((f: { code: string; field: string }) => [f.code, f.field])).toEqual(
        fields.map((field) => [code, field]),
      );
    },
  );

  it('report no findings for a valid measurement', async () => {
    const { acme, streamly } = castOf(exchange);
    const reply = await post(
      exchange,
      acme,
      `${acme.name}/measurements`,
      measurementRequest(acme, [streamly]),
    );
    const measurement = await ok(reply);
    expect(reply.headers.has('x-mex-findings')).toBe(false);
    expect(await lineOf(exchange, reply)).not.toHaveProperty('findings');
    const { transitions } = await get(exchange, acme, `${measurement.name}:timeline`);
    expect(JSON.stringify(transitions)).not.toContain('findings');
  });
});

describe('strict checks', () => {
  const exchange = useExchange({ checks: 'strict' });

  it.each(FAULTS)('reject $title, with its fields', async ({ code, fields, call }) => {
    const reply = await call(exchange);
    expect(errorOf(reply)).toBe(['400 INVALID_ARGUMENT CHECK_FAILED', ...fields].join(' '));
    expect(metadata(reply)).toEqual({ codes: code });
    expect(await lineOf(exchange, reply)).toMatchObject({ reason: 'CHECK_FAILED', fields });
    const after = JSON.stringify(await stored(exchange));
    // The database contains data that the test prepared, but nothing that the rejected request wrote.
    expect(after).not.toContain(reply.headers.get('x-request-id'));
  });

  it('report all findings of a request in one error', async () => {
    const { acme, streamly } = castOf(exchange);
    const request = measurementRequest(acme, [streamly]);
    request.dataProviders[streamly.name]!.encryptedRequisitionSpec.typeUrl = UNKNOWN_TYPE;
    const measurementSpec = signed(acme, Buffer.from('?'));
    const reply = await post(exchange, acme, `${acme.name}/measurements`, { ...request, measurementSpec });
    expect(errorOf(reply)).toBe(
      `400 INVALID_ARGUMENT CHECK_FAILED ${IN_SPEC} ` +
        `dataProviders[${streamly.name}].encryptedRequisitionSpec.typeUrl`,
    );
    expect(metadata(reply)).toEqual({ codes: 'SPEC_UNDECODABLE,TYPE_URL_UNKNOWN' });
  });

  it('accept reach over several providers with a finding', async () => {
    const { acme, streamly, chirper } = castOf(exchange);
    const request = measurementRequest(acme, [streamly, chirper]);
    const reply = await post(exchange, acme, `${acme.name}/measurements`, request);
    const { name } = await ok(reply);
    expect(reply.headers.get('x-mex-findings')).toBe('1');
    const { transitions } = await get(exchange, acme, `${name}:timeline`);
    expect(transitions[0].findings).toMatchObject([
      { code: 'REACH_NOT_DEDUPLICATED', field: 'dataProviders' },
    ]);
  });

  it('accept a valid fulfillment and a valid descriptor', async () => {
    const { acme, streamly } = castOf(exchange);
    const requisition = await requisitionOf(
      exchange,
      streamly,
      await createMeasurement(exchange, acme, [streamly]),
    );
    expect((await fulfill(exchange, streamly, requisition, 1n)).status).toBe(200);
    const descriptor = { descriptorSet: { file: [file()] } };
    const created = await post(
      exchange,
      streamly,
      `${streamly.name}/eventGroupMetadataDescriptors`,
      descriptor,
    );
    expect(created.status).toBe(200);
  });
});
