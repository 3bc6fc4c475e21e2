import { ValuesReader } from '@measurement-exchange/mpc/shares/framing';
import { mismatch } from '../../computations/rejections.ts';

/** Yields the data unchanged. Throws if it is not a FrequencyVector with `registerCount` values below `modulus`. */
export async function* asShares(
  data: AsyncIterable<Uint8Array>,
  { registerCount, modulus }: { registerCount: number; modulus: number },
): AsyncGenerator<Uint8Array> {
  const reader = new ValuesReader(modulus, registerCount);
  try {
    for await (const chunk of data) {
      reader.push(chunk);
      yield chunk;
    }
    if (reader.end().count === registerCount) return;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw mismatch(
    'data',
    `must be a FrequencyVector of ${registerCount} values below ${modulus} in one packed field`,
  );
}
