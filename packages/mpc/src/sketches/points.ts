/** The curve points that represent registers, keys, and counts. */
import { type Curve, mapToCurve, POINT_BYTES, SCALAR_BYTES } from '../elGamal.ts';

/** The texts that map to two special points: the index of an empty register, and the key of a destroyed register. */
export const NOBODY_INDEX = 'publisher_noise_register_id';
export const DESTROYED_KEY = 'destroyed_register_key';
const UNIT = 'unit_ec_point';

/** Returns n times the unit point for n from 1 to `most`. Counts that are encrypted as these points can be added up. */
export function countPoints(curve: Curve, most: number): Uint8Array<ArrayBuffer> {
  const points = new Uint8Array(most * POINT_BYTES);
  const [batch] = curve.spare;
  const unit = curve.fixedBase(mapToCurve(curve, [UNIT]));
  for (let from = 0; from < most; from += curve.capacity) {
    const count = Math.min(curve.capacity, most - from);
    const scalars = new Uint8Array(count * SCALAR_BYTES);
    const view = new DataView(scalars.buffer);
    for (let i = 0; i < count; i++) view.setUint32((i + 1) * SCALAR_BYTES - 4, from + i + 1);
    curve.multiplyFixed(batch, unit, scalars);
    curve.store(batch, points, count, POINT_BYTES, from * POINT_BYTES);
  }
  return points;
}
