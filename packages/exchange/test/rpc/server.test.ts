import { randomBytes } from 'node:crypto';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import {
  DataProviders,
  GetMeasurementRequestSchema,
  Health,
  Measurements,
  ReplaceDataProviderCapabilitiesRequestSchema,
  RequisitionFulfillment,
  Requisitions,
  ServerReflection,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '@measurement-exchange/contract/rpc';
import { startExchange, useExchange } from '@measurement-exchange/testkit/exchange';
import {
  clientOf,
  createMeasurementRequest,
  failureOf,
  transportTo,
} from '@measurement-exchange/testkit/rpc';
import { castOf } from '@measurement-exchange/testkit/steps';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';

const exchange = useExchange();

/** Sends these bytes as the body of a gRPC request and returns the headers and trailers of the response. */
async function send(
  body: Uint8Array,
  path: string,
  token?: string,
  headers: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const { address, rootPem } = exchange.dev.grpc;
  session ??= connect(`https://${address}`, { ca: rootPem });
  const stream: ClientHttp2Stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...headers,
  });
  stream.on('error', () => {});
  return await new Promise((resolve) => {
    let seen = {};
    const see = (headers: object) => {
      seen = { ...seen, ...headers };
    };
    stream
      .on('response', see)
      .on('trailers', see)
      .on('close', () => resolve(seen))
      .resume();
    stream.end(body);
  });
}
let session: ClientHttp2Session | undefined;
afterAll(() => session?.close());

function envelope(message: Uint8Array, flag = 0, length = message.length): Uint8Array {
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

const GET = `/${Measurements.typeName}/GetMeasurement`;
const INVALID_ARGUMENT = '3';
const DEADLINE_EXCEEDED = '4';

it('an RPC that the exchange does not serve is UNIMPLEMENTED', async () => {
  const { streamly } = castOf(exchange);
  expect(await send(envelope(Buffer.alloc(0)), '/some.Service/Method')).toMatchObject({
    'grpc-status': '12',
  });
  const upload = createClient(RequisitionFulfillment, transportTo(exchange.dev, { token: streamly.token }));
  expect(await failureOf(upload.fulfillRequisition((async function* () {})()))).toBe('unimplemented');
});

describe('a malformed request body', () => {
  it.each<[what: string, body: Uint8Array]>([
    ['no bytes', Buffer.alloc(0)],
    ['two messages', Buffer.concat([envelope(Buffer.alloc(0)), envelope(Buffer.alloc(0))])],
    ['a compressed message', envelope(Buffer.from('x'), 1)],
    ['a message that is shorter than its declared length', envelope(Buffer.from('x'), 0, 100)],
    ['a field with the wrong wire type', envelope(Buffer.from([0x08, 0x01]))],
    ['text that is not UTF-8', envelope(Buffer.from([0x0a, 0x01, 0xff]))],
    ['a message with a declared length of 3 GiB', envelope(Buffer.from('x'), 0, 3 * 1024 ** 3)],
    ['a message of 5 MiB', envelope(Buffer.alloc(5 * 1024 * 1024))],
  ])('is rejected with INVALID_ARGUMENT: %s', async (_, body) => {
    const { acme } = castOf(exchange);
    expect(await send(body, GET, acme.token)).toMatchObject({ 'grpc-status': INVALID_ARGUMENT });
  });

  it('is rejected with INVALID_ARGUMENT: 300 random messages', async () => {
    const { acme } = castOf(exchange);
    const statuses = new Set<unknown>();
    for (let i = 0; i < 300; i++) {
      const reply = await send(envelope(randomBytes(i % 40)), GET, acme.token);
      statuses.add(reply['grpc-status']);
    }
    expect([...statuses]).toEqual([INVALID_ARGUMENT]);
  });
});

describe('a request with the header', () => {
  it.each<[what: string, headers: Record<string, string>, status: string]>([
    ['grpc-encoding: identity is accepted', { 'grpc-encoding': 'identity' }, '5'],
    ['grpc-timeout: 10S is accepted', { 'grpc-timeout': '10S' }, '5'],
    ['content-type: application/grpc+proto is accepted', { 'content-type': 'application/grpc+proto' }, '5'],
    ['grpc-encoding: gzip is UNIMPLEMENTED', { 'grpc-encoding': 'gzip' }, '12'],
    ['grpc-timeout: 10 without a unit is INVALID_ARGUMENT', { 'grpc-timeout': '10' }, '3'],
    [
      'content-type: application/grpc+json is INVALID_ARGUMENT',
      { 'content-type': 'application/grpc+json' },
      '3',
    ],
  ])('%s', async (_, headers, status) => {
    const { acme } = castOf(exchange);
    const request = create(GetMeasurementRequestSchema, { name: `${acme.name}/measurements/none` });
    const body = envelope(toBinary(GetMeasurementRequestSchema, request));
    const reply = await send(body, GET, acme.token, headers);
    expect(reply).toMatchObject({ ':status': 200, 'grpc-status': status });
    expect(reply['x-request-id']).toMatch(/./);
  });
});

it('a call ends with DEADLINE_EXCEEDED when its grpc-timeout has passed', async () => {
  const { streamly } = castOf(exchange);
  const holder = new pg.Client({ connectionString: exchange.database.url });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM parties WHERE name = $1 FOR UPDATE', [streamly.name]);
    const request = { name: streamly.name, capabilities: { trusTeeSupported: true } };
    const schema = ReplaceDataProviderCapabilitiesRequestSchema;
    const body = envelope(toBinary(schema, create(schema, request)));
    const path = `/${DataProviders.typeName}/ReplaceDataProviderCapabilities`;
    const patient = send(body, path, streamly.token);
    const impatient = send(body, path, streamly.token, { 'grpc-timeout': '300m' });
    expect(await Promise.race([patient, impatient])).toBe(await impatient);
    expect(await impatient).toMatchObject({ 'grpc-status': DEADLINE_EXCEEDED });
    // The lock still prevents the change, so the deadline ended the call, and not a response of the database.
    await holder.query('ROLLBACK');
    expect(await patient).toMatchObject({ 'grpc-status': '0' });
  } finally {
    await holder.end();
  }
});

