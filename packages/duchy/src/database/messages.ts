/** Messages between duchies. A message to another duchy is stored first, so that every retry sends the same bytes. */
import { completeBlob } from './blobs.ts';
import { camelCase, type Queryable, sql } from './db.ts';

export interface Message {
  computation: string;
  /** The name of the message in the protocol. */
  stage: string;
  direction: 'IN' | 'OUT';
  /** The sender or receiver: a duchy, or `exchange`. */
  peer: string;
  /** The certificate of the key that signed it. */
  certificate: string;
  /** A serialized SignedMessage of a StageMessage; null for the exchange. */
  signedMessage: Uint8Array | null;
  blob: string;
}

export interface StoredMessage extends Message {
  createTime: Date;
  /** When the receiver of an outgoing message confirmed it. */
  acknowledgedTime: Date | null;
}

const INSERT = sql(
  'insertMessage',
  `INSERT INTO messages (computation, stage, direction, peer, certificate, signed_message, blob)
   SELECT id, $2, $3, $4, $5, $6, $7 FROM computations WHERE id = $1 AND outcome IS NULL FOR NO KEY UPDATE
   ON CONFLICT (computation, stage, direction, peer) DO NOTHING RETURNING stage`,
);

/** Completes its blob. Returns false where this stage and peer have a message, or the computation has ended. */
export async function storeMessage(tx: Queryable, message: Message): Promise<boolean> {
  const { computation, stage, direction, peer, certificate, signedMessage, blob } = message;
  const values = [computation, stage, direction, peer, certificate, signedMessage, blob];
  if ((await tx.query(INSERT, values)).length !== 1) return false;
  await completeBlob(tx, blob, computation);
  return true;
}

const OF_COMPUTATION = sql(
  'messagesOf',
  'SELECT * FROM messages WHERE computation = $1 ORDER BY create_time',
);
const ACKNOWLEDGE = sql(
  'acknowledge',
  `UPDATE messages SET acknowledged_time = now()
   WHERE computation = $1 AND stage = $2 AND direction = 'OUT' AND peer = $3 AND acknowledged_time IS NULL`,
);

/** The oldest first. */
export async function messagesOf(db: Queryable, computation: string): Promise<StoredMessage[]> {
  return (await db.query(OF_COMPUTATION, [computation])).map((row) => camelCase<StoredMessage>(row));
}

export async function acknowledge(
  db: Queryable,
  { computation, stage, peer }: Pick<Message, 'computation' | 'stage' | 'peer'>,
): Promise<void> {
  await db.query(ACKNOWLEDGE, [computation, stage, peer]);
}
