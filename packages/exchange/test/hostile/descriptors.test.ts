/** Tests a provider whose descriptor sets are designed to break, fill, or slow down the responses to other parties. */
import { type DevParty, type Reply, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import {
  base64,
  chain,
  enumList,
  enumListValue,
  expandingOption,
  expandingTargets,
  manyFields,
  setOf,
} from '@measurement-exchange/testkit/hostileDescriptors';
import { castOf, errorOf, get, ok, post } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { MAX_BATCH_BYTES } from '../../src/operations/paging.ts';
import { messageTypesOf } from '../../src/protobuf/descriptor/descriptorSet.ts';

// Reduce the size limit of a batch response to an eighth, so that the tests take less work. Another test checks that
// the real limit is 64 MiB.
vi.mock('../../src/operations/paging.ts', async (original) => {
  const paging = await original<typeof import('../../src/operations/paging.ts')>();
  return { ...paging, MAX_BATCH_BYTES: paging.MAX_BATCH_BYTES / 8 };
});

const MIB = 1024 * 1024;
const PAGE = 8 * MIB;

let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let chirper: DevParty;
let dailynews: DevParty;

const exchange = useExchange({ rate: UNLIMITED, logLevel: 'warn' });
beforeAll(() => {
  ({ acme, globex, streamly, chirper, dailynews } = castOf(exchange));
});

const parentOf = (provider: DevParty) => `${provider.name}/eventGroupMetadataDescriptors`;
const send = (provider: DevParty, set: Uint8Array, query = '') =>
  post(exchange, provider, `${parentOf(provider)}${query}`, { descriptorSet: base64(set) });
/** Sends a set that must be rejected. Repeats the request if a busy machine took too long for it. */
async function sendRejected(provider: DevParty, set: Uint8Array, query = ''): Promise<Reply> {
  for (;;) {
    const reply = await send(provider, set, query);
    if (reply.status !== 504) return reply;
  }
}
const register = async (provider: DevParty, set: Uint8Array): Promise<string> =>
  (await ok(send(provider, set, '?descriptorSetEncoding=BASE64'))).name;
const put = (provider: DevParty, name: string, set: Uint8Array) =>
  exchange.call(provider.token, 'PUT', `/v2alpha/${name}?descriptorSetEncoding=BASE64`, {
    descriptorSet: base64(set),
  });

/**
 * Replaces the set of a descriptor directly in the database. An earlier version of the exchange, without the current
 * limits, could have stored the new set.
 */
async function replaceStored(provider: DevParty, name: string, set: Uint8Array): Promise<void> {
  const id = name.split('/').at(-1);
  const { query } = exchange.database;
  const [row] = await query(
    `UPDATE event_group_metadata_descriptors SET descriptor_set = $2, json_bytes = NULL, version = version + 1
      WHERE id = $1 RETURNING version, update_time`,
    [id, set],
  );
  await query('DELETE FROM descriptor_types WHERE descriptor = $1', [id]);
  await query(
    'INSERT INTO descriptor_types (descriptor, provider, type_name) SELECT $1, $2, unnest($3::text[])',
    [id, provider.name, messageTypesOf(set)],
  );
  await query(
    `INSERT INTO audit_entries (time, principal, operation, name, version, request_id)
     VALUES ($1, $2, 'updateEventGroupMetadataDescriptor', $3, $4, 'earlier')`,
    [row!.update_time, provider.name, name, row!.version],
  );
  await query(
    `INSERT INTO changes (party, name, kind, version, time) VALUES ($1, $2, 'DESCRIPTOR', $3, $4)`,
    [provider.name, name, row!.version, row!.update_time],
  );
}

interface Page {
  items: { name: string; [member: string]: unknown }[];
  bytes: number;
}

/** Returns every page of a list with its size. */
async function pagesOf(reader: DevParty, path: string, query = ''): Promise<Page[]> {
  const pages: Page[] = [];
  for (let token: string | undefined = ''; token !== undefined; ) {
    const reply = await exchange.call(
      reader.token,
      'GET',
      `/v2alpha/${path}?pageSize=1000${query}&pageToken=${token}`,
    );
    expect(reply.status, reply.text.slice(0, 1000)).toBe(200);
    pages.push({
      items: reply.json[path.split('/').at(-1)!],
      bytes: Buffer.byteLength(reply.text),
    });
    token = reply.json.nextPageToken;
  }
  return pages;
}

const violationOf = (reply: Reply) => reply.json.error.details[1].fieldViolations[0];

describe('the size of responses', () => {
  it.each([
    ['custom options', expandingOption(20_000)],
    ['options of descriptor.proto', expandingTargets(330_000)],
  ])('a small set whose %s print as 10 MB is rejected with its field and the limit', async (_title, set) => {
    expect(set.length).toBeLessThanOrEqual(MIB);
    const reply = await sendRejected(streamly, set, '?descriptorSetEncoding=BASE64');
    expect(errorOf(reply)).toBe('400 INVALID_ARGUMENT INVALID_FIELD_VALUE descriptorSet');
    expect(violationOf(reply).description).toContain(`${PAGE} bytes as JSON`);
  });

  it('a page of descriptors has at most 8 MiB of JSON, and a batch above its limit is rejected', async () => {
    const names: string[] = [];
    // Each of these sets has 7 kB and becomes 3 MB of JSON, so they do not fit into one page.
    for (let i = 0; i < 4; i++) names.push(await register(streamly, expandingOption(6_000, 500, `p${i}`)));
    const pages = await pagesOf(acme, parentOf(streamly));
    expect(pages.flatMap(({ items }) => items.map(({ name }) => name))).toEqual(names);
    expect(pages.map(({ items }) => items.length)).toEqual([2, 2]);
    for (const { bytes } of pages) expect(bytes).toBeLessThanOrEqual(PAGE);

    const batch = (count: number) =>
      exchange.call(
        acme.token,
        'GET',
        `/v2alpha/${parentOf(streamly)}:batchGet?${Array.from({ length: count }, (_, i) => `names=${names[i % 4]}`).join('&')}`,
      );
    const within = await batch(2);
    expect(within.status).toBe(200);
    expect(Buffer.byteLength(within.text)).toBeLessThanOrEqual(MAX_BATCH_BYTES);
    expect(within.json.eventGroupMetadataDescriptors).toHaveLength(2);
    expect(errorOf(await batch(3))).toBe('429 RESOURCE_EXHAUSTED RESPONSE_TOO_LARGE');
  });

  it('a set that an earlier version accepted is returned as base64 if its JSON is too large', async () => {
    const set = expandingOption(20_000, 500, 'earlier');
    const name = await register(chirper, setOf({ name: 'a.proto', package: 'a' }));
    await replaceStored(chirper, name, set);
    const expected = { name, descriptorSet: base64(set) };
    expect(await get(exchange, acme, name)).toEqual(expected);
    expect(await get(exchange, acme, parentOf(chirper))).toEqual({
      eventGroupMetadataDescriptors: [expected],
    });
    const batch = `${parentOf(chirper)}:batchGet?names=${name}&names=${name}`;
    expect(await get(exchange, acme, batch)).toEqual({ eventGroupMetadataDescriptors: [expected, expected] });
  });

  it('replacing a descriptor cannot make the page of a consumer exceed 8 MiB', async () => {
    const name = await register(dailynews, enumList(5, 'grow'));
    const typeUrl = 'type.googleapis.com/grow.M';
    const metadata = { typeUrl, value: base64(enumListValue(1_500)) };
    const requests = Array.from({ length: 15 }, () => ({
      eventGroup: {
        measurementConsumer: globex.name,
        encryptedMetadata: { metadata: { eventGroupMetadataDescriptor: name, metadata } },
      },
    }));
    await ok(post(exchange, dailynews, `${dailynews.name}/eventGroups:batchCreate`, { requests }));
    const list = `${globex.name}/eventGroups`;
    const [before] = await pagesOf(globex, list);
    expect(before!.items).toHaveLength(15);
    expect(before!.bytes).toBeLessThan(MIB);

    // With this schema, the JSON of each event group has 750 kB, so the 15 event groups do not fit into one page.
    await ok(put(dailynews, name, enumList(500, 'grow')));
    const after = await pagesOf(globex, list);
    expect(after.flatMap(({ items }) => items)).toHaveLength(15);
    for (const { bytes } of after) expect(bytes).toBeLessThanOrEqual(PAGE);

    // The only enum value now has an even longer name, so the JSON of each event group exceeds the limit for one event
    // group. The exchange therefore shows the metadata as bytes.
    await replaceStored(dailynews, name, enumList(5_000, 'grow'));
    const [bytes, ...more] = await pagesOf(globex, list);
    expect(more).toEqual([]);
    expect(bytes!.items[0]).toMatchObject({ encryptedMetadata: { metadata: { metadata } } });
  });

  it('a diff returns at most 2,000 changes and counts the omitted ones', async () => {
    const name = await register(streamly, manyFields(60_000, 'wide', 'a'));
    const reply = await post(exchange, acme, `${name}:diff`, {
      descriptorSet: base64(manyFields(60_000, 'wide', 'b')),
    });
    const { compatible, changes, omittedChanges } = await ok(reply);
    expect(compatible).toBe(false);
    expect(changes.length).toBeLessThanOrEqual(2_000);
    expect(changes.length + omittedChanges).toBeGreaterThan(4_000);
    expect(Buffer.byteLength(reply.text)).toBeLessThanOrEqual(PAGE);
  });
});

describe('deep chains of message types', () => {
  it.each([
    ['a chain', chain(8_000)],
    ['a cycle', chain(8_000, { isCycle: true })],
  ])('%s of 8,000 message types is rejected', async (_title, set) => {
    const reply = await sendRejected(streamly, set);
    expect(errorOf(reply)).toBe('400 INVALID_ARGUMENT INVALID_FIELD_VALUE descriptorSet');
    expect(violationOf(reply).description).toMatch(/chain of more than 256 message types/);
    expect((await send(streamly, chain(256, { name: 'short' }))).status).toBe(200);
  });

  it('a provider cannot break the list of a consumer with a chain of message types', async () => {
    const name = await register(
      dailynews,
      setOf({ name: 'c.proto', package: 'chain', messageType: [{ name: 'M0' }] }),
    );
    const metadata = { '@type': 'type.googleapis.com/chain.M0' };
    const group = await ok(
      post(exchange, dailynews, `${dailynews.name}/eventGroups`, {
        measurementConsumer: acme.name,
        encryptedMetadata: { metadata: { eventGroupMetadataDescriptor: name, metadata } },
      }),
    );
    const path = `${acme.name}/eventGroups`;
    const shown = async () => {
      const [page] = await pagesOf(acme, path);
      expect(page!.items).toHaveLength(1);
      return (page!.items[0] as unknown as { encryptedMetadata: { metadata: { metadata: unknown } } })
        .encryptedMetadata.metadata.metadata;
    };
    expect(await shown()).toEqual(metadata);

    expect((await put(dailynews, name, chain(8_000))).status).toBe(400);
    expect(await shown()).toEqual(metadata);

    // Store a set that the current version rejects. An earlier version could have stored it.
    await replaceStored(dailynews, name, chain(8_000));
    expect(await shown()).toEqual({ typeUrl: metadata['@type'], value: '' });
    const decoded = await exchange.call(
      acme.token,
      'GET',
      `/v2alpha/${path}/${group.name.split('/').at(-1)}:decode`,
    );
    expect(errorOf(decoded)).toBe('400 FAILED_PRECONDITION METADATA_NOT_READABLE');
    const direct = await post(exchange, acme, `${name}:decode`, { typeUrl: metadata['@type'], value: '' });
    expect(errorOf(direct)).toBe('400 FAILED_PRECONDITION METADATA_NOT_READABLE');
  });
});
