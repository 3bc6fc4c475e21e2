/** Sends raw bytes on a socket, for requests that fetch would correct or reject. */
import { connect } from 'node:net';
import type { Reply } from './http.ts';

export interface RawReply extends Reply {
  /** Whether the exchange ended the connection. */
  closed: boolean;
  /** Milliseconds from the start of the connection to the end of the reply. */
  ms: number;
  /** The number of bytes written to the socket. */
  sent: number;
}

export interface RawOptions {
  /**
   * Bytes to send after the request. `flood` repeats a piece as fast as possible until at least `bytes` bytes are sent,
   * including the request. `drip` sends a piece every `everyMs` milliseconds.
   */
  flood?: { piece: Buffer; bytes: number };
  drip?: { piece: string; everyMs: number };
  /** The source address of the connection. All of 127.0.0.0/8 is this machine. */
  localAddress?: string;
  patienceMs?: number;
}

/**
 * Builds a request as bytes. Adds a Content-Length for `body`, unless `headers` has a Content-Length or
 * Transfer-Encoding.
 */
export function bytesOf(
  method: string,
  target: string,
  options: { token?: string; headers?: string[]; body?: string | Buffer } = {},
): Buffer {
  const { token, headers = [], body } = options;
  const framed = headers.some((header) => /^(content-length|transfer-encoding):/i.test(header));
  const head = [
    `${method} ${target} HTTP/1.1`,
    'Host: exchange',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...headers,
    ...(body === undefined || framed ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body ?? '')]);
}

/**
 * Sends a request, and returns the first reply other than 100 Continue. Status 0 means that no complete reply arrived
 * before the connection was closed or `patienceMs` passed.
 */
export function send(url: string, request: string | Buffer, options: RawOptions = {}): Promise<RawReply> {
  const { hostname, port } = new URL(url);
  const { flood, drip, localAddress, patienceMs = 30_000 } = options;
  const toHead = request.toString('latin1').startsWith('HEAD ');
  return new Promise((resolve) => {
    const began = performance.now();
    const socket = connect({ host: hostname, port: Number(port), ...(localAddress && { localAddress }) });
    let received = Buffer.alloc(0);
    let sent = 0;
    const timers: NodeJS.Timeout[] = [];
    const finish = (closed: boolean) => {
      for (const timer of timers) clearTimeout(timer);
      socket.removeAllListeners('close').destroy();
      resolve({ ...replyIn(received, toHead), closed, sent, ms: performance.now() - began });
    };
    const write = (bytes: string | Buffer) => {
      sent += bytes.length;
      return socket.writable && socket.write(bytes);
    };
    const pour = () => {
      while (flood !== undefined && sent < flood.bytes && write(flood.piece));
    };
    timers.push(setTimeout(() => finish(false), patienceMs));
    if (drip !== undefined) timers.push(setInterval(() => write(drip.piece), drip.everyMs));
    socket.on('drain', pour);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const { status, headers } = replyIn(received, toHead);
      // If the reply announces `connection: close`, wait until the server closes the connection.
      if (status > 0 && headers.get('connection') !== 'close') finish(false);
    });
    socket.on('error', () => {}); // A `close` event follows, and finishes the request.
    socket.on('close', () => finish(true));
    write(request);
    pour();
  });
}

function replyIn(bytes: Buffer, toHead: boolean): Reply {
  const nothing: Reply = { status: 0, headers: new Headers(), text: '', json: undefined };
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return nothing;
  const [statusLine, ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(statusLine!.split(' ')[1]);
  if (status === 100) return replyIn(bytes.subarray(end + 4), toHead);
  const headers = new Headers(lines.map((line) => line.split(/:\s*(.*)/).slice(0, 2) as [string, string]));
  const length = toHead ? 0 : Number(headers.get('content-length'));
  const body = bytes.subarray(end + 4, end + 4 + length);
  if (body.length < length) return nothing;
  const text = body.toString();
  const isJson = text !== '' && headers.get('content-type')?.startsWith('application/json');
  return { status, headers, text, json: isJson ? JSON.parse(text) : undefined };
}
