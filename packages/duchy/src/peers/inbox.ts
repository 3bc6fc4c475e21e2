import { ConsentError } from '@measurement-exchange/consent';
import { opened } from '@measurement-exchange/consent/sealing';
import type { Duchy } from '../computations/context.ts';
import { NotReady, PermanentError } from '../computations/errors.ts';
import { findMessage, readBlob, readSecrets, type StoredComputation } from '../database/index.ts';
import { messageContext } from './messageContext.ts';

/**
 * Decrypts a message from another duchy, chunk by chunk. The signature and digest were checked when the message was
 * received.
 */
export async function* received(
  { db, name }: Pick<Duchy, 'db' | 'name'>,
  { id }: StoredComputation,
  message: string,
  peer: string,
): AsyncGenerator<Uint8Array> {
  const found = await findMessage(db, id, { direction: 'IN', stage: message, peer });
  if (found === undefined) throw new NotReady('WAITS_FOR_MESSAGE', { stage: message, duchy: peer });
  const { privateKeyset } = await readSecrets(db, id);
  try {
    const context = messageContext({ computation: id, stage: message, sender: peer, recipient: name });
    yield* opened(privateKeyset!, context, readBlob(db, found.blob));
  } catch (error) {
    if (!(error instanceof ConsentError)) throw error;
    const options = { detail: error.message, cause: error };
    throw new PermanentError('PEER_MESSAGE_INVALID', { stage: message, duchy: peer }, options);
  }
}
