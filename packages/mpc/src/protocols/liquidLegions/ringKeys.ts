/** The keys that one duchy has for a computation. */
import { Curve, combineKeys } from '../../sketches.ts';

/** `key` and `restKey` are public keys in the form of compressed points. */
export interface RingKeys {
  secretKey: Uint8Array;
  /** The combined key of all duchies. */
  key: Uint8Array;
  /**
   * The combined key of the duchies that act after this duchy in a round. The aggregator starts each round and also
   * acts last in the round, so its `restKey` is the combined key of all duchies.
   */
  restKey: Uint8Array;
}

/**
 * Returns a duchy's keys. `publicKeys` must be in ring order, with the aggregator's key last. `place` is the duchy's
 * index in the ring. Throws if keys are equal or cancel out.
 */
export function ringKeys(secretKey: Uint8Array, publicKeys: readonly Uint8Array[], place: number): RingKeys {
  const curve = new Curve(1);
  const key = combineKeys(curve, publicKeys);
  const after = publicKeys.slice(place + 1);
  return { secretKey, key, restKey: after.length > 0 ? combineKeys(curve, after) : key };
}
