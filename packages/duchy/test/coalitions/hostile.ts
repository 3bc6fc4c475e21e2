/**
 * Builds uploads and messages of a hostile sender. Each request is valid at first. A fixed seed then decides how the
 * request is damaged.
 */
import { createHash } from 'node:crypto';
import { toBinary } from '@bufbuild/protobuf';
import { createSigner } from '@measurement-exchange/consent';
import {
  duchyMessages,
  FulfillmentPart,
  type SignedMessage,
  StageMessagePart,
  toJson,
} from '@measurement-exchange/contract';
import { createIdentity } from '@measurement-exchange/sdk/identity';
import { sha256 } from '../face/world.ts';

/** Free text that a sender puts into fields. It must not appear in any output. */
export const MARKER = 'Ada-Lovelace-saw-it-7-times';

/** A pseudorandom generator. The same seed always gives the same numbers. */
export class Draw {
  private drawn = 0;
  private readonly seed: string;

  constructor(seed: string) {
    this.seed = seed;
  }

  bytes(length: number): Buffer {
    const pieces: Buffer[] = [];
    for (let have = 0; have < length; have += 32) {
      pieces.push(
        createHash('sha256')
          .update(`${this.seed} ${this.drawn++}`)
          .digest(),
      );
    }
    return Buffer.concat(pieces).subarray(0, length);
  }

  below(limit: number): number {
    return this.bytes(4).readUInt32BE() % limit;
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }
}

/** One request before it is signed. */
export interface Hostile {
  part: 'fulfillment' | 'message';
  path: string;
  message: duchyMessages.Fulfillment | duchyMessages.StageMessage;
  data: Uint8Array;
  privateKeyPem: string;
  /** Private keys of other parties, which did not sign this request. */
  otherKeys: string[];
}

/**
 * The ways to damage a request, by name. The name is part of the request's description. A test sends the same requests
 * to two test worlds, and compares the descriptions together with the responses.
 */
const SPOILS: Record<string, (sent: Hostile, draw: Draw) => void> = {
  field: spoilField,
  'two fields': (sent, draw) => {
    spoilField(sent, draw);
    spoilField(sent, draw);
  },
  'data, with its digest': (sent, draw) => {
    sent.data = spoiledBytes(sent.data, draw);
    sent.message.dataSha256 = sha256(sent.data);
  },
  'data, with digest and length': (sent, draw) => {
    sent.data = spoiledBytes(sent.data, draw);
    Object.assign(sent.message, { dataSha256: sha256(sent.data), dataLength: BigInt(sent.data.length) });
  },
  data: (sent, draw) => {
    sent.data = spoiledBytes(sent.data, draw);
  },
  key: (sent, draw) => {
    sent.privateKeyPem = draw.of(sent.otherKeys);
  },
  path: (sent, draw) => {
    sent.path = draw.of([
      sent.path.replace(/.(?=:)/, 'x'),
      sent.path.replace(/:\w+$/, ''),
      sent.path.replace(/:\w+$/, ':other'),
      '/v2alpha/computations/unknown:advance',
      '/v2alpha/dataProviders/nobody/requisitions/none:fulfill',
    ]);
  },
  nothing: () => {},
};

/** Damages one field of the message or of the message inside it. */
function spoilField({ message }: Hostile, draw: Draw): void {
  const inner = 'protocolData' in message ? message.protocolData.value : undefined;
  const target = (inner && draw.below(3) === 0 ? inner : message) as unknown as Record<string, unknown>;
  const fields = Object.keys(target)
    .filter((field) => !field.startsWith('$') && typeof target[field] !== 'object')
    .concat(Object.keys(target).filter((field) => target[field] instanceof Uint8Array))
    .toSorted();
  const field = draw.of(fields);
  target[field] = spoiledValue(target[field], draw);
}

function spoiledValue(value: unknown, draw: Draw): unknown {
  if (value instanceof Uint8Array) return spoiledBytes(value, draw);
  if (typeof value === 'bigint') {
    return draw.of([value + 1n, value > 0n ? value - 1n : 7n, 0n, 2n ** 62n]);
  }
  if (typeof value === 'number') return draw.of([value + 1, 0, -1, 2 ** 31 - 1]);
  if (typeof value === 'boolean') return !value;
  const text = String(value);
  return draw.of([
    '',
    MARKER,
    `${text}${MARKER}`,
    text.slice(1),
    'duchies/beta',
    'duchies/gamma/certificates/1',
  ]);
}

/**
 * Damages the bytes: cuts, extends or replaces them, or changes one byte. A cut or a changed byte is always below index
 * `most`.
 */
