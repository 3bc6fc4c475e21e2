/**
 * Messages between duchies, and the result that the aggregator sends to the exchange. An outgoing message is stored
 * before it is sent, so that every retry sends the same bytes.
 */
import { completeBlob } from './blobs.ts';
import { camelCase, type Queryable, sql } from './db.ts';

export interface Message {
  computation: string;
  /** The message's name in the stage table of the protocol, such as `SETUP_PHASE_INPUT`. */
  stage: string;
  direction: 'IN' | 'OUT';
  /** The sender of an incoming message, or the recipient of an outgoing one: a duchy's name, or `exchange`. */
  peer: string;
  certificate: string;
  /** A serialized SignedMessage that contains a StageMessage, or null for a message to the exchange. */
  signedMessage: Uint8Array | null;
  blob: string;
}

export interface StoredMessage extends Message {
  createTime: Date;
  acknowledgedTime: Date | null;
}

const INSERT = sql(
  'insertMessage',
  `INSERT INTO messages (computation, stage, direction, peer, certificate, signed_message, blob)
   SELECT id, $2, $3, $4, $5, $6, $7 FROM computations WHERE id = $1 AND outcome IS NULL FOR NO KEY UPDATE
   ON CONFLICT (computation, stage, direction, peer) DO NOTHING RETURNING stage`,
);

/** Stores a message and completes its blob. Returns false if the computation has ended or already has the message. */
export async function storeMessage(tx: Queryable, message: Message): Promise<boolean> {
  const { computation, stage, direction, peer, certificate, signedMessage, blob } = message;
  const values = [computation, stage, direction, peer, certificate, signedMessage, blob];
  if ((await tx.query(INSERT, values)).length !== 1) return false;
  await completeBlob(tx, blob, computation);
  return true;
}

const ALL = sql('messagesOf', 'SELECT * FROM messages WHERE computation = $1 ORDER BY create_time');
const ACKNOWLEDGE = sql(
  'acknowledge',
  `UPDATE messages SET acknowledged_time = now()
   WHERE computation = $1 AND stage = $2 AND direction = 'OUT' AND peer = $3 AND acknowledged_time IS NULL`,
);

export async function messagesOf(db: Queryable, computation: string): Promise<StoredMessage[]> {
  return (await db.query(ALL, [computation])).map((row) => camelCase<StoredMessage>(row));
}

export async function findMessage(
  db: Queryable,
  computation: string,
  key: Pick<Message, 'direction' | 'stage' | 'peer'>,
): Promise<StoredMessage | undefined> {
  const messages = await messagesOf(db, computation);
  return messages.find((m) => m.direction === key.direction && m.stage === key.stage && m.peer === key.peer);
}

export async function acknowledge(
  db: Queryable,
  { computation, stage, peer }: Pick<Message, 'computation' | 'stage' | 'peer'>,
): Promise<void> {
  await db.query(ACKNOWLEDGE, [computation, stage, peer]);
}
