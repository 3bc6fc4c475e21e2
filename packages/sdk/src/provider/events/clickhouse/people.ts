/**
 * Reads people from a response. The server divides the people among slots (see `SLOTS`) and sends one row per slot. A
 * row contains the VIDs and the frequencies as arrays.
 */
import type { People, VidForm, VidsOf } from '../source.ts';
import { ResponseReader } from './response.ts';
import { SLOTS } from './statement.ts';

const PEOPLE_AT_ONCE = 1 << 16;

/** Streams the people in batches. Throws unless the response contains exactly one row per slot, in order. */
export async function* peopleOf<F extends VidForm>(
  response: AsyncIterable<Buffer>,
  form: F,
): AsyncGenerator<People<F>> {
  const reader = new ResponseReader(response);
  const batches = new Batches(form);
  const slot = new Uint8Array(2);
  try {
    for (let expected = 0; expected < SLOTS; expected++) {
      await reader.fill(slot);
      if (slot[0]! + 256 * slot[1]! !== expected) await reader.broken();
      const vids = arrayOf(form, await reader.length());
      await reader.fill(bytesOf(vids));
      const frequencies = new Uint8Array(await reader.length());
      if (frequencies.length !== vids.length) await reader.broken();
      await reader.fill(frequencies);
      yield* batches.add({ vids, frequencies });
    }
    await reader.end();
    yield* batches.rest();
  } finally {
    await reader.close();
  }
}

function arrayOf<F extends VidForm>(form: F, length: number): VidsOf<F> {
  return (form === 'small' ? new Uint32Array(length) : new BigInt64Array(length)) as VidsOf<F>;
}

const bytesOf = ({ buffer, byteLength }: Uint32Array | BigInt64Array) =>
  new Uint8Array(buffer, 0, byteLength);

/** Collects the people from many rows into batches of equal length. Only the last batch can be shorter. */
class Batches<F extends VidForm> {
  private readonly form: F;
  private batch: People<F>;
  private length = 0;

  constructor(form: F) {
    this.form = form;
    this.batch = this.empty();
  }

  *add({ vids, frequencies }: People<F>): Generator<People<F>> {
    for (let at = 0; at < frequencies.length; ) {
      const until = at + PEOPLE_AT_ONCE - this.length;
      this.batch.vids.set(vids.subarray(at, until) as never, this.length);
      this.batch.frequencies.set(frequencies.subarray(at, until), this.length);
      this.length += Math.min(until, frequencies.length) - at;
      at = until;
      if (this.length < PEOPLE_AT_ONCE) continue;
      yield this.batch;
      [this.batch, this.length] = [this.empty(), 0];
    }
  }

  *rest(): Generator<People<F>> {
    const { vids, frequencies } = this.batch;
    if (this.length === 0) return;
    yield {
      vids: vids.slice(0, this.length) as VidsOf<F>,
      frequencies: frequencies.slice(0, this.length),
    };
  }

  private empty(): People<F> {
    return { vids: arrayOf(this.form, PEOPLE_AT_ONCE), frequencies: new Uint8Array(PEOPLE_AT_ONCE) };
  }
}