function spoiledBytes(bytes: Uint8Array, draw: Draw, most = bytes.length): Uint8Array {
  const at = draw.below(Math.max(most, 1));
  switch (draw.below(6)) {
    case 0:
      return bytes.slice(0, at);
    case 1:
      return Buffer.concat([bytes, draw.bytes(1 + draw.below(40))]);
    case 2:
      return draw.bytes(bytes.length);
    case 3:
      return Buffer.from(MARKER);
    case 4:
      return new Uint8Array(bytes.length);
    default:
      return bytes.length === 0 ? Buffer.of(1) : bytes.with(at, bytes[at]! ^ (1 + draw.below(255)));
  }
}

/** A valid DER signature over bytes that are not part of any request. */
const OF_NOTHING = await createIdentity({ party: 'x', commonName: 'x', now: Date.now(), days: 1 })
  .then(({ privateKeyPem }) => createSigner(privateKeyPem))
  .then((signer) => signer.sign(Buffer.from('nothing')))
  .then(({ signature }) => signature);

/** The ways to damage a request after signing: change the signed message, change the signature, or change nothing. */
const AFTER: Record<string, (signed: SignedMessage, draw: Draw) => SignedMessage> = {
  // Cut or change bytes only among the first 60. The later bytes contain nonces and digests, which have different
  // values and lengths in the two test worlds.
  message: (signed, draw) => ({ ...signed, message: spoiledBytes(signed.message, draw, 60) }),
  signature: (signed, draw) => ({ ...signed, signature: draw.of([draw.bytes(70), Buffer.of(), OF_NOTHING]) }),
  none: (signed) => signed,
};

/** A request as it is sent, and a description of its damage. */
export interface HostileRequest {
  what: string;
  path: string;
  body: Buffer;
  headers: Record<string, string>;
}

/**
 * Puts free text into one string field of a request that is otherwise valid. `text` selects the field: it is an index
 * into the sorted field names, modulo their number.
 */
export async function freeText(sent: Hostile, text: number): Promise<HostileRequest> {
  const fields = sent.message as unknown as Record<string, unknown>;
  const names = Object.keys(fields).filter(
    (name) => !name.startsWith('$') && typeof fields[name] === 'string',
  );
  const name = names.toSorted()[text % names.length]!;
  fields[name] = MARKER;
  const json = partOf(sent, await signed(sent));
  return {
    ...framed(9, sent.part, json, sent.data, Buffer.of()),
    what: `${sent.part}: free text in ${name}`,
    path: sent.path,
  };
}

async function signed({ message, part, privateKeyPem }: Hostile): Promise<SignedMessage> {
  const signer = await createSigner(privateKeyPem);
  return signer.sign(
    part === 'fulfillment'
      ? toBinary(duchyMessages.FulfillmentSchema, message as duchyMessages.Fulfillment)
      : toBinary(duchyMessages.StageMessageSchema, message as duchyMessages.StageMessage),
  );
}

function partOf({ part }: Hostile, message: SignedMessage): string {
  return part === 'fulfillment'
    ? toJson(FulfillmentPart, { fulfillment: message })
    : toJson(StageMessagePart, { message });
}

/**
 * Damages and signs a request. The same draws cause the same damage in every test world, regardless of the world's keys
 * and data.
 */
export async function hostileRequest(sent: Hostile, draw: Draw): Promise<HostileRequest> {
  const spoil = draw.of(Object.keys(SPOILS));
  SPOILS[spoil]!(sent, draw);
  const after = draw.below(4) === 0 ? draw.of(Object.keys(AFTER)) : 'none';
  const framing = draw.below(8) === 0 ? draw.below(6) : 9;
  const noise = draw.bytes(1 + draw.below(200));
  const afterDraw = new Draw(`after ${draw.below(2 ** 31)}`);
  const json = partOf(sent, AFTER[after]!(await signed(sent), afterDraw));
  const { part } = sent;
  return {
    ...framed(framing, part, json, sent.data, noise),
    what: `${part}: ${spoil}, ${after}, ${framing}`,
    path: sent.path,
  };
}

function framed(
  framing: number,
  part: string,
  json: string,
  data: Uint8Array,
  noise: Buffer,
): Pick<HostileRequest, 'body' | 'headers'> {
  const header = (name: string) =>
    Buffer.from(`--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`);
  const end = Buffer.from('\r\n--b--\r\n');
  const line = Buffer.from('\r\n');
  const parts = [header(part), Buffer.from(json), line, header('data'), Buffer.from(data)];
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  switch (framing) {
    case 0:
      return { headers, body: Buffer.concat(parts) };
    case 1:
      return { headers, body: noise };
    case 2:
      return {
        headers,
        body: Buffer.concat([header('data'), data, line, header(part), Buffer.from(json), end]),
      };
    case 3:
      return { headers: { 'content-type': 'application/json' }, body: Buffer.from(json) };
    case 4:
      return { headers, body: Buffer.concat([header(part), Buffer.from(`{"${MARKER}": `), noise, end]) };
    case 5:
      return { headers, body: Buffer.concat([header(MARKER), Buffer.from(json), end]) };
    default:
      return { headers, body: Buffer.concat([...parts, end]) };
  }
}
