/** Tests event groups over gRPC: stored fields, names, filters, and the fields that an update keeps. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import { anyPack, StructSchema, ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { specs, TYPE_URLS } from '@measurement-exchange/contract';
import {
  EventGroup_State,
  EventGroup_View,
  EventGroupMetadata_AdMetadataSchema,
  EventGroupMetadataSchema,
  type EventGroupSchema,
  EventGroups,
  ListEventGroupsRequest_OrderBy_Field as Field,
  MediaType,
} from '@measurement-exchange/contract/rpc';
import { type DevParty, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { leanSet } from '@measurement-exchange/testkit/metadataSets';
import { clientOf, failureOf, keyOf } from '@measurement-exchange/testkit/rpc';
import { castOf, get, ok } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventGroupSteps, idOf, readable } from '../eventGroups/steps.ts';

const exchange = useExchange({ rate: UNLIMITED });
let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let chirper: DevParty;
let provider: Client<typeof EventGroups>;
let consumer: Client<typeof EventGroups>;
beforeAll(() => {
  ({ acme, globex, streamly, chirper } = castOf(exchange));
  provider = clientOf(exchange.dev, EventGroups, { token: streamly.token });
  consumer = clientOf(exchange.dev, EventGroups, { token: acme.token });
});

type Init = MessageInitShape<typeof EventGroupSchema>;
const INVALID = 'invalid_argument INVALID_FIELD_VALUE';
const time = (iso: string) => ({ seconds: BigInt(Date.parse(iso) / 1000) });
const ad = (brandName: string, campaignName: string) => ({
  case: 'adMetadata' as const,
  value: create(EventGroupMetadata_AdMetadataSchema, { campaignMetadata: { brandName, campaignName } }),
});

/** An event group with every field that a client can set. */
const full = (): Init => ({
  measurementConsumer: acme.name,
  eventGroupReferenceId: 'line-7',
  mediaTypes: [MediaType.VIDEO, MediaType.NATIVE],
  eventGroupMetadata: { selector: ad('Brand', 'Spring'), entityMetadata: { size: 1.5, tags: ['a', null] } },
  vidModelLines: ['modelProviders/m/modelSuites/s/modelLines/l'],
  eventTemplates: [{ type: 'tv.Person' }, { type: 'tv.Video' }],
  encryptedMetadata: { ciphertext: Uint8Array.of(1, 2, 3), typeUrl: TYPE_URLS.EventGroupMetadata },
  measurementConsumerPublicKey: anyPack(specs.EncryptionPublicKeySchema, keyOf(acme)),
  dataAvailabilityInterval: {
    startTime: time('2026-01-01T00:00:00Z'),
    endTime: { ...time('2026-02-01T00:00:00Z'), nanos: 1_000 },
  },
  entityKey: { entityType: 'creative', entityId: 'c-1' },
});
const make = (eventGroup: Init = {}, requestId = '') =>
  provider.createEventGroup({
    parent: streamly.name,
    eventGroup: { measurementConsumer: acme.name, ...eventGroup },
    requestId,
  });

describe('an event group', () => {
  it('is returned to both parties with all its fields and its canonical name', async () => {
    const made = await make(full());
    expect(made.name).toMatch(new RegExp(`^${streamly.name}/eventGroups/[a-z0-9]+$`));
    expect(made).toMatchObject({ ...full(), state: EventGroup_State.ACTIVE });
    expect(made.serializedEncryptedMetadata).toEqual(made.encryptedMetadata!.ciphertext);
    expect(await provider.getEventGroup({ name: made.name })).toEqual(made);
    const own = `${acme.name}/eventGroups/${idOf(made)}`;
    for (const name of [made.name, own]) {
      expect(await consumer.getEventGroup({ name, view: EventGroup_View.WITH_ACTIVITY_SUMMARY })).toEqual(
        made,
      );
    }
    for (const [client, parent] of [
      [provider, streamly.name],
      [consumer, acme.name],
    ] as const) {
      const filter = { entityTypeIn: ['creative'] };
      expect((await client.listEventGroups({ parent, filter })).eventGroups).toContainEqual(made);
    }
  });

  it('has an adMetadata selector even if the provider set no metadata', async () => {
    const made = await make();
    expect(made.eventGroupMetadata).toMatchObject({ selector: { case: 'adMetadata' } });
    const group = { eventGroup: { ...made } };
    expect(await provider.updateEventGroup(group)).toEqual(made);
    expect(await get(exchange, streamly, made.name)).not.toHaveProperty('eventGroupMetadata');
  });

  it('is created once for each request ID', async () => {
    const made = await make(full(), 'once');
    expect(await make(full(), 'once')).toEqual(made);
    expect(await failureOf(make({}, 'once'))).toBe('already_exists REQUEST_ID_REUSED');
  });

  it('can have its ciphertext in the older field serializedEncryptedMetadata', async () => {
    const { encryptedMetadata, ...rest } = full();
    const older = { ...rest, serializedEncryptedMetadata: Uint8Array.of(1, 2, 3) };
    expect((await make(older)).encryptedMetadata).toMatchObject(encryptedMetadata!);
    const differs = { ...full(), serializedEncryptedMetadata: Uint8Array.of(4) };
    expect(await failureOf(make(differs))).toBe(`${INVALID} event_group.serialized_encrypted_metadata`);
  });

  it('has state DELETED after its deletion, and is then listed only with showDeleted', async () => {
    const made = await make(full());
    const deleted = await provider.deleteEventGroup({ name: made.name });
    expect(deleted).toMatchObject({ name: made.name, state: EventGroup_State.DELETED, eventTemplates: [] });
    expect(deleted.entityKey).toMatchObject({ entityType: 'creative', entityId: '' });
    expect(await provider.getEventGroup({ name: made.name })).toEqual(deleted);
    const filter = { entityTypeIn: ['creative'] };
    const names = async (showDeleted: boolean) =>
      (await provider.listEventGroups({ parent: streamly.name, showDeleted, filter })).eventGroups.map(
        ({ name }) => name,
      );
    expect(await names(false)).not.toContain(made.name);
    expect(await names(true)).toContain(made.name);
  });
});

