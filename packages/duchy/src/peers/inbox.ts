import { ConsentError } from '@measurement-exchange/consent';
import { opened } from '@measurement-exchange/consent/sealing';
import type { Duchy } from '../computations/context.ts';
import { NotReady, PermanentError } from '../computations/errors.ts';
import { messagesOf, readBlob, readSecrets, type StoredComputation } from '../database/index.ts';
import { messageContext } from './messageContext.ts';

/** Decrypts a message of another duchy in pieces. Its signature and digest were checked when it was received. */
export async function* received(
  { db, name }: Pick<Duchy, 'db' | 'name'>,
  { id }: StoredComputation,
  message: string,
  peer: string,
): AsyncGenerator<Uint8Array> {
  const messages = await messagesOf(db, id);
  const found = messages.find((m) => m.direction === 'IN' && m.stage === message && m.peer === peer);
  if (found === undefined) throw new NotReady('WAITS_FOR_MESSAGE', { stage: message, duchy: peer });
  const { privateKeyset } = await readSecrets(db, id);
  try {
    const context = messageContext({ computation: id, stage: message, sender: peer, recipient: name });
    yield* opened(privateKeyset!, context, readBlob(db, found.blob));
  } catch (error) {
    if (!(error instanceof ConsentError)) throw error;
    throw new PermanentError(
      'PEER_MESSAGE_INVALID',
      { stage: message, duchy: peer },
      { detail: error.message, cause: error },
    );
  }
}
