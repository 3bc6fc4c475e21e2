/** A duchy that accepts uploads over real HTTP, or behaves as the test specifies. */
import { createCipheriv, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fromBinary } from '@bufbuild/protobuf';
import { opened, shareContext } from '@measurement-exchange/consent/sealing';
import {
  decode,
  duchyMessages,
  FulfillmentPart,
  parseJson,
  type SignedMessage,
  shareShuffle,
  specs,
} from '@measurement-exchange/contract';
import { decrypt, parseCertificate, unpackSignedMessage, verifySignature } from '@measurement-exchange/sdk';

export interface ReceivedUpload {
  path: string;
  fulfillment: SignedMessage;
  data: Buffer;
  /** Both parts of the upload as they were sent. */
  parts: Buffer[];
}

export type Behavior = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export interface FakeDuchy {
  endpoint: string;
  uploads: ReceivedUpload[];
  /** Each entry handles one request, in order. When the list is empty, the duchy accepts uploads. */
  next: Behavior[];
  /** Called when an upload is stored, before the response is sent. */
  onStored: (upload: ReceivedUpload) => void | Promise<void>;
  close(): Promise<void>;
}

export async function startFakeDuchy(): Promise<FakeDuchy> {
  const server = createServer(async (request, response) => {
    const behavior = duchy.next.shift();
    if (behavior) return behavior(request, response);
    const upload = await receive(request);
    duchy.uploads.push(upload);
    await duchy.onStored(upload);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const duchy: FakeDuchy = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    uploads: [],
    next: [],
    onStored: () => {},
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return duchy;
}

/**
 * A duchy that responds before it has read the upload. It reads the rest of the upload before it closes the connection.
 * Closing a connection with unread data would reset the connection, and the client could lose the response.
 */
export const replies =
  (status: number, body: string, headers: OutgoingHttpHeaders = {}): Behavior =>
  (request, response) => {
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
    response.flushHeaders();
    response.write(body);
    request.resume().once('close', () => response.end());
  };

/** Reads an upload. The body must consist of exactly two parts, and have the length that Content-Length states. */
export async function receive(request: IncomingMessage): Promise<ReceivedUpload> {
  const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
  if (body.length !== Number(request.headers['content-length'])) throw new Error('content-length');
  const [, boundary] = /^multipart\/form-data; boundary=([\w-]+)$/.exec(request.headers['content-type']!)!;
  const parts: Buffer[] = [];
  const names: string[] = [];
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  let rest = Buffer.concat([Buffer.from('\r\n'), body]);
  for (;;) {
    rest = rest.subarray(delimiter.length);
    if (rest.equals(Buffer.from('--\r\n'))) break;
    const end = rest.indexOf(delimiter);
    const blank = rest.indexOf('\r\n\r\n');
    names.push(/name="(\w+)"/.exec(rest.subarray(0, blank).toString())![1]!);
    parts.push(rest.subarray(blank + 4, end));
    rest = rest.subarray(end);
  }
  if (names.join() !== 'fulfillment,data') throw new Error(`parts ${names}`);
  const part = decode(FulfillmentPart, parseJson(parts[0]!.toString()), [], '');
  if (part === undefined) throw new Error('not a FulfillmentPart');
  return { path: request.url!, fulfillment: part.fulfillment, data: parts[1]!, parts };
}

/**
 * Verifies the signatures of an upload, and decrypts the upload with the keys of both workers. Returns the signed
 * message, the decrypted parts, and the frequencies, which are the sum of both shares modulo `modulus`. `provider` is
 * the provider's certificate in PEM or DER, `worker` is the private keyset of the worker that receives the upload, and
 * `peer` is the private keyset of the other worker.
 */
export async function openUpload(
  { fulfillment, data }: ReceivedUpload,
  {
    provider,
    worker,
    peer,
    modulus = 127,
  }: {
    provider: string | Uint8Array;
    worker: Uint8Array;
    peer: Uint8Array;
    modulus?: number | undefined;
  },
) {
  const certificate = parseCertificate(new X509Certificate(provider).raw);
  await verifySignature(fulfillment, certificate);
  const message = fromBinary(duchyMessages.FulfillmentSchema, new Uint8Array(fulfillment.message));
  const { secretSeed } = message.protocolData.value as duchyMessages.Fulfillment_HonestMajorityShareShuffle;
  const signedSeed = unpackSignedMessage(await decrypt(peer, secretSeed!.ciphertext));
  await verifySignature(signedSeed, certificate);
  const { data: seed, binding } = fromBinary(specs.RandomSeedSchema, signedSeed.message);
  const vector = await Array.fromAsync(opened(worker, shareContext(message.requisition), chunksOf(data)));
  const share = fromBinary(shareShuffle.FrequencyVectorSchema, Buffer.concat(vector)).data;
  const other = expand(seed, share.length, modulus);
  return {
    message,
    seed,
    binding,
    share,
    frequencies: share.map((value, i) => (value + other[i]!) % modulus),
  };
}

async function* chunksOf(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}

/**
 * Expands a seed to `count` values below `modulus`, without using the product's code. Each byte of the AES-256-CTR
 * keystream gives one value: the lowest n bits of the byte, where n is the number of bits of `modulus` − 1. Values that
 * are not below `modulus` are skipped.
 */
function expand(seed: Uint8Array, count: number, modulus: number): number[] {
  const cipher = createCipheriv('aes-256-ctr', seed.subarray(0, 32), seed.subarray(32));
  const mask = 2 ** Math.ceil(Math.log2(modulus)) - 1;
  const bytes = [...cipher.update(new Uint8Array(100 + 10 * count))].map((byte) => byte & mask);
  return bytes.filter((value) => value < modulus).slice(0, count);
}
