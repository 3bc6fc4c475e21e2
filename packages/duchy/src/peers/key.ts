import type { Duchy } from '../computations/context.ts';
import { follow } from '../computations/follow.ts';
import { readComputation, type StoredComputation } from '../database/index.ts';
import { verifiedPeerKey } from './verifiedKey.ts';

/**
 * Returns the keyset for encrypting messages to another duchy, which that duchy created and signed for this computation.
 * The messages are encrypted because the exchange provides the duchy's address, and could redirect them to itself.
 */
export async function peerKey(duchy: Duchy, computation: StoredComputation, peer: string) {
  return verifiedPeerKey(duchy, await withParameters(duchy, computation, [peer]), peer);
}

/**
 * Returns the stored computation. First updates it from the exchange if any of these duchies has not published its keys.
 */
export async function withParameters(
  duchy: Duchy,
  computation: StoredComputation,
  duchies: readonly string[],
): Promise<StoredComputation> {
  const { participants, name } = computation.view;
  if (duchies.every((each) => participants[each]?.parameters !== undefined)) return computation;
  await follow(duchy, await duchy.client.getComputation({ name: name! }));
  // Read the stored view instead of using the new one, because `follow` rejects changes to accepted values and known keys.
  return (await readComputation(duchy.db, computation.id)) ?? computation;
}
