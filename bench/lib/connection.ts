/**
 * One keep-alive HTTP/1.1 connection on a plain socket, or over TLS. A request costs the generator 14 µs. With
 * node:http it would cost 40 µs, and on two cores this would slow down the measured target.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Target } from './requests.ts';

export interface Received {
  status: number;
  bytes: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
/** The end of a chunked body. These characters cannot occur inside the body, because its JSON is on one line. */
const CHUNKS_END = '\r\n0\r\n\r\n';

export class Connection {
  private readonly target: Target;
  private socket: Socket | undefined;
  private head: Buffer = Buffer.alloc(0);
  /** Remaining bytes of the body: undefined while the head is read, Infinity for a chunked body. */
  private missing: number | undefined;
  /** The most recently received characters of a chunked body, to be compared with CHUNKS_END. */
  private tail = '';
  private received: Received = { status: 0, bytes: 0 };
  private closes = false;
  private settle: { resolve: (received: Received) => void; reject: (error: Error) => void } | undefined;

  constructor(target: Target) {
    this.target = target;
  }

  async open(): Promise<void> {
    const { port, tls = false } = this.target;
    const to = { port, host: '127.0.0.1', noDelay: true };
    // Accept any certificate, because the server's certificate was made for this run and no trust store contains its
    // root.
    const socket = tls ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
    await once(socket, tls ? 'secureConnect' : 'connect');
    socket.on('data', (chunk) => this.read(chunk));
    const lost = (error?: Error) => {
      if (this.socket === socket) this.socket = undefined;
      this.settle?.reject(error ?? new Error('The connection was closed before the response.'));
    };
    socket.on('error', lost);
    socket.on('close', () => lost());
    this.socket = socket;
  }

  /** Sends one request. The caller must wait for the response before the next call. */
  async send(request: Buffer): Promise<Received> {
    // Reopen the connection if the server closed it. The exchange closes a connection after 1,000 requests.
    if (this.socket === undefined) await this.open();
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      this.socket!.write(request);
    });
  }

  close(): void {
    this.settle = undefined;
    this.socket?.destroy();
    this.socket = undefined;
  }

  private read(chunk: Buffer): void {
    if (this.missing === undefined) {
      this.head = this.head.length === 0 ? chunk : Buffer.concat([this.head, chunk]);
      const end = this.head.indexOf(HEAD_END);
      if (end < 0) return;
      const text = this.head.toString('latin1', 0, end + 2);
      const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(text)?.[1];
      const chunked = /\r\ntransfer-encoding: *chunked\r\n/i.test(text);
      if (length === undefined && !chunked) throw new Error(`A response without a length:\n${text}`);
      this.received = { status: Number(text.slice(9, 12)), bytes: 0 };
      this.closes = /\r\nconnection: *close\r\n/i.test(text);
      this.missing = chunked ? Number.POSITIVE_INFINITY : Number(length);
      this.tail = '';
      const body = this.head.subarray(end + HEAD_END.length);
      this.head = Buffer.alloc(0);
      this.readBody(body);
    } else {
      this.readBody(chunk);
    }
  }

  private readBody(chunk: Buffer): void {
    this.received.bytes += chunk.length;
    this.missing! -= chunk.length;
    if (this.missing === Number.POSITIVE_INFINITY) {
      this.tail = (this.tail + chunk.toString('latin1', Math.max(0, chunk.length - CHUNKS_END.length))).slice(
        -CHUNKS_END.length,
      );
      if (this.tail !== CHUNKS_END) return;
    } else if (this.missing! > 0) return;
    this.missing = undefined;
    const { settle } = this;
    this.settle = undefined;
    if (this.closes) this.close();
    settle?.resolve(this.received);
  }
}
