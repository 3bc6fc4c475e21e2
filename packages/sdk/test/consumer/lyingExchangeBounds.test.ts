/** Tests that a consumer reads only a limited number of bytes and pages from an exchange. */
import { encrypt } from '@measurement-exchange/consent';
import { toBase64 } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { EVENT_GROUP_METADATA_TYPE_URL, packEventGroupMetadata } from '../../src/index.ts';
import { ACME, consumerOf, type Json, STREAMLY, startLyingExchange } from './lyingExchange.ts';

describe('a consumer of a lying exchange', () => {
  const json = { headers: { 'content-type': 'application/json' } };
  /** Creates a response body that never ends, and records how much of the body was read. */
  function endless(chunk: Uint8Array) {
    const taken = { bytes: 0, cancelled: false };
    const body = new ReadableStream({
      pull: (controller) => {
        taken.bytes += chunk.length;
        controller.enqueue(chunk);
      },
      cancel: () => {
        taken.cancelled = true;
      },
    });
    return { taken, body };
  }

  it('rejects and cancels a response that exceeds maxResponseBytes', async () => {
    const x = await startLyingExchange();
    const chunk = new TextEncoder().encode(' '.repeat(64 * 1024));
    const { taken, body } = endless(chunk);
    x.tell(() => new Response(body, json));
    const client = x.client({ maxResponseBytes: 1_000_000, maxAttempts: 1 });
    await expect(client.getParty({ name: STREAMLY })).rejects.toMatchObject({
      name: 'UnexpectedResponse',
      message: expect.stringContaining('is longer than 1000000 bytes'),
    });
    expect(taken.cancelled).toBe(true);
    expect(taken.bytes).toBeLessThan(2_000_000);
  });

  it('rejects an error response that exceeds 1 MiB', async () => {
    const x = await startLyingExchange();
    const { taken, body } = endless(new Uint8Array(64 * 1024).fill(32));
    x.tell(() => new Response(body, { ...json, status: 500 }));
    const client = x.client({ maxAttempts: 1 });
    await expect(client.getParty({ name: STREAMLY })).rejects.toThrow('is longer than 1048576 bytes');
    expect(taken.bytes).toBeLessThan(2_000_000);
  });

  it('times out on a response that arrives byte by byte', async () => {
    const x = await startLyingExchange();
    const timers: NodeJS.Timeout[] = [];
    x.tell(() => {
      const body = new ReadableStream({
        pull: (controller) =>
          new Promise((resolve) => {
            timers.push(setTimeout(() => resolve(controller.enqueue(Uint8Array.of(32))), 20));
          }),
      });
      return new Response(body, json);
    });
    const client = x.client({ timeoutMs: 200, maxAttempts: 1 });
    await expect(client.getParty({ name: STREAMLY })).rejects.toThrow('within 200 ms');
    for (const timer of timers) clearTimeout(timer);
  });

  it('rejects a response with more than 2,000,000 keys and values', async () => {
    const x = await startLyingExchange();
    x.tell(() => new Response(`{"name": [${'0,'.repeat(2_000_001)}0]}`, json));
    await expect(x.client({ maxAttempts: 1 }).getParty({ name: STREAMLY })).rejects.toThrow(
      'more than 2000000 keys and values',
    );
  });

  it.each<[string, (page: number) => Json]>([
    [
      'its page tokens repeat',
      (page) => ({
        eventGroups: [{ name: `${ACME}/eventGroups/g`, measurementConsumer: ACME, state: 'ACTIVE' }],
        nextPageToken: `t${page % 7}`,
      }),
    ],
    ['its pages are empty', (page) => ({ eventGroups: [], nextPageToken: `t${page}` })],
  ])('rejects a list that never ends: %s', async (_what, reply) => {
    const x = await startLyingExchange();
    let pages = 0;
    x.tell(() => {
      if (++pages > 1000) throw new Error('too many pages were read');
      return reply(pages);
    });
    await expect(Array.fromAsync(consumerOf(x).listEventGroups())).rejects.toThrow('The list does not end');
  });

  it('lists every event group even if the metadata of some is invalid', async () => {
    const x = await startLyingExchange();
    const { encryptionPublicKey } = x.of(ACME);
    const descriptor = `${STREAMLY}/eventGroupMetadataDescriptors/d`;
    const sealed = async (plaintext: Uint8Array) => ({
      ciphertext: toBase64(await encrypt(encryptionPublicKey, plaintext)),
      typeUrl: EVENT_GROUP_METADATA_TYPE_URL,
    });
    const packed = (name: string) =>
      packEventGroupMetadata({
        eventGroupMetadataDescriptor: name,
        typeUrl: 'type.googleapis.com/shows.Episode',
        value: new Uint8Array(),
      });
    const readable = (metadata: Json) => ({
      metadata: { eventGroupMetadataDescriptor: descriptor, metadata },
    });
    const bad: Json[] = [
      await sealed(Uint8Array.of(0xff)),
      await sealed(packed(descriptor)),
      await sealed(packed(`${descriptor}-none`)),
      { ciphertext: 'AAAA', typeUrl: EVENT_GROUP_METADATA_TYPE_URL },
      readable(7),
      readable('text'),
      readable([]),
      readable({ '@type': 7 }),
      readable({ typeUrl: 'x', value: '***' }),
      readable({ '@type': 'type.googleapis.com/shows.Episode', a: { b: 1 } }),
    ];
    const group = (i: number) => ({
      name: `${ACME}/eventGroups/g${i}`,
      measurementConsumer: ACME,
      state: 'ACTIVE',
    });
    const groups = [
      ...bad.map((encryptedMetadata, i) => ({ ...group(i), encryptedMetadata })),
      group(bad.length),
    ];
    const descriptors: (() => Json)[] = [
      () => ({ name: descriptor, descriptorSet: 7, state: 'ACTIVE' }),
      () => ({ name: descriptor, descriptorSet: '***' }),
      () => ({ name: descriptor, descriptorSet: toBase64(new TextEncoder().encode('not protobuf')) }),
      () => new Response('<h1>Too large</h1>', { status: 413 }),
      () => new Response('{}', { ...json, status: 500 }),
      () => new Response('', { status: 302, headers: { location: 'http://elsewhere.test/' } }),
    ];
    for (const reply of descriptors) {
      x.tell((e) => (e.path.includes('Descriptors/') ? reply() : { eventGroups: groups }));
      const listed = await Array.fromAsync(consumerOf(x).listEventGroups());
      expect(listed.map(({ eventGroup }) => eventGroup.name)).toEqual(groups.map(({ name }) => name));
      expect(listed.map(({ error }) => error?.name ?? 'none')).toEqual([
        ...bad.map(() => 'MetadataUnreadable'),
        'none',
      ]);
    }
  });
});
