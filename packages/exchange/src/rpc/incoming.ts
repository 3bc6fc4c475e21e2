import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { parseTimeout } from '@connectrpc/connect/protocol-grpc';
import { newRequestId } from '@measurement-exchange/server/app';
import type { Authenticated, Progress } from '../serving/index.ts';

/** The client's side of a connection. */
export interface Peer {
  readonly address: string;
  /** The client certificate, in DER. */
  readonly x509Der: Uint8Array | undefined;
}

/** An RPC that a client sends on an HTTP/2 stream. */
export class Incoming {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly peer: Peer;
  readonly progress: Progress = { requestId: newRequestId() };
  /** Set after authentication. */
  caller?: Authenticated;
  private gone: AbortController | undefined;
  /** The time when the client stops waiting, by `performance.now()`. Undefined if the client set no limit. */
  private readonly endTime: number | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, peer: Peer) {
    this.stream = stream;
    this.headers = headers;
    this.peer = peer;
    const { timeoutMs } = parseTimeout(this.header('grpc-timeout') ?? null, Number.POSITIVE_INFINITY);
    if (timeoutMs !== undefined) this.endTime = performance.now() + timeoutMs;
  }

  header(name: string): string | undefined {
    return this.headers[name] as string | undefined;
  }

  /** The time until the client stops waiting, in milliseconds. Undefined if the client set no limit. */
  get leftMs(): number | undefined {
    return this.endTime === undefined ? undefined : this.endTime - performance.now();
  }

  /** Returns whether the stream is closed, for example because the client disconnected or canceled. */
  get isGone(): boolean {
    return this.stream.closed;
  }

  /**
   * A signal that is aborted when the stream closes, for example because the client disconnected or canceled. The
   * signal is created on first use: few RPCs need it, and each abort takes as much time as reading a small message.
   */
  get signal(): AbortSignal {
    if (this.gone === undefined) {
      const gone = new AbortController();
      if (this.isGone) gone.abort();
      else this.stream.once('close', () => gone.abort());
      this.gone = gone;
    }
    return this.gone.signal;
  }
}