describe('an update of an event group', () => {
  it('replaces the event group, and clears fields that it omits', async () => {
    const { name } = await make(full());
    const eventGroup = { name, measurementConsumer: acme.name, eventGroupReferenceId: 'other' };
    const updated = await provider.updateEventGroup({ eventGroup });
    expect(updated).toMatchObject({ eventGroupReferenceId: 'other', mediaTypes: [], vidModelLines: [] });
    expect(updated.entityKey).toBeUndefined();
    expect(updated.encryptedMetadata).toBeUndefined();
    expect(await provider.getEventGroup({ name })).toEqual(updated);
  });

  it('keeps attributes and readable metadata, which its message cannot express', async () => {
    const steps = eventGroupSteps(exchange);
    const descriptor = await steps.register(streamly, leanSet);
    const attributes = [{ name: 'age', type: 'INT' }];
    const made = await steps.make({ attributes, ...readable(descriptor, { title: 'Pilot' }) });
    const eventGroup = { name: made.name, measurementConsumer: acme.name, eventGroupReferenceId: 'new' };
    const kept = { ...made, eventGroupReferenceId: 'new', updateTime: expect.anything() };
    expect((await provider.updateEventGroup({ eventGroup })).encryptedMetadata).toBeUndefined();
    expect(await get(exchange, streamly, made.name)).toEqual(kept);
    const again = { ...eventGroup, eventGroupReferenceId: 'newer' };
    await provider.batchUpdateEventGroups({ parent: streamly.name, requests: [{ eventGroup: again }] });
    expect(await get(exchange, streamly, made.name)).toEqual({ ...kept, eventGroupReferenceId: 'newer' });

    const encrypted = { ...full(), name: made.name };
    await provider.updateEventGroup({ eventGroup: encrypted });
    const after = await get(exchange, streamly, made.name);
    expect(after).toMatchObject({ attributes, encryptedMetadata: { ciphertext: 'AQID' } });
  });

  it('reports invalid fields before it reports that the event group is missing', async () => {
    const eventGroup = { name: `${streamly.name}/eventGroups/none`, measurementConsumer: 'acme' };
    expect(await failureOf(provider.updateEventGroup({ eventGroup }))).toBe(
      `${INVALID} event_group.measurement_consumer`,
    );
    const missing = { ...eventGroup, measurementConsumer: acme.name };
    expect(await failureOf(provider.updateEventGroup({ eventGroup: missing }))).toBe(
      'not_found EVENT_GROUP_NOT_FOUND',
    );
    expect(await failureOf(provider.updateEventGroup({}))).toBe(
      'invalid_argument REQUIRED_FIELD_NOT_SET event_group.name',
    );
  });
});

