import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Peer } from './incoming.ts';

/** A connection that carries no frames for this long is closed. Its client then reconnects for the next RPC. */
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

  /** Returns the address and certificate of the stream's client, or undefined if the connection has closed. */
  peerOf({ session }: ServerHttp2Stream): Peer | undefined {
    return this.peers.get(session as ServerHttp2Session);
  }

  leaveAll(): void {
    for (const session of this.peers.keys()) this.leave(session);
  }

  /** Accepts no more streams on the connection, and closes it when its streams have ended or DRAIN_MS have passed. */
  private leave(session: ServerHttp2Session): void {
    if (session.closed) return;
    const force = setTimeout(() => session.destroy(), DRAIN_MS);
    session.once('close', () => clearTimeout(force));
    session.close();
  }
}
