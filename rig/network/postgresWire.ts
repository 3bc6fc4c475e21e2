/**
 * The part of PostgreSQL's protocol ("Frontend/Backend Protocol" in its manual) that is needed to detect a COMMIT. A
 * client asks for a COMMIT with a Query message, or with an Execute message for a portal that was bound to a parsed
 * COMMIT. The server confirms the COMMIT with a CommandComplete message.
 */

/** One or more whole messages. In a stream that is not parsed, a piece is any part of the stream. */
export interface Piece {
  bytes: Buffer;
  /** To the server: whether the bytes ask for a COMMIT. To the client: whether they confirm a COMMIT. */
  commit: boolean;
}

export type Reader = (chunk: Buffer) => Piece[];

export const readNothing: Reader = (bytes) => [{ bytes, commit: false }];

const SSL_REQUEST = 80877103;
const GSS_REQUEST = 80877104;

/** Returns the parsers of both directions of one connection. */
export function readPostgres(): { toServer: Reader; toClient: Reader } {
  // Set when the bytes are encrypted and cannot be parsed.
  let opaque = false;
  let started = false;
  const names = new CommitNames();
  const untyped = (message: Buffer) => {
    const code = message.readInt32BE(4);
    if (code === SSL_REQUEST || code === GSS_REQUEST) opaque = true;
    else started = true;
    return false;
  };
  return {
    toServer: messages(
      () => opaque,
      () => (started ? 1 : 0),
      (message) => (started ? names.isCommit(message) : untyped(message)),
    ),
    toClient: messages(
      () => opaque,
      () => 1,
      (message) => message[0] === 0x43 && textAt(message, 5) === 'COMMIT',
    ),
  };
}

/**
 * Returns a reader that splits the stream into messages. `typeBytes` is the number of type bytes before the length of a
 * message: 0 for the startup message, and 1 for all later messages.
 */
function messages(
  opaque: () => boolean,
  typeBytes: () => number,
  isCommit: (message: Buffer) => boolean,
): Reader {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const pieces: Piece[] = [];
    let begun = 0;
    let at = 0;
    const flush = (commit: boolean) => {
      if (at > begun) pieces.push({ bytes: rest.subarray(begun, at), commit });
      begun = at;
    };
    while (!opaque() && rest.length >= at + typeBytes() + 4) {
      const end = at + typeBytes() + rest.readInt32BE(at + typeBytes());
      if (rest.length < end) break;
      const commit = isCommit(rest.subarray(at, end));
      // The bytes before a COMMIT form a separate piece.
      if (commit) flush(false);
      at = end;
      if (commit) flush(true);
    }
    if (opaque()) at = rest.length;
    flush(false);
    rest = rest.subarray(begun);
    return pieces;
  };
}

/** Tracks which prepared statements and portals are a COMMIT. */
class CommitNames {
  private readonly prepared = new Set<string>();
  private readonly portals = new Set<string>();

  isCommit(message: Buffer): boolean {
    const type = String.fromCharCode(message[0]!);
    const first = textAt(message, 5);
    const second = () => textAt(message, 5 + Buffer.byteLength(first) + 1);
    if (type === 'Q') return commits(first);
    if (type === 'P') remember(this.prepared, first, commits(second()));
    if (type === 'B') remember(this.portals, first, this.prepared.has(second()));
    return type === 'E' && this.portals.has(first);
  }
}

function remember(names: Set<string>, name: string, commit: boolean): void {
  if (commit) names.add(name);
  else names.delete(name);
}

function commits(sql: string): boolean {
  return /^\s*(COMMIT|END)\s*;?\s*$/i.test(sql);
}

function textAt(message: Buffer, from: number): string {
  const end = message.indexOf(0, from);
  return message.toString('utf8', from, end < 0 ? message.length : end);
}
