import { valuesPrefix } from '@measurement-exchange/mpc/shares/framing';
import { expect, test } from 'vitest';
import { asShares } from './asShares.ts';

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([1, 2, 3, 7, 1000])(
  'asShares accepts 200 valid values in pieces of %d bytes, and rejects invalid data',
  async (size) => {
    const values = Uint8Array.from({ length: 200 }, (_, i) => i % 100);
    const whole = (bytes: Uint8Array) =>
      Array.fromAsync(asShares(cut(bytes, size), { registerCount: 200, modulus: 100 })).then((p) =>
        Buffer.concat(p),
      );
    const right = Buffer.concat([valuesPrefix(200), values]);
    expect((await whole(right)).equals(right)).toBe(true);
    await expect(whole(Buffer.concat([valuesPrefix(200), values.with(150, 100)]))).rejects.toThrow(
      /200 values below 100/,
    );
    const spoiled = [
      Buffer.concat([valuesPrefix(201), values]),
      Buffer.concat([valuesPrefix(199), values]),
      Buffer.concat([valuesPrefix(199), values.subarray(1)]),
      right.subarray(1),
      right.subarray(0, -1),
    ];
    for (const bytes of spoiled) await expect(whole(bytes)).rejects.toThrow(/FrequencyVector of 200 values/);
  },
);
