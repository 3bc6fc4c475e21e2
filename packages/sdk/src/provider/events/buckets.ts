/** Exports everything that an event source needs to sample people. Event sources import no other privacy code. */
import type { BucketRange } from '@measurement-exchange/mpc/privacy/vidSampling';

export { MAX_VID } from '@measurement-exchange/contract';
export { FARMHASH_K2, FARMHASH_MUL_8 } from '@measurement-exchange/mpc/privacy/farmHash';
export {
  BUCKET_MASK,
  type BucketRange,
  sampleBucket,
  VID_SALT,
} from '@measurement-exchange/mpc/privacy/vidSampling';

/** Returns whether a bucket is in the sample. The hash of a person's VID determines the person's bucket. */
export function inBuckets({ from, to, wrapTo }: BucketRange, bucket: number): boolean {
  return (bucket >= from && bucket < to) || bucket < wrapTo;
}