it('a caller without credentials is rejected with UNAUTHENTICATED, even with a body of 1 MiB', async () => {
  expect(await send(envelope(Buffer.alloc(1024 * 1024)), GET)).toMatchObject({ 'grpc-status': '16' });
});

it('a list of more than 4 MiB is split into pages without gaps, and a batch of more than 4 MiB is rejected', async () => {
  const { acme, globex, streamly } = castOf(exchange);
  expect(acme.name).not.toBe(globex.name);
  const client = clientOf(exchange.dev, Measurements, { token: globex.token });
  const created = new Set<string>();
  for (let i = 0; i < 5; i++) {
    const request = createMeasurementRequest(globex, [streamly]);
    const entry = request.measurement!.dataProviders[0]!.value!;
    entry.encryptedRequisitionSpec!.ciphertext = randomBytes(1_300_000);
    created.add((await client.createMeasurement(request)).name);
  }
  const seen: string[] = [];
  const sizes: number[] = [];
  for (let pageToken: string | undefined; pageToken !== ''; ) {
    const page = await client.listMeasurements({ parent: globex.name, ...(pageToken && { pageToken }) });
    seen.push(...page.measurements.map(({ name }) => name));
    sizes.push(page.measurements.length);
    pageToken = page.nextPageToken;
  }
  expect(seen).toHaveLength(5);
  expect(new Set(seen)).toEqual(created);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(3);

  const get = (names: string[]) => client.batchGetMeasurements({ parent: globex.name, names });
  expect((await get(seen.slice(0, 2))).measurements).toHaveLength(2);
  expect(await failureOf(get(seen))).toBe('resource_exhausted RESPONSE_TOO_LARGE');
});

it('reflection lists the services, and returns the proto files of their messages', async () => {
  const reflection = clientOf(exchange.dev, ServerReflection);
  async function* asked() {
    yield { messageRequest: { case: 'listServices', value: '' } } as const;
    yield {
      messageRequest: { case: 'fileContainingSymbol', value: `${Measurements.typeName}.GetMeasurement` },
    } as const;
    yield { messageRequest: { case: 'fileByFilename', value: 'no.proto' } } as const;
    const value = `${Measurements.file.proto.package}.VIDEO`;
    yield { messageRequest: { case: 'fileContainingSymbol', value } } as const;
  }
  const answers = [];
  for await (const { messageResponse } of reflection.serverReflectionInfo(asked()))
    answers.push(messageResponse);
  const [list, found, missing, ofValue] = answers;
  if (list?.case !== 'listServicesResponse' || found?.case !== 'fileDescriptorResponse') expect.fail();
  const names = list.value.service.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([Measurements.typeName, Requisitions.typeName, Health.typeName]),
  );
  const files = found.value.fileDescriptorProto.map(
    (bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name,
  );
  expect(files.at(-1)).toBe('wfa/measurement/api/v2alpha/measurements_service.proto');
  expect(files).toContain('google/protobuf/any.proto');
  expect(missing).toMatchObject({ case: 'errorResponse', value: { errorCode: 5 } });
  expect(ofValue?.case).toBe('fileDescriptorResponse');
});

it('an exchange that stops first reports NOT_SERVING to health watchers', async () => {
  const other = await startExchange();
  const statuses: ServingStatus[] = [];
  const watch = clientOf(other.dev, Health).watch({});
  let stopped: Promise<string[]> | undefined;
  for await (const { status } of watch) {
    statuses.push(status);
    stopped ??= other.stop();
  }
  expect(statuses).toEqual([ServingStatus.SERVING, ServingStatus.NOT_SERVING]);
  expect(await stopped).toEqual([]);
});
