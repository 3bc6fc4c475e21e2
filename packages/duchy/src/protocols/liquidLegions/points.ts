/** Uses the thread pool to check curve points while they are being received. */
import { POINT_BYTES } from '@measurement-exchange/mpc/elGamal';
import { LiquidLegionsError } from '@measurement-exchange/mpc/protocols/liquidLegions/errors';
import { checkPoints } from '@measurement-exchange/mpc/protocols/liquidLegions/stageWork';
import { mismatch } from '../../computations/rejections.ts';
import { POOL } from './pool.ts';

/** Yields the data unchanged. Throws if it contains invalid points. `asAnnounced` checks the length. */
export async function* asPoints(data: AsyncIterable<Uint8Array>, registerBytes: number) {
  let rest: Uint8Array = new Uint8Array(0);
  let checked = 0;
  for await (const chunk of data) {
    const bytes = Buffer.concat([rest, chunk]);
    const end = bytes.length - (bytes.length % POINT_BYTES);
    try {
      await checkPoints(bytes.subarray(0, end), POOL);
    } catch (error) {
      if (!(error instanceof LiquidLegionsError)) throw error;
      const [first, last] = [checked, checked + end - 1].map((at) => Math.floor(at / registerBytes));
      const place = `registers ${first} to ${last}`;
      throw mismatch('data', `must be compressed points of P-256, and ${place} hold something else`);
    }
    checked += end;
    rest = bytes.subarray(end);
    yield chunk;
  }
}
