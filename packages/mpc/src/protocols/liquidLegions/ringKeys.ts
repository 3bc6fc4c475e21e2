/** The keys of a computation, as one duchy has them. */
import { Curve, combineKeys } from '../../sketches.ts';

/** Public keys are compressed points. */
export interface RingKeys {
  secretKey: Uint8Array;
  /** The combined key of all duchies. */
  key: Uint8Array;
  /** The combined key of the duchies after this one; for the aggregator, where a round starts, that of all duchies. */
  restKey: Uint8Array;
}

/** `publicKeys` in the order of the ring, the aggregator's last. Throws where keys are repeated or cancel out. */
export function ringKeys(secretKey: Uint8Array, publicKeys: readonly Uint8Array[], place: number): RingKeys {
  const curve = new Curve(1);
  const key = combineKeys(curve, publicKeys);
  const after = publicKeys.slice(place + 1);
  return { secretKey, key, restKey: after.length > 0 ? combineKeys(curve, after) : key };
}
