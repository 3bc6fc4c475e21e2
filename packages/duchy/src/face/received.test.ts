import { expect, test } from 'vitest';
import { asAnnounced } from './received.ts';

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('asAnnounced yields no piece beyond the announced length, and throws', async () => {
  const announced = { part: 'message', sha256: new Uint8Array(32), length: 5 };
  const passed: number[] = [];
  const reading = (async () => {
    for await (const piece of asAnnounced(cut(new Uint8Array(100), 4), announced)) passed.push(piece.length);
  })();
  await expect(reading).rejects.toThrow('data: is longer than the 5 bytes of message.dataLength');
  expect(passed).toEqual([4]);
});
