/**
 * Tests the gRPC server of an exchange in its own process against streams that are endless, slow, or reset immediately.
 */
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { setImmediate as tick } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  ListMeasurementsRequestSchema,
  Measurements,
  Requisitions,
  ServerReflection,
} from '@measurement-exchange/contract/rpc';
import {
  createDatabase,
  type Database,
  type DevParty,
  UNLIMITED,
} from '@measurement-exchange/testkit/exchange';
import { type ExchangeProcess, startExchangeProcess } from '@measurement-exchange/testkit/process';
import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import { clientOf, createMeasurementRequest } from '@measurement-exchange/testkit/rpc';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const KIB = 1024;
const MIB = 1024 * KIB;
const LIST = `/${Measurements.typeName}/ListMeasurements`;
const INVALID_ARGUMENT = '3';
const DEADLINE_EXCEEDED = '4';
const UNAVAILABLE = '14';
/**
 * The maximum growth of the process's memory during an attack. This is the sum of the limits for request bodies and
 * session buffers, doubled to allow for memory that the garbage collector has not freed yet.
 */
const MAX_GROWTH_MIB = 400;

let database: Database;
let exchange: ExchangeProcess;
let acme: DevParty;
let sessions: ClientHttp2Session[] = [];

beforeAll(async () => {
  database = await createDatabase();
  exchange = await startExchangeProcess({ databaseUrl: database.url, config: { rate: UNLIMITED } });
  acme = exchange.dev.measurementConsumers[0]!;
});
afterEach(() => {
  for (const session of sessions) session.destroy();
  sessions = [];
});
afterAll(async () => {
  expect(await exchange.kill()).toBe(0);
  expect(exchange.output()).not.toMatch(/"level":60|"code":"(INTERNAL|UNKNOWN)"/);
  await exchange.remove();
  await database.drop();
});

function newSession(settings: object = {}): ClientHttp2Session {
  const { address, rootPem } = exchange.dev.grpc;
  const session = connect(`https://localhost:${address.split(':')[1]}`, {
    ca: rootPem,
    settings,
    maxSessionMemory: 1_000,
  });
  session.on('error', () => {});
  sessions.push(session);
  return session;
}

function open(session: ClientHttp2Session, path = LIST): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${acme.token}`,
  });
  return stream.on('error', () => {});
}

/** Resolves to the gRPC status when it arrives, or to undefined if the stream closes without a status. */
function statusOf(stream: ClientHttp2Stream): Promise<string | undefined> {
  return new Promise((resolve) => {
    const see = (headers: Record<string, unknown>) => {
      const status = headers['grpc-status'];
      if (status !== undefined) resolve(status as string);
    };
    stream
      .on('response', see)
      .on('trailers', see)
      .on('close', () => resolve(undefined))
      .resume();
  });
}

const closed = (stream: ClientHttp2Stream) =>
  new Promise<void>((resolve) => (stream.closed ? resolve() : stream.once('close', resolve)));

/** Returns the five bytes that precede a gRPC message of this length. */
function head(length: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

const envelope = (message: Uint8Array) => Buffer.concat([head(message.length), message]);

/** Writes the chunk again and again until the stream closes, as fast as the exchange reads. */
function writeForever(stream: ClientHttp2Stream, chunk: Buffer): void {
  const write = () => {
    while (!stream.destroyed && stream.write(chunk));
  };
  stream.on('drain', write);
  write();
}

/** Returns the peak memory of the exchange in MiB, as Linux reports it. */
const peak = () =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${exchange.pid}/status`, 'utf8'))![1]) / KIB;

/** Runs an attack while another party sends requests. The attack must not disturb this party. */
async function attacked(attack: () => Promise<void>): Promise<void> {
  const isMeasured = process.platform === 'linux';
  const before = isMeasured ? peak() : 0;
  const streamly = exchange.dev.dataProviders[0]!;
  const client = clientOf(exchange.dev, Requisitions, { token: streamly.token });
  const attacking = attack();
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  attacking.then(over, over);
  let calls = 0;
  do {
    // On a busy machine, the exchange may reply UNAVAILABLE, which asks the client to retry.
    const failure = await client.listRequisitions({ parent: streamly.name }).then(
      () => undefined,
      (error) => ConnectError.from(error).code,
    );
    if (failure === undefined) calls++;
    else expect(failure).toBe(Code.Unavailable);
  } while (!isOver || calls < 5);
  await attacking;
  if (isMeasured) expect(peak() - before).toBeLessThan(MAX_GROWTH_MIB);
}

