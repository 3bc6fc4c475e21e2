import { unpackEncryptionPublicKey } from '@measurement-exchange/consent';
import type { Duchy } from '../context.ts';
import type { StoredComputation } from '../database/index.ts';
import { follow } from '../herald/follow.ts';
import { verifiedKey } from './verifiedKey.ts';

/**
 * The keyset that another duchy made for this computation and signed. What is sent is encrypted for it: the address of
 * the duchy comes from the exchange, which must not be able to read what it could send elsewhere.
 */
export async function peerKeyset(
  duchy: Duchy,
  computation: StoredComputation,
  peer: string,
): Promise<Uint8Array> {
  const fresh = await withParameters(duchy, computation, [peer]);
  return verifiedKey(duchy, fresh, peer, 'publicKey', unpackEncryptionPublicKey);
}

/** The computation as it is stored, or, where one of these has published nothing in it, as the exchange has it now. */
export async function withParameters(
  duchy: Duchy,
  computation: StoredComputation,
  duchies: readonly string[],
): Promise<StoredComputation> {
  const { participants, name } = computation.view;
  if (duchies.every((each) => participants[each]?.parameters !== undefined)) return computation;
  const view = await duchy.client.getComputation({ name: name! });
  await follow(duchy, view);
  return { ...computation, view };
}
