import type { Duchy } from '../computations/context.ts';
import { follow } from '../computations/follow.ts';
import { readComputation, type StoredComputation } from '../database/index.ts';
import { type PeerKey, verifiedPeerKey } from './verifiedKey.ts';

/**
 * The keyset that another duchy made for this computation and signed. Messages are encrypted for it, because the exchange
 * names the address of the duchy and must not be able to read them.
 */
export async function peerKey(duchy: Duchy, computation: StoredComputation, peer: string): Promise<PeerKey> {
  return verifiedPeerKey(duchy, await withParameters(duchy, computation, [peer]), peer);
}

/** Returns the stored computation; reads it from the exchange again if one of these duchies has no parameters in it. */
export async function withParameters(
  duchy: Duchy,
  computation: StoredComputation,
  duchies: readonly string[],
): Promise<StoredComputation> {
  const { participants, name } = computation.view;
  if (duchies.every((each) => participants[each]?.parameters !== undefined)) return computation;
  await follow(duchy, await duchy.client.getComputation({ name: name! }));
  // Not the view that was just read: accepted values and known keys must not change.
  return (await readComputation(duchy.db, computation.id)) ?? computation;
}
