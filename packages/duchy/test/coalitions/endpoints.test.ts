/**
 * A hostile exchange gives its own address as the endpoint of every duchy. The exchange reads all uploads and messages,
 * and forwards them so that no party notices. Even with one worker's key, the exchange must not learn a provider's
 * vector.
 */
import { createDecipheriv } from 'node:crypto';
import { decrypt } from '@measurement-exchange/consent';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSecrets } from '../../src/database/index.ts';
import { type RecordingProxy, startProxy } from '../secrecy/proxy.ts';
import { AUDIENCES, truth } from '../stages/audiences.ts';
import { openResult, reachOf } from '../stages/results.ts';
import { makeUpload } from '../stages/uploads.ts';
import { type DuchyWorld, startDuchyWorld } from '../stages/world.ts';

const collected: Buffer[] = [];
const proxies: RecordingProxy[] = [];

let world: DuchyWorld;
beforeAll(async () => {
  world = await startDuchyWorld({
    async between(url, to) {
      if (to === 'exchange') return url;
      const proxy = await startProxy(
        url,
        (part) => void collected.push(Buffer.from(part)),
        () => {},
      );
      proxies.push(proxy);
      return proxy.url;
    },
  });
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
  await Promise.all(proxies.map((proxy) => proxy.close()));
});

/**
 * Finds sealed bytes at any position and decrypts them, without the checks of an honest reader. Sealed bytes start with
 * the length of the encrypted key, which is `\0U` as two bytes.
 */
async function openAnywhere(bytes: Buffer, keyset: Uint8Array): Promise<Buffer | undefined> {
  for (let at = bytes.indexOf('\0U'); at >= 0; at = bytes.indexOf('\0U', at + 1)) {
    const length = bytes.readUInt16BE(at);
    const key = await decrypt(keyset, bytes.subarray(at + 2, at + 2 + length)).catch(() => undefined);
    if (key === undefined) continue;
    const nonce = Buffer.alloc(12);
    nonce[11] = 1;
    return createDecipheriv('aes-256-gcm', key, nonce).update(bytes.subarray(at + 256));
  }
  return undefined;
}

test('an exchange that captures all uploads reads no share, or with one worker only the shares for that worker', async () => {
  const measurement = await world.ask();
  await world.turn();
  const uploads = [];
  for (const [i, people] of AUDIENCES.entries()) {
    const upload = await makeUpload(world.providers[i]!, measurement, people);
    expect((await upload.send()).status).toBe(200);
    uploads.push(upload);
  }
  const id = measurement.name!.split('/').at(-1)!;
  const keysets: Record<string, Uint8Array> = {};
  for (const { duchy } of world.duchies) {
    keysets[duchy.name] = (await readSecrets(duchy.db, id)).privateKeyset!;
  }
  // The correct reach shows that the interception did not disturb the computation.
  expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
  expect(reachOf(await openResult(world, measurement))).toBe(truth(1).size);

  const capture = Buffer.concat(collected);
  for (const { share, data, fulfillment } of uploads) {
    expect(capture.includes(Buffer.from(data))).toBe(true);
    const values = Buffer.from(share).subarray(-1000);
    for (let at = 0; at < values.length; at += 16) {
      expect(capture.includes(values.subarray(at, at + 16))).toBe(false);
    }
    for (const [duchy, keyset] of Object.entries(keysets)) {
      const opened = await openAnywhere(Buffer.from(data), keyset);
      // Check that the search can find a share at all: the receiving worker's key decrypts its own share. One share
      // alone is uniformly random, so it reveals nothing.
      expect(opened?.includes(values) ?? false).toBe(duchy === fulfillment.duchy);
    }
  }
});
