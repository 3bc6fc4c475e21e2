import { type EventGroupInput, JsonDecimal } from '@measurement-exchange/contract';
import { describe, expect, test } from 'vitest';
import {
  contentOf,
  create,
  type EventGroupRecord,
  inputViolations,
  inspectEventGroup,
  remove,
  replace,
  requireActive,
  requireSameConsumer,
} from './eventGroup.ts';

const PROVIDER = 'dataProviders/p';
const CONSUMER = 'measurementConsumers/c';
const NOW = '2026-01-01T00:00:00.000000Z';
const LATER = '2026-01-01T00:00:01.000000Z';
const bytes = Uint8Array.of(1);
const key = { '@type': 'type.googleapis.com/wfa.measurement.api.v2alpha.EncryptionPublicKey', data: bytes };
const opaque = { ciphertext: bytes, typeUrl: 'x' };
const readable = {
  metadata: { eventGroupMetadataDescriptor: `${PROVIDER}/eventGroupMetadataDescriptors/d`, metadata: {} },
};

const input = (more: object = {}): EventGroupInput => ({ measurementConsumer: CONSUMER, ...more });
const faults = (more: object) => inputViolations(PROVIDER, input(more)).map((v) => v.field);

function group(more: object = {}): EventGroupRecord {
  const ids = { id: 'e', provider: PROVIDER, consumer: CONSUMER };
  return create(ids, contentOf(input(more), undefined), NOW);
}

describe('an input', () => {
  test.each([
    ['no optional fields', {}, []],
    ['a readable message', { encryptedMetadata: readable }, []],
    ['a ciphertext with its key', { encryptedMetadata: opaque, measurementConsumerPublicKey: key }, []],
    ['a ciphertext without a key', { encryptedMetadata: opaque }, ['measurementConsumerPublicKey']],
    ['empty metadata', { encryptedMetadata: {} }, ['encryptedMetadata']],
    [
      'both a ciphertext and a readable message',
      { encryptedMetadata: { ...opaque, ...readable }, measurementConsumerPublicKey: key },
      ['encryptedMetadata'],
    ],
    [
      'a type URL and a readable message',
      { encryptedMetadata: { typeUrl: 'x', ...readable }, measurementConsumerPublicKey: key },
      ['encryptedMetadata'],
    ],
    [
      'a type URL without a ciphertext',
      { encryptedMetadata: { typeUrl: 'x' }, measurementConsumerPublicKey: key },
      ['encryptedMetadata.ciphertext'],
    ],
    [
      'a ciphertext without a type URL',
      { encryptedMetadata: { ciphertext: bytes }, measurementConsumerPublicKey: key },
      ['encryptedMetadata.typeUrl'],
    ],
    ['an interval', { dataAvailabilityInterval: { startTime: NOW, endTime: LATER } }, []],
    ['an interval without an end', { dataAvailabilityInterval: { startTime: NOW } }, []],
    [
      'an empty interval',
      { dataAvailabilityInterval: { startTime: NOW, endTime: NOW } },
      ['dataAvailabilityInterval.endTime'],
    ],
  ])('with %s has the expected violations', (_title, more, expected) => {
    expect(faults(more)).toEqual(expected);
  });

  test("is rejected with a descriptor of another provider whose ID starts with the provider's ID", () => {
    const eventGroupMetadataDescriptor = `${PROVIDER}2/eventGroupMetadataDescriptors/d`;
    expect(
      faults({ encryptedMetadata: { metadata: { eventGroupMetadataDescriptor, metadata: {} } } }),
    ).toEqual(['encryptedMetadata.metadata.eventGroupMetadataDescriptor']);
  });

  test('with a key of another type gives a finding', () => {
    const other = { measurementConsumerPublicKey: { ...key, '@type': 'x/y' } };
    expect(inspectEventGroup(input(other), 'requests[0].eventGroup.')).toMatchObject([
      { code: 'TYPE_URL_UNKNOWN', field: 'requests[0].eventGroup.measurementConsumerPublicKey.@type' },
    ]);
    expect(inspectEventGroup(input({ measurementConsumerPublicKey: key }), '')).toEqual([]);
    expect(inspectEventGroup(input(), '')).toEqual([]);
  });
});

