import { create, toBinary } from '@bufbuild/protobuf';
import { shareShuffle } from '@measurement-exchange/contract';
import { expect, test } from 'vitest';
import { asAnnounced, asShares, vectorHeader } from './received.ts';

test.each([1, 2, 127, 128, 300, 16_383, 16_384, 100_000])(
  'the header of %d values is that of protobuf',
  (count) => {
    const data = Array.from({ length: count }, (_, i) => i % 127);
    const { FrequencyVectorSchema } = shareShuffle;
    const bytes = toBinary(FrequencyVectorSchema, create(FrequencyVectorSchema, { data }));
    const header = vectorHeader(count);
    expect(Buffer.from(header).equals(bytes.subarray(0, header.length))).toBe(true);
    expect(bytes.length).toBe(header.length + count);
  },
);

test('a population of two billion has a header, too', () => {
  expect([...vectorHeader(2 ** 31 - 2)]).toEqual([0x0a, 0xfe, 0xff, 0xff, 0xff, 0x07]);
});

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([1, 2, 3, 7, 1000])('values are found in pieces of %d bytes', async (size) => {
  const values = Uint8Array.from({ length: 200 }, (_, i) => i % 100);
  const whole = (bytes: Uint8Array) =>
    Array.fromAsync(asShares(cut(bytes, size), { registerCount: 200, modulus: 100 })).then((p) =>
      Buffer.concat(p),
    );
  const right = Buffer.concat([vectorHeader(200), values]);
  expect((await whole(right)).equals(right)).toBe(true);
  await expect(whole(Buffer.concat([vectorHeader(200), values.with(150, 100)]))).rejects.toThrow(
    /register 150 /,
  );
  await expect(whole(Buffer.concat([vectorHeader(201), values]))).rejects.toThrow(
    /FrequencyVector of 200 values/,
  );
});

test('no piece beyond the announced length is passed on', async () => {
  const announced = { part: 'message', sha256: new Uint8Array(32), length: 5 };
  const passed: number[] = [];
  const reading = (async () => {
    for await (const piece of asAnnounced(cut(new Uint8Array(100), 4), announced)) passed.push(piece.length);
  })();
  await expect(reading).rejects.toThrow('data: is longer than the 5 bytes of message.dataLength');
  expect(passed).toEqual([4]);
});
