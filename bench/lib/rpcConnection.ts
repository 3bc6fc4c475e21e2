/**
 * One HTTP/2 connection over TLS that sends RPCs as bytes. A generated client would use more processor time than the
 * measured server.
 */
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import type { Received } from './connection.ts';

/** The size of the gRPC envelope: one byte with a flag, and the message length in four bytes. */
const ENVELOPE_BYTES = 5;
/** The request header that tells the bare handler the number of the item. The exchange ignores it. */
export const ITEM = 'x-item';

export interface Rpc {
  /** For example `/wfa.measurement.api.v2alpha.Measurements/GetMeasurement`. */
  path: string;
  headers: Record<string, string>;
  /** The serialized request message. */
  message: Uint8Array;
}

export interface RpcReceived extends Received {
  message: Uint8Array;
}

export class RpcConnection {
  private readonly session: ClientHttp2Session;

  private constructor(session: ClientHttp2Session) {
    this.session = session;
  }

  static async open(port: number): Promise<RpcConnection> {
    // Accept any certificate, because the server's certificate was made for this run and no trust store contains its
    // root.
    const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    await once(session, 'connect');
    return new RpcConnection(session);
  }

  /** Sends one RPC. The status of the result is 200 for the gRPC status OK, and otherwise 600 plus the gRPC status. */
  send({ path, headers, message }: Rpc): Promise<RpcReceived> {
    return new Promise((resolve, reject) => {
      const stream = this.session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc+proto',
        te: 'trailers',
        ...headers,
      });
      const chunks: Buffer[] = [];
      let status = Number.NaN;
      const read = (received: Record<string, unknown>) => {
        if (received['grpc-status'] !== undefined) status = Number(received['grpc-status']);
      };
      stream.on('response', read).on('trailers', read).on('error', reject);
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const body = Buffer.concat(chunks);
        const code = status === 0 ? 200 : 600 + status;
        resolve({ status: code, bytes: body.length, message: body.subarray(ENVELOPE_BYTES) });
      });
      stream.end(enveloped(message));
    });
  }

  close(): void {
    this.session.close();
  }
}

function enveloped(message: Uint8Array): Buffer {
  const bytes = Buffer.alloc(ENVELOPE_BYTES + message.length);
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, ENVELOPE_BYTES);
  return bytes;
}
