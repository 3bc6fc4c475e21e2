import { decrypt } from '@measurement-exchange/consent';
import { requireConsent } from '../certificates.ts';
import type { Duchy } from '../context.ts';
import { messagesOf, readBlob, readSecrets, type StoredComputation } from '../database/index.ts';
import { NotReady } from '../errors.ts';

/** What another duchy sent, decrypted. Its signature and its digest were checked when it came in. */
export async function received(
  { db }: Pick<Duchy, 'db'>,
  { id }: StoredComputation,
  message: string,
  peer: string,
): Promise<Uint8Array> {
  const messages = await messagesOf(db, id);
  const found = messages.find((m) => m.direction === 'IN' && m.stage === message && m.peer === peer);
  if (found === undefined) throw new NotReady(`${message} of ${peer} is missing.`);
  const { privateKeyset } = await readSecrets(db, id);
  const ciphertext = Buffer.concat(await Array.fromAsync(readBlob(db, found.blob)));
  return requireConsent(`${message} of ${peer}`, decrypt(privateKeyset!, ciphertext));
}
