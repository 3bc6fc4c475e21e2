/**
 * Clients like those of the public reference system, over mutual TLS: grpc-js with services and messages from a
 * descriptor set, or generated clients of Connect. Both kinds of client take and return protobufjs messages, whose
 * field names are those of the .proto files.
 */
import { create, type DescMessage, type DescMethod, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import * as grpc from '@grpc/grpc-js';
import * as rpc from '@measurement-exchange/contract/rpc';
import { issueLeaf, type Root } from '@measurement-exchange/sdk/identity';
import protobuf from 'protobufjs';
import 'protobufjs/ext/descriptor/index.js';
import type { DevJson } from './requests.ts';
import { clientOf, transportTo } from './rpc.ts';

const PACKAGE = 'wfa.measurement.api.v2alpha';

/** A message of any type in the form of protobufjs: 64-bit numbers and enums are text, bytes are Buffers. */
// biome-ignore lint/suspicious/noExplicitAny: these clients have no generated types
export type Message = any;

/** A client certificate and its key, in PEM. */
export interface TlsIdentity {
  cert: string;
  key: string;
}

export interface StockOptions {
  identity?: TlsIdentity | undefined;
  headers?: Record<string, string>;
  /** The address to connect to, if it differs from the exchange's address. */
  address?: string;
  /** If true, tries a call up to 5 times if the server is unavailable, as clients of the public reference system do. */
  retries?: boolean;
  /** The largest message that the client accepts. The default is 4 MiB. */
  maxReceiveBytes?: number;
  /** If true, uses generated clients of Connect. They ignore `address`, `retries` and `maxReceiveBytes`. */
  isGenerated?: boolean;
}

export interface StockClient {
  /** Calls a method such as `Measurements/GetMeasurement`. */
  call(method: string, request: Message, headers?: Record<string, string>): Promise<Message>;
  close(): void;
}

export interface Stock {
  connect(options?: StockOptions): StockClient;
  /** `type` is the name of the message without its package. */
  encode(type: string, message: Message): Buffer;
  decode(type: string, bytes: Uint8Array): Message;
}

/**
 * The gRPC service config: a call takes at most 30 seconds. If the server is unavailable, the call is retried after
 * 0.1 s to 1 s.
 */
const RETRYING = {
  name: [{}],
  timeout: '30s',
  retryPolicy: {
    maxAttempts: 5,
    initialBackoff: '0.1s',
    maxBackoff: '1s',
    backoffMultiplier: 1.5,
    retryableStatusCodes: ['UNAVAILABLE'],
  },
};

/** The protobufjs options that programs with grpc-js usually set. */
const READ = { longs: String, enums: String, defaults: true, arrays: true, oneofs: true };

/**
 * Reads the exchange's descriptor set from its reflection service. Returns functions that connect clients and convert
 * messages.
 */
export async function openStock(dev: DevJson): Promise<Stock> {
  const { Root } = protobuf as unknown as { Root: { fromDescriptor(set: Uint8Array): protobuf.Root } };
  const root = Root.fromDescriptor(await descriptorSet(dev)).resolveAll();
  const encode = (type: protobuf.Type, message: Message) =>
    Buffer.from(type.encode(type.fromObject(message)).finish());
  const decode = (type: protobuf.Type, bytes: Uint8Array) => type.toObject(type.decode(bytes), READ);
  const typeOf = (type: string) => root.lookupType(`${PACKAGE}.${type}`);
  const methodOf = (name: string): Method => {
    const [service, method] = name.split('/') as [string, string];
    const found = root.lookupService(`${PACKAGE}.${service}`).methods[method];
    if (found === undefined) throw new Error(`No RPC ${name}`);
    return {
      path: `/${PACKAGE}.${name}`,
      encode: (message) => encode(found.resolvedRequestType!, message),
      decode: (bytes) => decode(found.resolvedResponseType!, bytes),
    };
  };
  const codec = {
    encode: (type: string, message: Message) => encode(typeOf(type), message),
    decode: (type: string, bytes: Uint8Array) => decode(typeOf(type), bytes),
  };
  return {
    ...codec,
    connect: (options) =>
      options?.isGenerated ? connectGenerated(dev, codec, options) : connect(dev, methodOf, options),
  };
}

interface Method {
  path: string;
  encode(request: Message): Buffer;
  decode(bytes: Uint8Array): Message;
}

function connect(
  { grpc: { address, rootPem } }: DevJson,
  methodOf: (name: string) => Method,
  { identity, headers = {}, address: other, retries = false, maxReceiveBytes }: StockOptions = {},
): StockClient {
  const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  const credentials = grpc.credentials.createSsl(
    Buffer.from(rootPem),
    pem(identity?.key),
    pem(identity?.cert),
  );
  const options = {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.ssl_target_name_override': 'localhost',
    'grpc.initial_reconnect_backoff_ms': 100,
    ...(maxReceiveBytes !== undefined && { 'grpc.max_receive_message_length': maxReceiveBytes }),
    ...(retries
      ? { 'grpc.service_config': JSON.stringify({ methodConfig: [RETRYING] }) }
      : { 'grpc.enable_retries': 0 }),
  };
  const client = new grpc.Client(other ?? address, credentials, options);
  return {
    call(method, request, more = {}) {
      const { path, encode, decode } = methodOf(method);
      const metadata = new grpc.Metadata();
      for (const [key, value] of Object.entries({ ...headers, ...more })) metadata.set(key, value);
      return new Promise((resolve, reject) => {
        const deadline = Date.now() + 120_000;
        client.makeUnaryRequest(path, encode, decode, request, metadata, { deadline }, (error, response) =>
          error === null ? resolve(response) : reject(error),
        );
      });
    },
    close: () => client.close(),
  };
}

const GENERATED = new Map<string, DescMethod>(
  Object.values(rpc).flatMap((one) =>
    'kind' in one && one.kind === 'service' ? one.methods.map((m) => [`${one.name}/${m.name}`, m]) : [],
  ),
);

/** Connects a generated client. Converts protobufjs messages to generated messages and back, through their bytes. */
function connectGenerated(
  dev: DevJson,
  { encode, decode }: Pick<Stock, 'encode' | 'decode'>,
  { identity, headers = {} }: StockOptions,
): StockClient {
  const transport = transportTo(dev, { identity, headers });
  const nameOf = ({ typeName }: DescMessage) => typeName.slice(PACKAGE.length + 1);
  return {
    async call(method, request, more = {}) {
      const { parent, localName, input, output } = GENERATED.get(method)!;
      const client = createClient(parent, transport) as Record<string, Message>;
      const message = fromBinary(input, encode(nameOf(input), request));
      const response = await client[localName](message, { headers: more });
      // Pass a Buffer, so that protobufjs decodes bytes fields as Buffers too.
      return decode(nameOf(output), Buffer.from(toBinary(output, response)));
    },
    close: () => {},
  };
}

async function descriptorSet(dev: DevJson): Promise<Buffer> {
  const reflection = clientOf(dev, rpc.ServerReflection);
  const ask = async (...symbols: string[]) => {
    async function* questions() {
      if (symbols.length === 0) yield { messageRequest: { case: 'listServices', value: '' } } as const;
      for (const value of symbols) yield { messageRequest: { case: 'fileContainingSymbol', value } } as const;
    }
    return Array.fromAsync(reflection.serverReflectionInfo(questions()), (one) => one.messageResponse);
  };
  const [list] = await ask();
  if (list?.case !== 'listServicesResponse') throw new Error('The exchange does not list its services.');
  const names = list.value.service.map(({ name }) => name).filter((name) => name.startsWith(PACKAGE));
  const files = new Map<string, FileDescriptorProto>();
  for (const found of await ask(...names)) {
    if (found.case !== 'fileDescriptorResponse') throw new Error('The exchange does not know a service.');
    for (const bytes of found.value.fileDescriptorProto) {
      const file = fromBinary(FileDescriptorProtoSchema, bytes);
      files.set(file.name, file);
    }
  }
  const set = create(FileDescriptorSetSchema, { file: [...files.values()] });
  return Buffer.from(toBinary(FileDescriptorSetSchema, set));
}

/** Issues a TLS certificate for a party. */
export async function tlsIdentity(root: Root, party: string): Promise<TlsIdentity> {
  const leaf = await issueLeaf(root, party, Date.now(), { party });
  return { cert: leaf.certificatePem, key: leaf.privateKeyPem };
}

/** Returns the name of the gRPC code that a call ends with. Both kinds of client use the same code numbers. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (thrown: grpc.ServiceError) => thrown,
  );
  return error === undefined ? 'OK' : grpc.status[error.code]!;
}
