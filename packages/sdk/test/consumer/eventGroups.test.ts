import { create, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { TYPE_URLS } from '@measurement-exchange/contract';
import { leanSet, serialize, typeUrl } from '@measurement-exchange/testkit/metadataSets';
import { useWorld } from '@measurement-exchange/testkit/world';
import { beforeAll, describe, expect, it } from 'vitest';
import { createEncryptionKeysets } from '../../src/identity/index.ts';
import {
  createClient,
  createConsumer,
  type DescribedEventGroup,
  EVENT_GROUP_METADATA_TYPE_URL,
  encrypt,
  MetadataUnreadable,
  packEventGroupMetadata,
} from '../../src/index.ts';

let descriptor: string;

const EPISODE = {
  title: 'Grüße 🎬',
  genres: ['GENRE_NEWS'],
  campaign: { name: 'c', budget: { currency: 'EUR', micros: '-9223372036854775808' } },
  viewsByCountry: { de: '1' },
  startTime: '2026-02-28T23:59:59.123456789Z',
  airDate: { year: 2026, month: 2 },
};
const TYPE = typeUrl('shows.Episode');

const w = useWorld();
beforeAll(async () => {
  const { name } = await w.streamly.client.createEventGroupMetadataDescriptor({
    parent: w.streamly.name,
    body: { descriptorSet: Buffer.from(leanSet).toString('base64') },
  });
  descriptor = name!;
});

/** Creates an event group for acme, and returns the name under which acme reads it. */
async function describeGroup(more: object): Promise<string> {
  const { name } = await w.streamly.client.createEventGroup({
    parent: w.streamly.name,
    body: { measurementConsumer: w.acme.name, ...more },
  });
  return name!.replace(w.streamly.name, w.acme.name);
}

/** Encrypts metadata for acme's key, as a provider does. */
async function encrypted(plaintext: Uint8Array, keyset = w.acme.encryptionPublicKey) {
  return {
    encryptedMetadata: {
      ciphertext: await encrypt(keyset, plaintext),
      typeUrl: EVENT_GROUP_METADATA_TYPE_URL,
    },
    measurementConsumerPublicKey: { '@type': TYPE_URLS.EncryptionPublicKey, data: keyset },
  };
}

const packed = (more: object = {}) =>
  packEventGroupMetadata({
    eventGroupMetadataDescriptor: descriptor,
    typeUrl: TYPE,
    value: serialize('shows.Episode', EPISODE),
    ...more,
  });

const readable = (fields: object) => ({
  encryptedMetadata: { metadata: { eventGroupMetadataDescriptor: descriptor, metadata: fields } },
});

const EXPECTED = { descriptor: expect.any(String), typeUrl: TYPE, json: EPISODE };

describe('reading an event group', () => {
  it('decrypts its metadata and decodes it by the schema that the provider registered', async () => {
    const name = await describeGroup({ eventGroupReferenceId: 'tv', ...(await encrypted(packed())) });
    const { eventGroup, metadata } = await w.consumer.readEventGroup(name);
    expect(eventGroup).toMatchObject({ name, eventGroupReferenceId: 'tv', measurementConsumer: w.acme.name });
    expect(metadata).toMatchObject({ ...EXPECTED, descriptor });
    // The message is dynamic: the SDK built its type from the descriptor at run time.
    expect(metadata!.message).toMatchObject({ $typeName: 'shows.Episode', title: 'Grüße 🎬' });
  });

  it('decodes unencrypted metadata in the same way', async () => {
    const name = await describeGroup(readable({ '@type': TYPE, ...EPISODE }));
    expect((await w.consumer.readEventGroup(name)).metadata).toMatchObject(EXPECTED);
  });

  it('returns no metadata if the event group has none', async () => {
    const name = await describeGroup({});
    expect(await w.consumer.readEventGroup(name)).toEqual({ eventGroup: expect.objectContaining({ name }) });
  });

  it('reads metadata that was encrypted for a former key', async () => {
    const name = await describeGroup(await encrypted(packed()));
    const { publicKeyset, privateKeyset } = await createEncryptionKeysets();
    const rotated = createConsumer({
      client: w.acme.client,
      trust: w.trust,
      credentials: { ...w.acme, encryptionPublicKey: publicKeyset, encryptionPrivateKey: privateKeyset },
      formerEncryptionPrivateKeys: [w.acme.encryptionPrivateKey],
    });
    expect((await rotated.readEventGroup(name)).metadata).toMatchObject(EXPECTED);
  });
});

describe('unreadable metadata', () => {
  const faults: [string, string, () => Promise<object>][] = [
    [
      'that was encrypted for another key',
      'NO_MATCHING_KEY',
      async () => encrypted(packed(), (await createEncryptionKeysets()).publicKeyset),
    ],
    [
      'of a type that its descriptor does not define',
      'TYPE_UNKNOWN',
      () => encrypted(packed({ typeUrl: typeUrl('shows.Movie') })),
    ],
    [
      'whose descriptor does not exist',
      'DESCRIPTOR_NOT_FOUND',
      () => encrypted(packed({ eventGroupMetadataDescriptor: `${descriptor}x` })),
    ],
    [
      'whose descriptor has an invalid name',
      'DESCRIPTOR_NOT_FOUND',
      () => encrypted(packed({ eventGroupMetadataDescriptor: '../../secrets' })),
    ],
    ['that names no descriptor', 'METADATA_MALFORMED', () => encrypted(Uint8Array.of())],
    [
      'that is not a message of its type',
      'METADATA_MALFORMED',
      () => encrypted(packed({ value: Uint8Array.of(0x0a, 0x7f) })),
    ],
    ['that is not protobuf', 'METADATA_MALFORMED', () => encrypted(Uint8Array.of(0xff, 0xff))],
  ];

  it.each(faults)('%s throws MetadataUnreadable with the code %s', async (_what, code, make) => {
    const name = await describeGroup(await make());
    const error = await w.consumer.readEventGroup(name).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(MetadataUnreadable);
    expect(error).toMatchObject({ code, eventGroup: name });
  });

  it('does not stop a list, which yields its error and all other event groups', async () => {
    const names: string[] = [];
    const codes: (string | undefined)[] = [];
    for (const [, code, make] of faults) {
      names.push(await describeGroup({ mediaTypes: ['NATIVE'], ...(await make()) }));
      codes.push(code);
      names.push(await describeGroup({ mediaTypes: ['NATIVE'], ...(await encrypted(packed())) }));
      codes.push(undefined);
    }
    const found: DescribedEventGroup[] = [];
    for await (const group of w.consumer.listEventGroups({ 'filter.mediaTypes': ['NATIVE'], pageSize: 3 })) {
      found.push(group);
    }
    expect(found.map(({ eventGroup }) => eventGroup.name)).toEqual(names);
    expect(found.map(({ error }) => error?.code)).toEqual(codes);
    for (const { metadata, error } of found) if (!error) expect(metadata).toMatchObject(EXPECTED);
  });
});

it('a list of event groups requests each descriptor once, and the next list requests it again', async () => {
  const asked: string[] = [];
  const client = createClient({
    baseUrl: w.exchange.url,
    token: w.exchange.dev.measurementConsumers[0]!.token,
    fetch: (input, init) => {
      asked.push(String(input instanceof Request ? input.url : input));
      return fetch(input, init);
    },
  });
  const consumer = createConsumer({ client, credentials: w.acme, trust: w.trust });
  for (let i = 0; i < 3; i++) {
    await describeGroup({ mediaTypes: ['DISPLAY'], ...(await encrypted(packed())) });
  }
  const list = async () => {
    for await (const { metadata } of consumer.listEventGroups({ 'filter.mediaTypes': ['DISPLAY'] })) {
      expect(metadata).toMatchObject(EXPECTED);
    }
    return asked.filter((url) => url.includes('/eventGroupMetadataDescriptors/')).length;
  };
  expect(await list()).toBe(1);
  expect(await list()).toBe(2);
});

it('reading an event group decodes metadata with a field that its descriptor does not define', async () => {
  const name = await describeGroup(readable({ '@type': TYPE, ...EPISODE }));
  const id = name.split('/').at(-1);
  // Append field number 15000, a varint that the descriptor does not define.
  const more = Uint8Array.of(0xc0, 0xa9, 0x07, 1);
  await w.exchange.database.query(
    'UPDATE event_groups SET metadata_value = metadata_value || $2 WHERE id = $1',
    [id, more],
  );
  const { eventGroup, metadata } = await w.consumer.readEventGroup(name);
  expect(eventGroup.encryptedMetadata!.metadata!.metadata).toMatchObject({
    typeUrl: TYPE,
    value: expect.any(String),
  });
  expect(metadata).toMatchObject(EXPECTED);
});

it('a list of event groups continues after a small message that exceeds the size limit as JSON', async () => {
  // Decoded metadata can be much larger in JSON than in binary, because JSON repeats a field's name for each message
  // that contains the field.
  const long = 'a'.repeat(512);
  const set = create(FileDescriptorSetSchema, {
    file: [
      {
        ...{ name: 'long.proto', package: 'long', syntax: 'proto3' },
        messageType: [
          { name: 'Row', field: [{ name: long, jsonName: long, number: 1, type: 5, label: 1 }] },
          { name: 'Rows', field: [{ name: 'rows', number: 1, type: 11, label: 3, typeName: '.long.Row' }] },
        ],
      },
    ],
  });
  const { name } = await w.streamly.client.createEventGroupMetadataDescriptor({
    parent: w.streamly.name,
    body: { descriptorSet: Buffer.from(toBinary(FileDescriptorSetSchema, set)).toString('base64') },
  });
  const rows = (count: number) => ({
    eventGroupMetadataDescriptor: name!,
    typeUrl: typeUrl('long.Rows'),
    value: Uint8Array.from(Array.from({ length: count }, () => [0x0a, 2, 8, 1]).flat()),
  });
  const ten = Math.ceil((10 * 1024 * 1024) / long.length);
  const names: string[] = [];
  for (const plaintext of [packed(), packed(rows(ten)), packed(rows(2))]) {
    names.push(await describeGroup({ mediaTypes: ['OTHER'], ...(await encrypted(plaintext)) }));
  }
  const listed = new Map<string, DescribedEventGroup>();
  for await (const group of w.consumer.listEventGroups({ 'filter.mediaTypes': ['OTHER'] })) {
    listed.set(group.eventGroup.name!, group);
  }
  const [episode, flood, few] = names.map((of) => listed.get(of)!);
  expect(episode!.metadata).toMatchObject(EXPECTED);
  expect(few!.metadata!.json).toEqual({ rows: [{ [long]: 1 }, { [long]: 1 }] });
  expect(flood!.metadata).toBeUndefined();
  expect(flood!.error).toMatchObject({ code: 'METADATA_TOO_LARGE' });
  expect(flood!.error!.message.length).toBeLessThanOrEqual(1000);
  await expect(w.consumer.readEventGroup(names[1]!)).rejects.toBeInstanceOf(MetadataUnreadable);
});

it('the error for an unknown type has at most 1000 characters, even if the type name is longer', async () => {
  const endless = packed({ typeUrl: typeUrl(`shows.${'🎬'.repeat(20_000)}`) });
  const name = await describeGroup(await encrypted(endless));
  const error = await w.consumer.readEventGroup(name).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'TYPE_UNKNOWN' });
  expect(error.message.length).toBeLessThanOrEqual(1000);
  expect(error.message.isWellFormed()).toBe(true);
});