it('a batch creates or updates several event groups, or none if an item is invalid, which its error names', async () => {
  const one = (reference: string, more: Init = {}) => ({
    eventGroup: { measurementConsumer: acme.name, eventGroupReferenceId: reference, ...more },
  });
  const parent = streamly.name;
  const requests = [{ parent, requestId: 'batch-1', ...one('first') }, one('second')];
  const { eventGroups } = await provider.batchCreateEventGroups({ parent, requests });
  expect(eventGroups.map((group) => group.eventGroupReferenceId)).toEqual(['first', 'second']);
  const updates = eventGroups.map((group, i) => ({
    eventGroup: { ...group, eventGroupReferenceId: `changed ${i}` },
  }));
  const updated = await provider.batchUpdateEventGroups({ parent, requests: updates });
  expect(updated.eventGroups.map((group) => group.eventGroupReferenceId)).toEqual(['changed 0', 'changed 1']);

  const wrong = [one('third'), one('fourth', { measurementConsumer: 'x' })];
  expect(await failureOf(provider.batchCreateEventGroups({ parent, requests: wrong }))).toBe(
    `${INVALID} requests[1].event_group.measurement_consumer`,
  );
  const stored = (await provider.listEventGroups({ parent, pageSize: 500 })).eventGroups.map(
    (group) => group.eventGroupReferenceId,
  );
  expect(stored).toEqual(expect.arrayContaining(['changed 0', 'changed 1']));
  expect(stored).not.toContain('third');
  const foreign = [{ eventGroup: { ...eventGroups[0]!, name: `${chirper.name}/eventGroups/x` } }];
  expect(await failureOf(provider.batchUpdateEventGroups({ parent, requests: foreign }))).toBe(
    `${INVALID} requests[0].event_group.name`,
  );
  expect(await failureOf(provider.batchUpdateEventGroups({ parent, requests: [{}] }))).toBe(
    'invalid_argument REQUIRED_FIELD_NOT_SET requests[0].event_group',
  );
});

describe('a list of event groups', () => {
  const listed = async (request: object, client = provider, parent = streamly.name) =>
    (await client.listEventGroups({ parent, pageSize: 500, ...request })).eventGroups.map(
      ({ eventGroupReferenceId: reference }) => reference,
    );
  const begin = (day: string): Init => ({
    dataAvailabilityInterval: { startTime: time(`${day}T00:00:00Z`) },
  });

  it('supports the filters of the public API', async () => {
    const metadataSearchQuery = 'filtered';
    const of = (reference: string, more: Init, brand = 'Filtered') =>
      make({
        ...more,
        eventGroupReferenceId: reference,
        eventGroupMetadata: create(EventGroupMetadataSchema, { selector: ad(brand, 'x') }),
      });
    await of('a', { ...begin('2026-03-01'), mediaTypes: [MediaType.VIDEO] });
    await of('b', { ...begin('2026-03-02'), mediaTypes: [MediaType.DISPLAY] });
    await of('c', { entityKey: { entityType: 'placement' } });
    const by = (filter: object) => listed({ filter: { metadataSearchQuery, ...filter } });
    // Without a filter on entity types, a list contains only event groups of campaigns.
    expect(await by({})).toEqual(['a', 'b']);
    expect(await by({ entityTypeIn: ['placement'] })).toEqual(['c']);
    expect(await by({ entityTypeIn: ['placement', 'campaign'] })).toEqual(['a', 'b', 'c']);
    expect(await by({ mediaTypesIntersect: [MediaType.DISPLAY, MediaType.OTHER] })).toEqual(['b']);
    expect(await by({ dataAvailabilityStartTimeOnOrAfter: time('2026-03-02T00:00:00Z') })).toEqual(['b']);
    expect(await by({ dataAvailabilityStartTimeOnOrBefore: time('2026-03-01T00:00:00Z') })).toEqual(['a']);
    expect(await by({ dataAvailabilityEndTimeOnOrBefore: time('2030-01-01T00:00:00Z') })).toEqual([]);
    expect(await by({ dataAvailabilityEndTimeOnOrAfter: time('2030-01-01T00:00:00Z') })).toEqual(['a', 'b']);
    expect(await by({ measurementConsumerIn: [globex.name] })).toEqual([]);
    const found = { filter: { metadataSearchQuery, dataProviderIn: [streamly.name] } };
    expect(await listed(found, consumer, acme.name)).toEqual(['a', 'b']);
    const descending = { field: Field.DATA_AVAILABILITY_START_TIME, descending: true };
    expect(await listed({ filter: { metadataSearchQuery }, orderBy: descending })).toEqual(['b', 'a']);
  });

  it('rejects unsupported filters and invalid values', async () => {
    const failure = (filter: object) =>
      failureOf(provider.listEventGroups({ parent: streamly.name, filter }));
    expect(await failure({ activityContains: {} })).toBe(`${INVALID} filter.activity_contains`);
    expect(await failure({ dataAvailabilityIntersects: {} })).toBe(
      `${INVALID} filter.data_availability_intersects`,
    );
    expect(await failure({ measurementConsumerIn: ['acme'] })).toBe(
      `${INVALID} filter.measurement_consumer_in[0]`,
    );
    expect(await failure({ mediaTypesIntersect: [77] })).toBe(`${INVALID} filter.media_types_intersect[0]`);
  });

  it('has pages of 10 event groups by default, and rejects a negative page size', async () => {
    const filter = { metadataSearchQuery: 'paged' };
    for (let i = 0; i < 12; i++) {
      await make({ eventGroupReferenceId: `${i}`, eventGroupMetadata: { selector: ad('Paged', 'x') } });
    }
    const parent = streamly.name;
    const first = await provider.listEventGroups({ parent, filter });
    expect(first.eventGroups).toHaveLength(10);
    const rest = await provider.listEventGroups({ parent, filter, pageToken: first.nextPageToken });
    expect(rest.eventGroups.map((group) => group.eventGroupReferenceId)).toEqual(['10', '11']);
    expect(rest.nextPageToken).toBe('');
    expect(await failureOf(provider.listEventGroups({ parent, pageSize: -1 }))).toBe(`${INVALID} page_size`);
  });
});

