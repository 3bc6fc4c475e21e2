/**
 * A test oracle that is independent of the product: the hash that orders the people of a population, computed with big
 * integers.
 */

const K2 = 0x9ae16a3b2f90404fn;
const SALT = 21_858_450n;
const u64 = (value: bigint) => BigInt.asUintN(64, value);
const rotateRight = (word: bigint, by: bigint) => u64((word >> by) | (word << (64n - by)));

/** FarmHash Fingerprint64 over the VID and the salt, both as big-endian int64. The result is a signed number. */
export function vidHash(vid: number): bigint {
  const bytes = new DataView(new ArrayBuffer(16));
  bytes.setBigInt64(0, BigInt(vid));
  bytes.setBigInt64(8, SALT);
  const [first, second] = [bytes.getBigUint64(0, true), bytes.getBigUint64(8, true)];
  const mul = K2 + 32n;
  const a = u64(first + K2);
  const c = u64(rotateRight(second, 37n) * mul + a);
  const d = u64((rotateRight(a, 25n) + second) * mul);
  let x = u64((c ^ d) * mul);
  x ^= x >> 47n;
  let y = u64((d ^ x) * mul);
  y ^= y >> 47n;
  return BigInt.asIntN(64, y * mul);
}

/** Sorts VIDs by their hashes. If two hashes are equal, the smaller VID comes first. */
export function byVidHash(vids: readonly number[]): number[] {
  const hashed = vids.map((vid) => ({ vid, hash: vidHash(vid) }));
  hashed.sort((a, b) => (a.hash === b.hash ? a.vid - b.vid : a.hash < b.hash ? -1 : 1));
  return hashed.map(({ vid }) => vid);
}
