/** Reads the request message of an RPC within limits, and checks its framing and its wire form. */
import type { ServerHttp2Stream } from 'node:http2';
import type { DescMessage } from '@bufbuild/protobuf';
import {
  ExchangeError,
  invalid,
  MAX_BODY_VALUES,
  parseJsonBytes,
  readWire,
  type WireLimits,
} from '@measurement-exchange/contract';

const FIRST_BYTES = 4 * 1024;
/** A caller must send its whole message within this time. */
const RECEIVE_MS = 15_000;
/** The size of the envelope before a message: a flag byte, and the message's length in four bytes. */
export const ENVELOPE_BYTES = 5;
/**
 * The limits on nested protobuf messages and on repeated values. A batch of 50 measurements has a few thousand nested
 * messages, and a few repeated values.
 */
const WIRE_LIMITS: WireLimits = { maxMessages: 200_000, maxDepth: 64, maxValues: MAX_BODY_VALUES };

export interface BodyLimits {
  maxBytes: number;
  /** Called before the buffer grows by `bytes`. To reject the request, this function throws an error. */
  grow(bytes: number): void;
}

/**
 * Reads the body into one growing buffer. Connect would copy all received bytes for every chunk, so a message in
 * one-byte chunks would take minutes.
 */
export function readBody(stream: ServerHttp2Stream, { maxBytes, grow }: BodyLimits): Promise<Uint8Array> {
  // A stream without a body may have ended already, so an `end` listener would never be called.
  if (stream.readableEnded || stream.endAfterHeaders) return Promise.resolve(new Uint8Array());
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    let size = 0;
    const settle = (done: () => void) => {
      clearTimeout(timer);
      stream.off('data', take).off('end', end).off('close', abort);
      done();
    };
    const take = (chunk: Buffer) => {
      const needed = size + chunk.length;
      try {
        if (needed > maxBytes + ENVELOPE_BYTES) throw tooLarge();
        if (needed > bytes.length) {
          const length = Math.max(needed, Math.min(Math.max(bytes.length * 2, FIRST_BYTES), maxBytes));
          grow(length - bytes.length);
          bytes = Buffer.concat([bytes.subarray(0, size)], length);
        }
      } catch (error) {
        return settle(() => reject(error));
      }
      chunk.copy(bytes, size);
      size = needed;
    };
    const end = () => settle(() => resolve(bytes.subarray(0, size)));
    const abort = () => settle(() => reject(malformed('The message ended too early.')));
    const timer = setTimeout(
      () =>
        settle(() => reject(new ExchangeError('REQUEST_TIMEOUT', 'The message was not received in time.'))),
      RECEIVE_MS,
    );
    stream.on('data', take).once('end', end).once('close', abort);
  });
}

/**
 * Returns the message in the body. Throws if the body is not exactly one uncompressed message. Connect would report
 * INTERNAL for some of these bodies.
 */
export function messageIn(body: Uint8Array, maxBytes: number): Uint8Array {
  if (body.length < ENVELOPE_BYTES) throw malformed('The body is not one message.');
  if (body[0] !== 0) throw malformed('The message is compressed, or not a message.');
  const length = new DataView(body.buffer, body.byteOffset).getUint32(1);
  if (length > maxBytes) throw tooLarge();
  if (length !== body.length - ENVELOPE_BYTES) throw malformed('The body is not one message.');
  return body.subarray(ENVELOPE_BYTES);
}

/**
 * Throws if the message is corrupt. Without this check, the protobuf runtime would accept some corrupt messages, and
 * Connect would report INTERNAL for others.
 */
export function requireReadable(schema: DescMessage, message: Uint8Array): void {
  const wire = readWire(schema, message, WIRE_LIMITS);
  if ('reason' in wire) throw invalid([{ field: wire.field, description: wire.reason }]);
}

/** Throws if a message in JSON is malformed, or has more keys and values than a request over REST may have. */
export function requireReadableJson(message: Uint8Array): void {
  if (message.length > 0) parseJsonBytes(message, MAX_BODY_VALUES);
}

function tooLarge(): ExchangeError {
  return new ExchangeError('BODY_TOO_LARGE', 'The message is above the size limit.');
}

function malformed(message: string): ExchangeError {
  return new ExchangeError('MALFORMED_REQUEST', message);
}
