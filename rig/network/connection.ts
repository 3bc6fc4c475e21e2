/** One connection through the proxy: two sockets, two pipes, and at most one fault at a time. */
import type { Socket } from 'node:net';
import type { Fault } from './faults.ts';
import { Pipe } from './pipe.ts';
import { type Piece, readNothing, readPostgres } from './postgresWire.ts';

export interface ConnectionOptions {
  postgres: boolean;
  /** Returns a random number from 0 to 1. */
  chance: () => number;
  onDrop: () => void;
  onClose: () => void;
}

export class Connection {
  fault: Fault | undefined;
  isCut = false;
  private readonly client: Socket;
  private readonly server: Socket;
  private readonly options: ConnectionOptions;
  private changing = new AbortController();
  private left = Number.POSITIVE_INFINITY;
  private resetTimer: NodeJS.Timeout | undefined;
  /**
   * Set when one end of the connection is gone. `over` is true when the fault has ended. `lost` counts the bytes that
   * the other end has sent during the fault.
   */
  private half: { over: boolean; lost: number } | undefined;

  constructor(client: Socket, server: Socket, options: ConnectionOptions) {
    this.client = client;
    this.server = server;
    this.options = options;
    const { toServer, toClient } = options.postgres
      ? readPostgres()
      : { toServer: readNothing, toClient: readNothing };
    new Pipe(this, client, server, toServer, 'dropBeforeCommit');
    new Pipe(this, server, client, toClient, 'dropAfterCommit');
    for (const socket of [client, server]) {
      socket.on('error', () => {});
      socket.on('close', (hadError) => this.closed(hadError));
    }
  }

  /** A signal that is aborted when the fault changes. */
  get change(): AbortSignal {
    return this.changing.signal;
  }

  impose(fault: Fault | undefined): void {
    const before = this.fault;
    this.fault = fault;
    clearTimeout(this.resetTimer);
    this.left = fault?.kind === 'limitData' ? fault.bytes : Number.POSITIVE_INFINITY;
    if (fault?.kind === 'down') this.cut();
    if (fault?.kind === 'reset') this.resetTimer = setTimeout(() => this.cut(), fault.ms);
    if (fault?.kind === 'halfOpen') this.loseHalf(fault.gone);
    if (before?.kind === 'halfOpen') this.remember(before.gone);
    this.changing.abort();
    this.changing = new AbortController();
  }

  /**
   * Returns whether the received bytes must be discarded. If one end is gone, counts the bytes that the other end sends
   * during the fault. Cuts the connection if the other end closes it, or sends bytes after the fault.
   */
  swallows(piece: Piece | 'end'): boolean {
    if (this.half === undefined) return this.isCut;
    if (piece === 'end' || this.half.over) this.cut();
    else this.half.lost += piece.bytes.length;
    return true;
  }

  jitter(): number {
    return this.fault?.kind === 'latency' ? this.fault.jitterMs * (2 * this.options.chance() - 1) : 0;
  }

  /** The number of bytes that may still pass. */
  allowance(): number {
    return this.left;
  }

  passed(bytes: number): void {
    this.left -= bytes;
    if (this.left > 0) return;
    this.isCut = true;
    // Close without a reset, so that the bytes that passed are delivered.
    this.client.destroySoon();
    this.server.destroySoon();
  }

  drop(): void {
    this.options.onDrop();
    this.cut();
  }

  /** Ends both sockets with a reset if they support it. */
  cut(): void {
    this.isCut = true;
    for (const socket of [this.client, this.server]) reset(socket);
  }

  private loseHalf(gone: 'client' | 'server'): void {
    this.half = { over: false, lost: 0 };
    reset(gone === 'client' ? this.client : this.server);
  }

  /**
   * Acts like the restarted host of the lost end, which no longer knows the connection. Such a host resets the
   * connection when data arrives. If the lost end is the client, this function always resets the connection, because a
   * server that only waits sends TCP keepalives.
   */
  private remember(gone: 'client' | 'server'): void {
    if (this.half === undefined) return;
    this.half.over = true;
    if (this.half.lost > 0 || gone === 'client') this.cut();
  }

  private closed(hadError: boolean): void {
    const { client, server } = this;
    const both = client.destroyed && server.destroyed;
    if (!both) {
      // Forward a reset as a reset. After an orderly end of one direction, the other direction can continue.
      const properly = !hadError && (client.readableEnded || server.readableEnded);
      if (!this.isCut && this.half === undefined && !properly) this.cut();
      return;
    }
    clearTimeout(this.resetTimer);
    this.isCut = true;
    this.changing.abort();
    this.options.onClose();
  }
}

function reset(socket: Socket): void {
  if (socket.destroyed) return;
  // Destroy a Unix socket normally, because it has no reset.
  if (socket.remoteAddress === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