it('a consumer gets NOT_FOUND for event groups of other consumers, whether or not they exist', async () => {
  const made = await make();
  const other = clientOf(exchange.dev, EventGroups, { token: globex.token });
  const failures = [
    await failureOf(other.getEventGroup({ name: made.name })),
    await failureOf(other.getEventGroup({ name: `${streamly.name}/eventGroups/none` })),
    await failureOf(consumer.getEventGroup({ name: `${chirper.name}/eventGroups/${idOf(made)}` })),
  ];
  expect(new Set(failures)).toEqual(new Set(['not_found EVENT_GROUP_NOT_FOUND']));
  expect(await failureOf(consumer.getEventGroup({ name: `${globex.name}/eventGroups/${idOf(made)}` }))).toBe(
    'permission_denied PERMISSION_DENIED',
  );
  expect(await failureOf(consumer.deleteEventGroup({ name: made.name }))).toBe(
    'permission_denied PERMISSION_DENIED',
  );
});

it('an event group with a field that cannot be stored is rejected with the name of the field', async () => {
  const signed = { data: Uint8Array.of(1) };
  expect(await failureOf(make({ signedMeasurementConsumerPublicKey: signed }))).toBe(
    `${INVALID} event_group.signed_measurement_consumer_public_key`,
  );
  // Build the bytes by hand, because JavaScript clients do not write NaN, but other clients do.
  const number = create(ValueSchema, { kind: { case: 'numberValue', value: Number.NaN } });
  const struct = toBinary(StructSchema, create(StructSchema, { fields: { a: number } }));
  const unknown = [
    { no: 3, wireType: WireType.LengthDelimited, data: Uint8Array.of(struct.length, ...struct) },
  ];
  const nan = create(EventGroupMetadataSchema, { selector: ad('a', 'b') });
  nan.$unknown = unknown;
  expect(await failureOf(make({ eventGroupMetadata: nan }))).toBe(
    `${INVALID} event_group.event_group_metadata.entity_metadata`,
  );
  expect(await failureOf(make({ eventGroupMetadata: {} }))).toBe(
    'invalid_argument REQUIRED_FIELD_NOT_SET event_group.event_group_metadata.ad_metadata',
  );
  expect(await failureOf(make({ mediaTypes: [77 as MediaType] }))).toBe(
    `${INVALID} event_group.media_types[0]`,
  );
  const long = { eventGroupMetadata: { selector: ad('a', 'b'), entityMetadata: { a: 'x'.repeat(17_000) } } };
  expect(await failureOf(make(long))).toBe(`${INVALID} event_group.event_group_metadata.entity_metadata`);
});

it('REST returns an event group that was created over gRPC', async () => {
  const { name } = await make(full());
  expect(await get(exchange, streamly, name)).toMatchObject({
    eventTemplates: [{ type: 'tv.Person' }, { type: 'tv.Video' }],
    vidModelLines: ['modelProviders/m/modelSuites/s/modelLines/l'],
    entityKey: { entityType: 'creative', entityId: 'c-1' },
    eventGroupMetadata: {
      adMetadata: { campaignMetadata: { brandName: 'Brand', campaignName: 'Spring' } },
      entityMetadata: { size: 1.5, tags: ['a', null] },
    },
    dataAvailabilityInterval: {
      startTime: '2026-01-01T00:00:00.000000Z',
      endTime: '2026-02-01T00:00:00.000001Z',
    },
  });
  const path = `/v2alpha/${streamly.name}/eventGroups?filter.entityTypes=creative&pageSize=1000`;
  const { eventGroups } = await ok(exchange.call(streamly.token, 'GET', path));
  expect(eventGroups.map((group: { name: string }) => group.name)).toContain(name);
});
