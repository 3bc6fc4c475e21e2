/**
 * Sends random bytes, damaged messages, and hostile values to every service. Each RPC must succeed, or fail with a code
 * that does not stand for a fault of the exchange.
 */
import { randomInt } from 'node:crypto';
import { type ClientHttp2Session, connect } from 'node:http2';
import {
  create,
  type DescField,
  type DescMessage,
  type DescMethod,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { Dice } from '@measurement-exchange/testkit/descriptorFuzz';
import { UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { castOf } from '@measurement-exchange/testkit/steps';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { METHODS } from './callerRows.ts';

const exchange = useExchange({ rate: UNLIMITED });
const ROUNDS = rounds(10_000, 200);
const AT_ONCE = 16;
/**
 * The gRPC codes that a request must never cause: unknown error, internal error, and data loss. A missing status is
 * forbidden as well.
 */
const FORBIDDEN = new Set(['2', '13', '15', undefined]);

let session: ClientHttp2Session;
beforeAll(() => {
  const { address, rootPem } = exchange.dev.grpc;
  session = connect(`https://localhost:${address.split(':')[1]}`, { ca: rootPem });
});
afterAll(() => session.close());

function send({ parent, name }: DescMethod, token: string, message: Uint8Array): Promise<string | undefined> {
  const stream = session.request({
    ':method': 'POST',
    ':path': `/${parent.typeName}/${name}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${token}`,
  });
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return new Promise((resolve) => {
    let status: string | undefined;
    const see = (headers: Record<string, unknown>) => {
      status = (headers['grpc-status'] as string | undefined) ?? status;
    };
    stream
      .on('response', see)
      .on('trailers', see)
      .on('error', () => {});
    stream.on('close', () => resolve(status)).resume();
    stream.end(Buffer.concat([head, message]));
  });
}

const TEXTS = [
  ...['', '-', 'a', '\u0000', '\ufeff', '\u{1f4a9}', '../..', "'; DROP TABLE parties; --", 'x'.repeat(5_000)],
  ...['measurementConsumers/acme', 'dataProviders/streamly', 'dataProviders/-', 'populations/none'],
  ...['measurementConsumers/acme/measurements/none', 'dataProviders/streamly/requisitions/none'],
  ...['dataProviders/streamly/eventGroups/none', 'measurementConsumers/acme/certificates/none'],
  ...['measurementConsumers/acme/publicKey', 'type.googleapis.com/wfa.measurement.api.v2alpha.SignedMessage'],
];
const NUMBERS = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)];
const LONGS = [0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n)];
const DOUBLES = [0, -0, 1, Number.NaN, Number.POSITIVE_INFINITY, -1e308, 5e-324];

function scalar(type: ScalarType, dice: Dice): unknown {
  const one = <T>(values: T[]): T => values[dice.roll(values.length)]!;
  switch (type) {
    case ScalarType.STRING:
      return one(TEXTS);
    case ScalarType.BYTES:
      return bytes(dice, one([0, 1, 31, 32, 200]));
    case ScalarType.BOOL:
      return dice.roll(2) === 1;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return one(type === ScalarType.FLOAT ? DOUBLES.map(Math.fround) : DOUBLES);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return one(LONGS);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return BigInt.asUintN(64, one(LONGS));
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return one(NUMBERS) >>> 0;
    default:
      return one(NUMBERS);
  }
}

function bytes(dice: Dice, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => dice.roll(256));
}

/** Returns a message of this type with hostile values in some of its fields. */
function hostile(schema: DescMessage, dice: Dice, depth = 0) {
  const message = reflect(schema, create(schema), false);
  for (const field of schema.fields) {
    if (depth > 4 || dice.roll(4) === 0) continue;
    fill(message, field, dice, depth);
  }
  return message;
}

function fill(message: ReturnType<typeof reflect>, field: DescField, dice: Dice, depth: number): void {
  const value = (kind: 'enum' | 'message' | 'scalar'): unknown => {
    if (kind === 'message') return hostile(field.message!, dice, depth + 1);
    return kind === 'enum' ? [0, 1, 2, 99, -1][dice.roll(5)]! : scalar(field.scalar!, dice);
  };
  if (field.fieldKind === 'list') {
    const list = message.get(field);
    for (let i = dice.roll(4); i > 0; i--) list.add(value(field.listKind) as never);
  } else if (field.fieldKind !== 'map') {
    message.set(field, value(field.fieldKind) as never);
  }
}

/**
 * Returns a copy of the message with one to four random changes. Each change flips a bit, or removes, repeats or
 * inserts bytes.
 */
function damaged(message: Uint8Array, dice: Dice): Uint8Array {
  const copy = [...message];
  for (let i = 1 + dice.roll(4); i > 0; i--) {
    const at = dice.roll(copy.length + 1);
    const change = dice.roll(4);
    if (change === 0 && at < copy.length) copy[at]! ^= 1 << dice.roll(8);
    else if (change === 1) copy.splice(at, 1 + dice.roll(8));
    else if (change === 2) copy.splice(at, 0, ...copy.slice(at, at + dice.roll(16)));
    else copy.splice(at, 0, ...bytes(dice, 1 + dice.roll(8)));
  }
  return Uint8Array.from(copy);
}

const services = Map.groupBy(METHODS.values(), ({ parent }) => parent.name);
const seed = randomInt(2 ** 31);

it.each([...services.keys()])(
  `%s returns no internal error for ${ROUNDS} hostile messages (seed ${seed})`,
  async (name) => {
    const dice = new Dice(seed + name.length);
    const { acme, streamly } = castOf(exchange);
    const tokens = [acme.token, streamly.token, exchange.dev.operator.token];
    const methods = services.get(name)!;
    const bad: string[] = [];
    const statuses = new Set<string | undefined>();
    let sent = 0;
    const worker = async () => {
      while (sent < ROUNDS) {
        const method = methods[sent++ % methods.length]!;
        const valid = toBinary(method.input, hostile(method.input, dice).message as never);
        const kind = dice.roll(3);
        const message = kind === 0 ? valid : kind === 1 ? damaged(valid, dice) : bytes(dice, dice.roll(60));
        const status = await send(method, tokens[dice.roll(tokens.length)]!, message);
        statuses.add(status);
        if (FORBIDDEN.has(status)) {
          bad.push(`${method.name} ${status} ${Buffer.from(message).toString('base64').slice(0, 4_000)}`);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(bad.slice(0, 5)).toEqual([]);
    expect(statuses).toContain('3');
  },
);
