import type { Duchy } from '../computations/context.ts';
import { follow } from '../computations/follow.ts';
import { readComputation, type StoredComputation } from '../database/index.ts';
import { verifiedPeerKey } from './verifiedKey.ts';

/**
 * Returns the keyset that another duchy created and signed for this computation. Messages to that duchy are encrypted,
 * because the exchange provides its address and must not be able to read the messages.
 */
export async function peerKey(duchy: Duchy, computation: StoredComputation, peer: string) {
  return verifiedPeerKey(duchy, await withParameters(duchy, computation, [peer]), peer);
}

/** Returns the stored computation, refreshed from the exchange if any of these duchies' parameters are missing. */
export async function withParameters(
  duchy: Duchy,
  computation: StoredComputation,
  duchies: readonly string[],
): Promise<StoredComputation> {
  const { participants, name } = computation.view;
  if (duchies.every((each) => participants[each]?.parameters !== undefined)) return computation;
  await follow(duchy, await duchy.client.getComputation({ name: name! }));
  // Use the stored view, not the new one, because `follow` rejects changes to accepted values and known keys.
  return (await readComputation(duchy.db, computation.id)) ?? computation;
}
