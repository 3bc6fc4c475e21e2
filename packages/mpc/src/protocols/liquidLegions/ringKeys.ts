/** The keys of a computation that one duchy has. */
import { Curve, combineKeys } from '../../sketches.ts';

/** Public keys are compressed points. */
export interface RingKeys {
  secretKey: Uint8Array;
  /** The combined key of all duchies. */
  key: Uint8Array;
  /** The combined key of the duchies that follow this one. The aggregator starts each round, so all duchies follow it. */
  restKey: Uint8Array;
}

/** `publicKeys` must be in the order of the ring, with the aggregator's last. Throws if keys are equal or cancel out. */
export function ringKeys(secretKey: Uint8Array, publicKeys: readonly Uint8Array[], place: number): RingKeys {
  const curve = new Curve(1);
  const key = combineKeys(curve, publicKeys);
  const after = publicKeys.slice(place + 1);
  return { secretKey, key, restKey: after.length > 0 ? combineKeys(curve, after) : key };
}
