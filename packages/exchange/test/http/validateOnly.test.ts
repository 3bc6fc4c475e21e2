import {
  type DevParty,
  fulfillment,
  measurementRequest,
  type Reply,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import {
  castOf,
  createMeasurement,
  errorOf,
  get,
  ok,
  requisitionOf,
  signed,
  stored,
} from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

const UNKNOWN_TYPE = 'type.example/unknown';
const withoutPackage = { file: [{ name: 'a.proto', messageType: [{ name: 'M' }] }] };
const descriptorSet = { file: [{ ...withoutPackage.file[0], package: 'a' }] };

/** Returns a resource without the fields that only a write sets. */
function unwritten({ name: _n, etag: _e, createTime: _c, updateTime: _u, ...rest }: Reply['json']) {
  return rest;
}
const codes = (reply: Reply['json']) => reply.findings.map((f: { code: string }) => f.code);

describe.each(['advisory', 'strict'] as const)('validateOnly=true under %s checks', (checks) => {
  let acme: DevParty;
  let streamly: DevParty;
  let chirper: DevParty;

  const exchange = useExchange({ checks });
  beforeAll(() => {
    ({ acme, streamly, chirper } = castOf(exchange));
  });

  /** Sends a call with `validateOnly`, checks that all tables are unchanged, and returns the reply. */
  async function dryRun(party: DevParty, method: string, name: string, body?: unknown): Promise<Reply> {
    const before = await stored(exchange);
    const reply = await exchange.call(party.token, method, `/v2alpha/${name}?validateOnly=true`, body);
    expect(await stored(exchange)).toEqual(before);
    return reply;
  }

  it('creates no measurement, and returns what it would be', async () => {
    const request = measurementRequest(acme, [streamly]);
    const reply = await dryRun(acme, 'POST', `${acme.name}/measurements`, request);
    expect(await ok(reply)).toEqual({
      ...request,
      state: 'AWAITING_REQUISITION_FULFILLMENT',
      protocolConfig: { measurementType: 'REACH', direct: {} },
      findings: [],
    });
    expect(reply.headers.get('x-mex-findings')).toBeNull();
  });

  it('returns findings about a measurement instead of rejecting it', async () => {
    const request = measurementRequest(acme, [streamly, chirper]);
    request.dataProviders[chirper.name]!.encryptedRequisitionSpec.typeUrl = UNKNOWN_TYPE;
    const reply = await dryRun(acme, 'POST', `${acme.name}/measurements`, request);
    const validated = await ok(reply);
    expect(validated.findings).toEqual([
      {
        code: 'TYPE_URL_UNKNOWN',
        field: `dataProviders[${chirper.name}].encryptedRequisitionSpec.typeUrl`,
        message: expect.stringMatching(/\w/),
        remedy: expect.stringMatching(/\w/),
      },
      expect.objectContaining({ code: 'REACH_NOT_DEDUPLICATED', field: 'dataProviders' }),
    ]);
    expect(reply.headers.get('x-mex-findings')).toBe('2');

    const measurementSpec = signed(acme, Buffer.from('?'));
    const undecodable = { ...measurementRequest(acme, [streamly]), measurementSpec };
    const other = await ok(dryRun(acme, 'POST', `${acme.name}/measurements`, undecodable));
    expect(codes(other)).toEqual(['SPEC_UNDECODABLE']);
    expect(other.protocolConfig).toEqual({ direct: {} });
  });

  it('cancels nothing', async () => {
    const measurement = await createMeasurement(exchange, acme, [streamly]);
    expect(await ok(dryRun(acme, 'POST', `${measurement.name}:cancel`))).toEqual({
      ...unwritten(measurement),
      state: 'CANCELLED',
      findings: [],
    });
    expect(await get(exchange, acme, measurement.name)).toEqual(measurement);
  });

  it('fulfills nothing', async () => {
    const measurement = await createMeasurement(exchange, acme, [streamly]);
    const requisition = await requisitionOf(exchange, streamly, measurement);
    const body = fulfillment(streamly, requisition, 1n);
    const name = `${requisition.name}:fulfillDirect`;
    const fulfilled = {
      ...unwritten(requisition),
      state: 'FULFILLED',
      measurementState: 'SUCCEEDED',
      nonce: 1,
    };
    expect(await ok(dryRun(streamly, 'POST', name, body))).toEqual({ ...fulfilled, findings: [] });
    body.encryptedResult.typeUrl = UNKNOWN_TYPE;
    const questionable = await ok(dryRun(streamly, 'POST', name, body));
    expect(codes(questionable)).toEqual(['TYPE_URL_UNKNOWN']);
    expect(questionable).toEqual({ ...fulfilled, findings: questionable.findings });
    // The etag is still valid, because the requisition has not changed.
    expect(await get(exchange, streamly, requisition.name)).toEqual(requisition);
  });

  it('refuses nothing', async () => {
    const measurement = await createMeasurement(exchange, acme, [streamly, chirper]);
    const requisition = await requisitionOf(exchange, streamly, measurement);
    const body = { etag: requisition.etag, refusal: { justification: 'DECLINED', message: 'no' } };
    expect(await ok(dryRun(streamly, 'POST', `${requisition.name}:refuse`, body))).toEqual({
      ...unwritten(requisition),
      state: 'REFUSED',
      measurementState: 'FAILED',
      refusal: body.refusal,
      findings: [],
    });
  });

  it('creates and replaces no descriptor', async () => {
    const parent = `${streamly.name}/eventGroupMetadataDescriptors`;
    expect(await ok(dryRun(streamly, 'POST', parent, { descriptorSet }))).toEqual({
      descriptorSet,
      findings: [],
    });
    const { name } = await ok(exchange.call(streamly.token, 'POST', `/v2alpha/${parent}`, { descriptorSet }));
    const both = ['METADATA_WITHOUT_PACKAGE', 'SCHEMA_CHANGE_BREAKING'];
    for (const [method, path, found] of [
      ['POST', parent, ['METADATA_WITHOUT_PACKAGE']],
      ['PATCH', name, both],
      ['PUT', name, both],
    ]) {
      const validated = await ok(dryRun(streamly, method, path, { descriptorSet: withoutPackage }));
      expect(validated).toEqual({ descriptorSet: withoutPackage, findings: validated.findings });
      expect(codes(validated)).toEqual(found);
    }
    expect(await get(exchange, streamly, name)).toEqual({ name, descriptorSet });
  });

  it('returns errors for requests that would be rejected', async () => {
    const measurement = await createMeasurement(exchange, acme, [streamly]);
    const requisition = await requisitionOf(exchange, streamly, measurement);
    const create = `${acme.name}/measurements`;
    const run = async (...call: Parameters<typeof dryRun>) => errorOf(await dryRun(...call));
    expect(await run(acme, 'POST', create, {})).toMatch(/^400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET /);
    const foreign = {
      ...measurementRequest(acme, [streamly]),
      measurementConsumerCertificate: streamly.certificate,
    };
    expect(await run(acme, 'POST', create, foreign)).toMatch(/^400 INVALID_ARGUMENT INVALID_FIELD_VALUE /);
    const nobody = {
      ...streamly,
      name: 'dataProviders/nobody',
      certificate: 'dataProviders/nobody/certificates/c',
    };
    expect(await run(acme, 'POST', create, measurementRequest(acme, [nobody]))).toBe(
      '404 NOT_FOUND DATA_PROVIDER_NOT_FOUND',
    );
    expect(await run(streamly, 'POST', create, {})).toBe('403 PERMISSION_DENIED PERMISSION_DENIED');
    expect(await run(acme, 'POST', `${create}/absent:cancel`)).toBe('404 NOT_FOUND MEASUREMENT_NOT_FOUND');
    const fulfilling = `${requisition.name}:fulfillDirect`;
    expect(await run(streamly, 'POST', fulfilling, fulfillment(streamly, { etag: 'stale' }, 1n))).toBe(
      '409 ABORTED REQUISITION_ETAG_MISMATCH',
    );
    expect(await run(streamly, 'POST', fulfilling, fulfillment(streamly, requisition, 2n))).toBe(
      '400 INVALID_ARGUMENT NONCE_MISMATCH nonce',
    );
    const descriptors = `${streamly.name}/eventGroupMetadataDescriptors`;
    expect(await run(streamly, 'POST', descriptors, { descriptorSet: { file: [] } })).toMatch(
      /^400 INVALID_ARGUMENT \w+ descriptorSet\.file$/,
    );
    expect(await run(streamly, 'PUT', `${descriptors}/absent`, { descriptorSet })).toBe(
      '404 NOT_FOUND EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND',
    );
    await ok(exchange.call(acme.token, 'POST', `/v2alpha/${measurement.name}:cancel`));
    expect(await run(acme, 'POST', `${measurement.name}:cancel`)).toBe(
      '400 FAILED_PRECONDITION MEASUREMENT_STATE_ILLEGAL',
    );
  });
});
