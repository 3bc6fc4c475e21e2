import type { Duchy } from '../computations/context.ts';
import { follow } from '../computations/follow.ts';
import { readComputation, type StoredComputation } from '../database/index.ts';
import { verifiedPeerKey } from './verifiedKey.ts';

/**
 * Returns another duchy's signed keyset, which encrypts messages to that duchy. Messages are encrypted, because the
 * exchange provides the duchies' addresses and could redirect messages to itself.
 */
export async function peerKey(duchy: Duchy, computation: StoredComputation, peer: string) {
  return verifiedPeerKey(duchy, await withParameters(duchy, computation, [peer]), peer);
}

/**
 * Returns the computation. If a key of one of `duchies` is missing, first updates the stored computation from the
 * exchange. A key may still be missing after this update.
 */
export async function withParameters(
  duchy: Duchy,
  computation: StoredComputation,
  duchies: readonly string[],
): Promise<StoredComputation> {
  const { participants, name } = computation.view;
  if (duchies.every((each) => participants[each]?.parameters !== undefined)) return computation;
  await follow(duchy, await duchy.client.getComputation({ name: name! }));
  // Return the stored view instead of the fetched view. `follow` stores a view only if all accepted values and known
  // keys are unchanged.
  return (await readComputation(duchy.db, computation.id)) ?? computation;
}
