/**
 * Sends a share or sketch to a duchy as multipart/form-data. The upload's signature is the provider's only
 * authentication.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { cut, ExchangeError, errorFromJson, parseJsonBytes } from '@measurement-exchange/contract';
import { isTransient } from '../../client/errors.ts';
import { parseRetryAfter } from '../../client/response.ts';
import { EndpointRefused, endpointUrl, publicOnly } from '../../endpoints.ts';

interface UploadOptions {
  url: URL;
  fulfillment: string;
  file: string;
  /** The base timeout of an upload. Each 256 KB of data adds a second to this time. */
  timeoutMs: number;
  /** Whether the duchy is allowed to have a private address. */
  allowPrivate: boolean;
  signal?: AbortSignal | undefined;
  onProgress?: ((percent: number) => void) | undefined;
}

const BYTES_PER_MS = 256;
const PIECE_BYTES = 1 << 18;
/**
 * The maximum length of a duchy's response, which contains at most one error. The rest of a longer response is ignored.
 */
const MAX_RESPONSE_BYTES = 65_536;

/**
 * Returns the URL to which a share or sketch is uploaded. Throws unless the endpoint is an https URL without a path.
 * If `allowHttp` is true, an http URL is also allowed.
 */
export function uploadUrl(endpoint: string, requisition: string, { allowHttp = false } = {}): URL {
  const url = endpointUrl(endpoint, { allowHttp });
  url.pathname = `/v2alpha/${requisition}:fulfill`;
  return url;
}

/**
 * Thrown if the duchy did not confirm that it stored the upload. This class is not an ExchangeError, so that callers do
 * not mistake a duchy's error for an error from the exchange.
 */
export class UploadFailed extends Error {
  override readonly name = 'UploadFailed';
  /**
   * `transient`: a retry may succeed soon. `rejected`: the duchy does not accept this upload. `unexpected`: the
   * response does not have a duchy's format, and its HTTP status does not suggest a retry.
   */
  readonly kind: 'transient' | 'rejected' | 'unexpected';
  /** The reason in the duchy's error, which has the same format as an error from the exchange. */
  readonly reason: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    details: { kind: UploadFailed['kind']; cause?: unknown; retryAfterSeconds?: number | undefined },
  ) {
    const { kind, cause, retryAfterSeconds } = details;
    super(message, { cause });
    this.kind = kind;
    this.retryAfterSeconds = retryAfterSeconds;
    this.reason = cause instanceof ExchangeError ? cause.reason : undefined;
  }
}

/**
 * Resolves when the duchy confirms that it stored the upload. Throws UploadFailed if the duchy does not confirm this,
 * or EndpointRefused if the duchy has a private address that is not allowed.
 */
export async function sendUpload(options: UploadOptions): Promise<void> {
  const file = await open(options.file);
  try {
    const { size } = await file.stat();
    const timeout = AbortSignal.timeout(Math.ceil(options.timeoutMs + size / BYTES_PER_MS));
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
    await send(options, file, size, signal).catch((error: unknown) => {
      options.signal?.throwIfAborted();
      if (error instanceof UploadFailed || error instanceof EndpointRefused) throw error;
      const what = timeout.aborted ? 'takes too long' : `does not respond (${(error as Error).message})`;
      const message = `The duchy at ${options.url.host} ${what}.`;
      throw new UploadFailed(message, { kind: 'transient', cause: error });
    });
  } finally {
    await file.close();
  }
}

async function send(
  { url, fulfillment, allowPrivate, onProgress }: UploadOptions,
  file: FileHandle,
  size: number,
  signal: AbortSignal,
): Promise<void> {
  const boundary = `mex-${randomUUID()}`;
  const head = Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="fulfillment"\r\ncontent-type: application/json\r\n\r\n` +
      `${fulfillment}\r\n--${boundary}\r\ncontent-disposition: form-data; name="data"; filename="data"\r\n` +
      'content-type: application/octet-stream\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* body() {
    yield head;
    let sent = 0;
    for await (const piece of file.createReadStream({ autoClose: false, highWaterMark: PIECE_BYTES })) {
      yield piece as Buffer;
      sent += (piece as Buffer).length;
      onProgress?.((100 * sent) / size);
    }
    yield tail;
  }
  const headers = {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(head.length + size + tail.length),
  };
  const response = await post(url, body(), { headers, signal, ...(allowPrivate ? {} : publicOnly(url)) });
  const { statusCode: status = 0 } = response;
  const bytes = await readResponse(response);
  if (status >= 200 && status <= 299) return;
  const after = parseRetryAfter(response.headers['retry-after'] ?? null, Date.now());
  throw failureOf(url, status, bytes, after);
}

/** Resolves to the response, which may arrive before the whole body is sent. */
function post(
  url: URL,
  body: AsyncIterable<Buffer>,
  options: RequestOptions & { signal: AbortSignal },
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    // Use a new connection, because the duchy may be about to close an idle one.
    const sending = request(url, { method: 'POST', agent: false, ...options }, resolve);
    sending.on('error', reject);
    pipeline(Readable.from(body, { objectMode: false }), sending, { signal: options.signal }).catch(reject);
  });
}

async function readResponse(response: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_RESPONSE_BYTES) break;
    chunks.push(chunk);
  }
  response.destroy();
  return Buffer.concat(chunks);
}

function failureOf(
  { host }: URL,
  status: number,
  bytes: Uint8Array,
  retryAfterSeconds: number | undefined,
): UploadFailed {
  const error = errorOf(bytes);
  if (error) {
    const message = `The duchy at ${host} rejects the upload (${error.reason}): ${cut(error.message, 300)}`;
    const kind = isTransient(error) || error.code === 'ABORTED' ? 'transient' : 'rejected';
    return new UploadFailed(message, { kind, cause: error, retryAfterSeconds });
  }
  // The response is from a proxy or another program, so do not quote its text as the duchy's error.
  const passes = status === 408 || status === 429 || status >= 500;
  const message = `The duchy at ${host} responds with the status ${status}.`;
  return new UploadFailed(message, { kind: passes ? 'transient' : 'unexpected', retryAfterSeconds });
}

function errorOf(bytes: Uint8Array): ExchangeError | undefined {
  try {
    return errorFromJson(parseJsonBytes(bytes));
  } catch {
    return undefined;
  }
}
