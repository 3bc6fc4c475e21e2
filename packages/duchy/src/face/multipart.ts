/** Reads a multipart body: a JSON part, then a binary part named `data`. The binary part is streamed, not buffered. */
import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { ExchangeError, invalid, type JsonValue, parseJson, REQUIRED } from '@measurement-exchange/contract';
import { unsupportedMediaType } from './errors.ts';

export interface Parts {
  json: JsonValue;
  /** The contents of the binary part. Reading throws if the body is truncated, or if another part follows. */
  data: AsyncIterable<Uint8Array>;
}

const MAX_JSON_BYTES = 64 * 1024;
const MAX_JSON_VALUES = 1_000;
/** The time limit for receiving the JSON part. */
const JSON_MS = 15_000;

/** Resolves when the JSON part has arrived and the binary part begins. `part` is the name of the JSON part. */
export function readParts(request: IncomingMessage, part: string): Promise<Parts> {
  return new Promise((resolve, reject) => {
    const busboy = parserOf(request);
    let json: JsonValue | undefined;
    let file: BusboyFileStream | undefined;
    const ended = Promise.withResolvers<void>();
    ended.promise.catch(() => {});
    const timer = setTimeout(() => {
      fail(new ExchangeError('REQUEST_TIMEOUT', `The part ${part} was not received in time.`));
    }, JSON_MS);

    const fail = (error: ExchangeError) => {
      clearTimeout(timer);
      request.unpipe(busboy);
      file?.destroy(error);
      ended.reject(error);
      reject(error);
    };
    const broken = (cause?: unknown) => fail(brokenOff(cause));
    const unexpected = () => {
      const message = `The body must have the parts ${part} and data, in this order, and no other.`;
      fail(new ExchangeError('MALFORMED_REQUEST', message));
    };

    busboy.on('field', (name, text, _nameTruncated, isTruncated) => {
      if (name !== part || file !== undefined || json !== undefined) return unexpected();
      const tooLarge = `The part ${part} is above ${MAX_JSON_BYTES} bytes.`;
      if (isTruncated) return fail(new ExchangeError('BODY_TOO_LARGE', tooLarge));
      try {
        json = parseJson(text, MAX_JSON_VALUES);
      } catch (error) {
        fail(error as ExchangeError);
      }
    });
    busboy.on('file', (_name, stream) => {
      file = stream;
      stream.on('error', () => {});
      if (json === undefined) return unexpected();
      clearTimeout(timer);
      resolve({ json, data: untilEnded(stream, ended.promise) });
    });
    for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit']) busboy.on(limit, unexpected);
    busboy.on('error', broken);
    busboy.on('finish', () => {
      if (file === undefined) {
        fail(invalid([{ field: json === undefined ? part : 'data', description: REQUIRED }]));
      }
      ended.resolve();
    });
    request.on('error', broken);
    request.on('close', () => {
      if (!request.complete) broken();
    });
    request.pipe(busboy);
  });
}

function parserOf(request: IncomingMessage): BusboyInstance {
  const { 'content-type': type, 'content-encoding': coding } = request.headers;
  if (type === undefined || coding !== undefined || !/^multipart\/form-data\s*;/i.test(type)) {
    throw unsupportedMediaType();
  }
  try {
    return new Busboy({
      headers: { 'content-type': type },
      isPartAFile: (name) => name === 'data',
      // One field and one file are expected. Allow two of each, so that the handlers above see a second one and reject
      // the body. A third part of any kind exceeds `parts`, which also rejects the body.
      limits: { fields: 2, files: 2, parts: 2, fieldSize: MAX_JSON_BYTES, headerPairs: 10, headerSize: 4096 },
    });
  } catch (cause) {
    throw new ExchangeError('MALFORMED_REQUEST', 'The content type has no boundary.', { cause });
  }
}

async function* untilEnded(file: BusboyFileStream, ended: Promise<void>): AsyncGenerator<Uint8Array> {
  try {
    yield* file;
  } catch (error) {
    throw error instanceof ExchangeError ? error : brokenOff(error);
  }
  await ended;
}

function brokenOff(cause?: unknown): ExchangeError {
  return new ExchangeError('MALFORMED_REQUEST', 'The body is not whole: it was cut off.', { cause });
}
