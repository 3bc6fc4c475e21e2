import type { Duchy } from '../computations/context.ts';
import { follow } from '../computations/follow.ts';
import { readComputation, type StoredComputation } from '../database/index.ts';
import { type PeerKey, verifiedPeerKey } from './verifiedKey.ts';

/**
 * The keyset that another duchy made for this computation and signed. What is sent is encrypted for it: the address of
 * the duchy comes from the exchange, which must not be able to read what it could send elsewhere.
 */
export async function peerKey(duchy: Duchy, computation: StoredComputation, peer: string): Promise<PeerKey> {
  return verifiedPeerKey(duchy, await withParameters(duchy, computation, [peer]), peer);
}

/** The computation as it is stored; where one of these has published nothing in it, after another look at the exchange. */
export async function withParameters(
  duchy: Duchy,
  computation: StoredComputation,
  duchies: readonly string[],
): Promise<StoredComputation> {
  const { participants, name } = computation.view;
  if (duchies.every((each) => participants[each]?.parameters !== undefined)) return computation;
  await follow(duchy, await duchy.client.getComputation({ name: name! }));
  // Not the view that was just read: what was accepted stays, and keys that were seen once.
  return (await readComputation(duchy.db, computation.id)) ?? computation;
}
