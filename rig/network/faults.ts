/** Network faults on a connection. The first eight are those of toxiproxy. */
export type Fault =
  | { kind: 'latency'; ms: number; jitterMs: number }
  | { kind: 'bandwidth'; bytesPerSecond: number }
  | { kind: 'slowClose'; ms: number }
  /** No bytes pass and the connection stays open. When the fault ends, the held bytes are delivered. */
  | { kind: 'blackHole' }
  /** A connection is reset this long after the start of the fault or of the connection, whichever is later. */
  | { kind: 'reset'; ms: number }
  | { kind: 'slicer'; bytes: number; ms: number }
  /** The connection is closed after this many bytes in both directions together. */
  | { kind: 'limitData'; bytes: number }
  /** Connections are cut and new connections are refused. */
  | { kind: 'down' }
  /**
   * One end is gone and the other end is not notified. Bytes from the other end are discarded while the fault lasts.
   * When the fault ends, the connection is reset if bytes were discarded or if the client is gone. If not, the
   * connection is reset when more bytes arrive. A restarted host resets connections in the same way. New connections
   * work.
   */
  | { kind: 'halfOpen'; gone: 'client' | 'server' }
  /** PostgreSQL only. The COMMIT does not reach the server. */
  | { kind: 'dropBeforeCommit'; chance: () => boolean }
  /** PostgreSQL only. The server completes the COMMIT, but its response does not arrive. */
  | { kind: 'dropAfterCommit'; chance: () => boolean };
