/** What is true of a world, counted in the open, with big integers and sets, and nothing of the product's arithmetic. */
import { vidsOf, type World } from './world.ts';

const K2 = 0x9ae16a3b2f90404fn;
const u64 = (value: bigint) => BigInt.asUintN(64, value);
const rotateRight = (word: bigint, by: bigint) => u64((word >> by) | (word << (64n - by)));

/** FarmHash Fingerprint64 of the VID and the salt as two big-endian int64. */
function hash(vid: number): bigint {
  const bytes = new DataView(new ArrayBuffer(16));
  bytes.setBigInt64(0, BigInt(vid));
  bytes.setBigInt64(8, 21_858_450n);
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

/** The people of the sample. */
export function sampleOf({ ranges, interval }: World): Set<number> {
  const f = Math.fround;
  const hashed = vidsOf(ranges).map((vid) => ({ vid, hash: hash(vid) }));
  const order = hashed.sort((a, b) => (a.hash === b.hash ? a.vid - b.vid : a.hash < b.hash ? -1 : 1));
  const size = order.length;
  const first = Math.trunc(f(f(size) * f(interval.start)));
  const last = Math.trunc(f(f(size) * f(f(interval.start) + f(interval.width)))) - 1;
  const isSampled = (index: number) =>
    (index >= first && index <= Math.min(last, size - 1)) || (last >= size && index <= last - size);
  return new Set(order.filter((_, index) => isSampled(index)).map(({ vid }) => vid));
}

/** People of the sample by how often all providers together reached them, each provider at most `cap` times. */
export function frequenciesOf(world: World, cap: number): Map<number, number> {
  const sample = sampleOf(world);
  const people = new Map<number, number>();
  for (const events of world.events) {
    for (const [vid, times] of events) {
      if (sample.has(vid) && times > 0) people.set(vid, (people.get(vid) ?? 0) + Math.min(times, cap));
    }
  }
  return people;
}

export function truth(world: World): { reach: number; relativeFrequencyDistribution?: Map<number, number> } {
  const cap = world.spec.measurementType === 'REACH' ? 1 : world.spec.maximumFrequency;
  const people = frequenciesOf(world, cap);
  const reach = Math.trunc(people.size / Math.fround(world.interval.width));
  if (world.spec.measurementType === 'REACH') return { reach };
  const counts = new Map<number, number>();
  for (const frequency of [...people.values()].sort((a, b) => a - b)) {
    const shown = Math.min(frequency, cap);
    counts.set(shown, (counts.get(shown) ?? 0) + 1);
  }
  const shares = [...counts].map(([frequency, count]) => [frequency, count / people.size] as const);
  return { reach, relativeFrequencyDistribution: new Map(shares) };
}
