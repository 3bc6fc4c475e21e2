import type { EventGroup } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { differencesOf, draftOf, inputOf, problemsOf } from './eventGroupDraft.ts';

const GROUP: EventGroup = {
  name: 'dataProviders/streamly/eventGroups/a',
  state: 'ACTIVE',
  measurementConsumer: 'measurementConsumers/acme',
  eventGroupReferenceId: 'autumn-video',
  mediaTypes: ['VIDEO'],
  dataAvailabilityInterval: { startTime: '2026-09-01T06:30:00Z', endTime: '2026-11-01T00:00:00Z' },
  attributes: [{ name: 'device', type: 'STRING', exampleValues: ['a, b', 'tv'] }],
  eventTemplates: [{ type: 'acme.Video' }],
  vidModelLines: ['modelProviders/p/modelSuites/s/modelLines/l'],
  entityKey: { entityType: 'campaign', entityId: 'c-1' },
  eventGroupMetadata: {
    adMetadata: { campaignMetadata: { brandName: 'Acme', campaignName: 'Autumn' } },
    entityMetadata: { market: 'uk' },
  },
  encryptedMetadata: { ciphertext: new Uint8Array([1]), typeUrl: 'type.googleapis.com/x' },
  createTime: '2026-09-01T00:00:00Z',
};

it('draftOf shows the last day, and inputOf returns an unchanged event group as it was', () => {
  const draft = draftOf(GROUP);
  expect(draft).toMatchObject({ consumer: 'acme', from: '2026-09-01', until: '2026-10-31' });
  const { name: _n, state: _s, createTime: _c, ...input } = GROUP;
  expect(inputOf(draft, GROUP)).toEqual(input);
});

it('inputOf saves changed dates as whole days, and changed examples as a list', () => {
  const draft = draftOf(GROUP);
  const changed = {
    ...draft,
    from: '2026-09-02',
    until: '2026-11-30',
    attributes: [{ ...draft.attributes[0]!, examples: 'phone,  tv,' }],
  };
  expect(inputOf(changed, GROUP)).toMatchObject({
    dataAvailabilityInterval: { startTime: '2026-09-02T00:00:00Z', endTime: '2026-12-01T00:00:00Z' },
    attributes: [{ name: 'device', exampleValues: ['phone', 'tv'] }],
    encryptedMetadata: GROUP.encryptedMetadata,
  });
});

it('inputOf removes emptied fields', () => {
  const emptied = {
    ...draftOf(GROUP),
    from: '',
    until: '',
    brand: '',
    campaign: '',
    mediaTypes: [],
    attributes: [],
  };
  const { eventGroupMetadata: _, ...group } = GROUP;
  const input = inputOf(emptied, group);
  expect(input).toMatchObject({ mediaTypes: [], attributes: [] });
  expect(input).not.toHaveProperty('dataAvailabilityInterval');
  expect(input).not.toHaveProperty('eventGroupMetadata');
});

it('inputOf keeps the entity metadata if the brand and the campaign are removed', () => {
  const input = inputOf({ ...draftOf(GROUP), brand: '', campaign: '' }, GROUP);
  expect(input.eventGroupMetadata).toEqual({
    adMetadata: { campaignMetadata: {} },
    entityMetadata: { market: 'uk' },
  });
});

it('problemsOf returns the fields that prevent saving a draft', () => {
  expect([...problemsOf(draftOf()).keys()]).toEqual(['consumer', 'reference']);
  const draft = draftOf(GROUP);
  const attribute = draft.attributes[0]!;
  expect([...problemsOf({ ...draft, until: '2026-08-01' })]).toEqual([
    ['until', 'The last day is before the first'],
  ]);
  expect(problemsOf({ ...draft, attributes: [attribute, attribute] }).get('attributes')).toContain('twice');
  expect(problemsOf({ ...draft, attributes: [{ ...attribute, name: 'a b' }] }).get('attributes')).toContain(
    '"a b"',
  );
});

it('differencesOf compares two versions field by field', () => {
  const mine = { ...draftOf(GROUP), campaign: 'Winter' };
  expect(differencesOf(draftOf(GROUP), mine)).toEqual([
    { label: 'Campaign', theirs: 'Autumn', mine: 'Winter' },
  ]);
});
