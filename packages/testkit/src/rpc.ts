/** Clients of the gRPC API: generated clients of Connect, and grpc-js as third-party programs use it. */
import { randomBytes, sign } from 'node:crypto';
import {
  create,
  type DescMethod,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { type Client, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import * as grpc from '@grpc/grpc-js';
import { specs, TYPE_URLS } from '@measurement-exchange/contract';
import {
  BadRequestSchema,
  CreateMeasurementRequestSchema,
  ErrorInfoSchema,
} from '@measurement-exchange/contract/rpc';
import { type DevJson, type DevParty, nonceHash, reachSpec } from './requests.ts';

const TRANSPORTS = {
  grpc: createGrpcTransport,
  'grpc-web': createGrpcWebTransport,
  connect: createConnectTransport,
};

interface ClientOptions {
  /** A bearer token. */
  token?: string | undefined;
  protocol?: keyof typeof TRANSPORTS;
  /** A client certificate and its key, in PEM. */
  identity?: { cert: string; key: string } | undefined;
  headers?: Record<string, string>;
  useBinaryFormat?: boolean;
  timeoutMs?: number;
}

/** A transport for generated clients, over TLS. */
export function transportTo(
  { grpc: { address, rootPem } }: DevJson,
  { token, protocol = 'grpc', identity, headers = {}, useBinaryFormat = true, timeoutMs }: ClientOptions = {},
): Transport {
  return TRANSPORTS[protocol]({
    baseUrl: `https://${address}`,
    httpVersion: '2',
    useBinaryFormat,
    ...(timeoutMs !== undefined && { defaultTimeoutMs: timeoutMs }),
    nodeOptions: { ca: rootPem, ...identity },
    interceptors: [
      (next) => (request) => {
        if (token !== undefined) request.header.set('authorization', `Bearer ${token}`);
        for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
        return next(request);
      },
    ],
  });
}

/** A generated client of one service. */
export function clientOf<S extends DescService>(
  dev: DevJson,
  service: S,
  options: ClientOptions = {},
): Client<S> {
  return createClient(service, transportTo(dev, options));
}

/**
 * Expects a call to fail, and returns its error in one line: `not_found MEASUREMENT_NOT_FOUND`, then the fields that
 * the error names.
 */
export async function failureOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (thrown) => ConnectError.from(thrown),
  );
  if (error === undefined) throw new Error('The call did not fail.');
  const [info] = error.findDetails(ErrorInfoSchema);
  const fields = error
    .findDetails(BadRequestSchema)
    .flatMap((bad) => bad.fieldViolations.map(({ field }) => field));
  const code = error.message.slice(1, error.message.indexOf(']'));
  return [code, info?.reason, ...fields].filter(Boolean).join(' ');
}

/** A grpc-js client, which can call any method by its descriptor. */
export function stockClient(
  { grpc: { address, rootPem } }: DevJson,
  { token, identity, headers = {} }: ClientOptions = {},
) {
  const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  const credentials = grpc.credentials.createSsl(
    Buffer.from(rootPem),
    pem(identity?.key),
    pem(identity?.cert),
  );
  const client = new grpc.Client(address, credentials);
  const metadata = new grpc.Metadata();
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return {
    client,
    metadata,
    call<M extends DescMethod>(
      method: M,
      request: MessageInitShape<M['input']>,
    ): Promise<MessageShape<M['output']>> {
      return new Promise((resolve, reject) => {
        client.makeUnaryRequest(
          `/${method.parent.typeName}/${method.name}`,
          (message: MessageShape<M['input']>) => Buffer.from(toBinary(method.input, message)),
          (bytes) => fromBinary(method.output, bytes) as MessageShape<M['output']>,
          create(method.input, request) as MessageShape<M['input']>,
          metadata,
          (error, response) => (error === null ? resolve(response!) : reject(error)),
        );
      });
    },
    close: () => client.close(),
  };
}

/**
 * Returns a consumer's request to measure reach, in the form that the public reference tools use. By default, the first
 * provider's nonce is 1, the second's is 2, and so on.
 */
export function createMeasurementRequest(consumer: DevParty, providers: DevParty[], nonces?: bigint[]) {
  const all = nonces ?? providers.map((_, i) => BigInt(i + 1));
  const message = reachSpec(consumer.encryptionPublicKey, all);
  const request = create(CreateMeasurementRequestSchema, {
    parent: consumer.name,
    measurement: {
      measurementConsumerCertificate: consumer.certificate,
      measurementSpec: {
        message: { typeUrl: TYPE_URLS.MeasurementSpec, value: message },
        signature: sign('sha256', message, consumer.privateKeyPem),
        signatureAlgorithmOid: '1.2.840.10045.4.3.2',
      },
      dataProviders: providers.map((provider, i) => ({
        key: provider.name,
        value: {
          dataProviderCertificate: provider.certificate,
          dataProviderPublicKey: anyPack(specs.EncryptionPublicKeySchema, keyOf(provider)),
          encryptedRequisitionSpec: { ciphertext: randomBytes(200), typeUrl: TYPE_URLS.SignedMessage },
          nonceHash: Buffer.from(nonceHash(all[i]!), 'base64'),
        },
      })),
    },
  });
  // Serialize and parse the message, because a parsed message contains no Node Buffers and tests can compare it with
  // other messages.
  return fromBinary(CreateMeasurementRequestSchema, toBinary(CreateMeasurementRequestSchema, request));
}

export function keyOf(party: DevParty): specs.EncryptionPublicKey {
  return create(specs.EncryptionPublicKeySchema, {
    format: specs.EncryptionPublicKey_Format.TINK_KEYSET,
    data: new Uint8Array(Buffer.from(party.encryptionPublicKey, 'base64')),
  });
}