describe('an event group', () => {
  const full = {
    eventGroupReferenceId: 'r',
    mediaTypes: ['VIDEO'],
    dataAvailabilityInterval: { startTime: NOW },
    attributes: [{ name: 'age', type: 'INT' }],
    eventTemplates: [{ type: 'tv.Show' }],
    vidModelLines: ['line'],
    entityKey: { entityType: 'creative', entityId: '7' },
    eventGroupMetadata: {
      adMetadata: { campaignMetadata: { brandName: 'b', campaignName: 'c' } },
      entityMetadata: { seconds: new JsonDecimal('29.5') },
    },
    encryptedMetadata: opaque,
    measurementConsumerPublicKey: key,
  };

  test('has the fields of its input, and is active', () => {
    const metadata = { descriptor: 'd', typeUrl: 't', value: bytes, size: 1 };
    const ids = { id: 'e', provider: PROVIDER, consumer: CONSUMER };
    expect(create(ids, contentOf(input(full), metadata), NOW)).toEqual({
      ...ids,
      referenceId: 'r',
      mediaTypes: ['VIDEO'],
      availability: { startTime: NOW },
      attributes: [{ name: 'age', type: 'INT' }],
      eventTemplates: ['tv.Show'],
      vidModelLines: ['line'],
      entityKey: { entityType: 'creative', entityId: '7' },
      entityMetadata: { seconds: 29.5 },
      brandName: 'b',
      campaignName: 'c',
      encrypted: opaque,
      readable: metadata,
      publicKey: key,
      state: 'ACTIVE',
      version: 1,
      createTime: NOW,
      updateTime: NOW,
    });
    expect(group()).toMatchObject({ mediaTypes: [], brandName: undefined, encrypted: undefined });
  });

  test('is replaced completely, with a new version', () => {
    const before = group(full);
    const after = replace(before, contentOf(input(), undefined), NOW);
    expect(after).toEqual({ ...group(), version: 2, updateTime: '2026-01-01T00:00:00.000001Z' });
    expect(before).toMatchObject({ version: 1, brandName: 'b', encrypted: opaque });
  });

  test('loses its metadata, key, brand and campaign when it is deleted', () => {
    const { encrypted, readable, publicKey, brandName, campaignName, ...rest } = remove(group(full), NOW);
    expect([encrypted, readable, publicKey, brandName, campaignName]).toEqual(Array(5).fill(undefined));
    expect(rest).toMatchObject({ state: 'DELETED', version: 2, referenceId: 'r', mediaTypes: ['VIDEO'] });
    expect(rest.availability).toEqual({ startTime: NOW });
    expect(rest).toMatchObject({ eventTemplates: [], vidModelLines: [], entityMetadata: undefined });
    expect(rest.entityKey).toEqual({ entityType: 'creative' });
  });

  test('cannot be changed when it is deleted or absent', () => {
    const name = `${PROVIDER}/eventGroups/e`;
    for (const absent of [undefined, remove(group(), NOW)]) {
      expect(() => requireActive(absent, PROVIDER, 'e')).toThrow(
        expect.objectContaining({ reason: 'EVENT_GROUP_NOT_FOUND', metadata: { eventGroup: name } }),
      );
    }
    expect(requireActive(group(), PROVIDER, 'e')).toEqual(group());
  });

  test('rejects another measurement consumer', () => {
    const metadata = {
      originalMeasurementConsumer: CONSUMER,
      providedMeasurementConsumer: `${CONSUMER}2`,
    };
    const field = 'requests[1].eventGroup.measurementConsumer';
    expect(() => requireSameConsumer(group(), `${CONSUMER}2`, 'requests[1].eventGroup.')).toThrow(
      expect.objectContaining({
        reason: 'EVENT_GROUP_INVALID_ARGS',
        code: 'INVALID_ARGUMENT',
        metadata,
        violations: [{ field, description: `must stay ${CONSUMER}` }],
      }),
    );
    requireSameConsumer(group(), CONSUMER, '');
  });
});
