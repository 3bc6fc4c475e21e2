import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Peer } from './incoming.ts';

/** A connection without a frame for this time is closed. Clients then reconnect for their next RPC. */
const IDLE_MS = 300_000;
/** When the server closes a connection, its running RPCs get this much time to finish. */
const DRAIN_MS = 8_000;

/** The open connections, each with the client's address and certificate. */
export class Connections {
  private readonly peers = new Map<ServerHttp2Session, Peer>();

  add(session: ServerHttp2Session): void {
    const socket = session.socket as TLSSocket;
    this.peers.set(session, {
      address: socket.remoteAddress ?? '',
      x509Der: socket.getPeerX509Certificate?.()?.raw,
    });
    session.setTimeout(IDLE_MS, () => this.leave(session));
    session.on('error', () => {});
    session.once('close', () => this.peers.delete(session));
  }

  /** Returns undefined if the stream's connection has closed. */
  peerOf({ session }: ServerHttp2Stream): Peer | undefined {
    return this.peers.get(session as ServerHttp2Session);
  }

  leaveAll(): void {
    for (const session of this.peers.keys()) this.leave(session);
  }

  /** Accepts no more streams, and closes the connection when its streams have ended. */
  private leave(session: ServerHttp2Session): void {
    if (session.closed) return;
    const force = setTimeout(() => session.destroy(), DRAIN_MS);
    session.once('close', () => clearTimeout(force));
    session.close();
  }
}
