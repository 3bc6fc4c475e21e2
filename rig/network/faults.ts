/** Faults that a network inflicts on a connection. The first eight are toxiproxy's. */
export type Fault =
  | { kind: 'latency'; ms: number; jitterMs: number }
  | { kind: 'bandwidth'; bytesPerSecond: number }
  | { kind: 'slowClose'; ms: number }
  /** Nothing passes and nothing is closed; when it is over everything that was held arrives. */
  | { kind: 'blackHole' }
  /** A connection is reset so long after the fault, or its own beginning, whichever is later. */
  | { kind: 'reset'; ms: number }
  | { kind: 'slicer'; bytes: number; ms: number }
  /** After so many bytes in both directions together it is closed. */
  | { kind: 'limitData'; bytes: number }
  /** Connections are cut and new ones refused. */
  | { kind: 'down' }
  /**
   * One end is gone and the other is not told: what it sends is swallowed while the fault lasts, and answered with a
   * reset afterwards, as by a host that came back and remembers nothing. New connections are whole.
   */
  | { kind: 'halfOpen'; gone: 'client' | 'server' }
  /** PostgreSQL only. The COMMIT never arrives. */
  | { kind: 'dropBeforeCommit'; chance: () => boolean }
  /** PostgreSQL only. The COMMIT is done, and its response never arrives. */
  | { kind: 'dropAfterCommit'; chance: () => boolean };