describe('a caller', () => {
  it('that never ends its message gets an error, and its stream is closed', async () => {
    await attacked(async () => {
      const session = newSession();
      const streams = Array.from({ length: 8 }, (_, i) => {
        const stream = open(session);
        // Half of the messages declare a length of only 10 bytes, although more bytes follow. The others declare 4 GB.
        stream.write(head(i % 2 === 0 ? 10 : 4_000_000_000));
        writeForever(stream, Buffer.alloc(64 * KIB));
        return stream;
      });
      const statuses = new Set(await Promise.all(streams.map(statusOf)));
      // On a busy machine, the time limit for a message can pass before the exchange notices the wrong length.
      expect(statuses.difference(new Set([DEADLINE_EXCEEDED]))).toEqual(new Set([INVALID_ARGUMENT]));
      await Promise.all(streams.map(closed));
    });
  });

  it('that begins many messages uses a limited amount of memory, which is released afterwards', async () => {
    const big = Buffer.alloc(3 * MIB);
    await attacked(async () => {
      const session = newSession();
      const streams = Array.from({ length: 40 }, () => open(session));
      const statuses = streams.map(statusOf);
      for (const stream of streams) stream.write(Buffer.concat([head(4_000_000), big]));
      // The exchange keeps messages in memory up to a limit. It rejects each message that would exceed the limit.
      const first = await Promise.race(statuses);
      expect(first).toBe(UNAVAILABLE);
      for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
      const ended = (await Promise.all(statuses)).filter((status) => status !== undefined);
      expect(new Set(ended)).toEqual(new Set([UNAVAILABLE]));
    });
    const again = open(newSession());
    again.end(envelope(big));
    expect(await statusOf(again)).toBe(INVALID_ARGUMENT);
  });

  it('that opens many streams and resets them does not disturb other callers', async () => {
    await attacked(async () => {
      let session = newSession();
      for (let i = 0; i < rounds(20_000, 3_000); i++) {
        // The exchange closes the connection of a client that resets too many streams. The client then opens a new
        // connection.
        if (session.closed || session.destroyed) session = newSession();
        const stream = open(session);
        if (i % 2 === 0) stream.end(envelope(new Uint8Array()));
        stream.close(constants.NGHTTP2_CANCEL);
        if (i % 100 === 0) await tick();
      }
    });
  });

  it('that does not read its responses does not disturb other callers', async () => {
    const client = clientOf(exchange.dev, Measurements, { token: acme.token });
    const request = createMeasurementRequest(acme, exchange.dev.dataProviders.slice(0, 1));
    request.measurement!.dataProviders[0]!.value!.encryptedRequisitionSpec!.ciphertext = Buffer.alloc(
      1.2 * MIB,
    );
    for (let i = 0; i < 3; i++) await client.createMeasurement(request);
    const page = toBinary(
      ListMeasurementsRequestSchema,
      create(ListMeasurementsRequestSchema, { parent: acme.name }),
    );
    const streams: ClientHttp2Stream[] = [];
    await attacked(async () => {
      const session = newSession({ initialWindowSize: 0 });
      for (let i = 0; i < rounds(100, 30); i++) {
        const stream = open(session);
        stream.end(envelope(page));
        streams.push(stream);
      }
      const began = (stream: ClientHttp2Stream) =>
        new Promise((resolve) => stream.once('response', resolve).once('close', resolve));
      await Promise.all(streams.map(began));
    });
    // After 30 seconds, the exchange closes streams that the client does not read.
    if (isStress) await Promise.all(streams.map(closed));
  });

  it.runIf(isStress)('that sends its message slowly gets DEADLINE_EXCEEDED', async () => {
    const stream = open(newSession());
    stream.write(head(100));
    const timer = setInterval(() => stream.write(Buffer.alloc(1)), 500);
    const status = await statusOf(stream);
    clearInterval(timer);
    expect(status).toBe(DEADLINE_EXCEEDED);
  });

  it('that sends endless reflection requests gets an error, and its stream is closed', async () => {
    await attacked(async () => {
      const stream = open(newSession(), `/${ServerReflection.typeName}/ServerReflectionInfo`);
      // Each message is a reflection request with an empty `list_services`.
      writeForever(
        stream,
        Buffer.concat(Array.from({ length: 100 }, () => envelope(Buffer.from([0x3a, 0])))),
      );
      expect(await statusOf(stream)).toBe(INVALID_ARGUMENT);
      await closed(stream);
    });
  });
});
