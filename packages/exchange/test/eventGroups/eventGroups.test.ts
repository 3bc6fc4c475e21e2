/** Tests how event groups are created and read. */
import { type DevParty, useExchange } from '@measurement-exchange/testkit/exchange';
import { leanSet } from '@measurement-exchange/testkit/metadataSets';
import { castOf, errorOf, get, metadata, ok, stored, TIMESTAMP } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  ad,
  collection,
  DENIED,
  eventGroupSteps,
  INVALID,
  idOf,
  MISSING,
  NOT_FOUND,
  opaque,
  readable as readableWith,
} from './steps.ts';

let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let chirper: DevParty;
let steps: ReturnType<typeof eventGroupSteps>;
/** The name of a descriptor that streamly registered. */
let descriptor: string;

const exchange = useExchange();
beforeAll(async () => {
  ({ acme, globex, streamly, chirper } = castOf(exchange));
  steps = eventGroupSteps(exchange);
  descriptor = await steps.register(streamly, leanSet);
});

const readable = (fields: object, name = descriptor) => readableWith(name, fields);
const asConsumer = (group: { name: string }, consumer = acme) => `${collection(consumer)}/${idOf(group)}`;

const AGE = { name: 'age', type: 'INT' };

describe('creating an event group', () => {
  const full = {
    eventGroupReferenceId: 'spring',
    mediaTypes: ['VIDEO', 'NATIVE'],
    dataAvailabilityInterval: {
      startTime: '2026-01-01T00:00:00.000000Z',
      endTime: '2026-06-01T00:00:00.000000Z',
    },
    attributes: [
      { name: 'age_group', type: 'STRING', description: 'in years', exampleValues: ['18-34', '“55+”'] },
      { name: 'ad.skippable', type: 'BOOL' },
    ],
    eventTemplates: [{ type: 'tv.Show' }, { type: 'tv.Person' }],
    vidModelLines: ['modelProviders/m/modelSuites/s/modelLines/l'],
    entityKey: { entityType: 'creative', entityId: '7' },
    eventGroupMetadata: {
      ...ad('Acme', 'Spring sale').eventGroupMetadata,
      entityMetadata: { seconds: 29.5, tags: ['red', null, { wide: true }] },
    },
    ...opaque,
  };

  it('returns all fields under an assigned name, and both parties can read it', async () => {
    const created = await steps.make({ name: `${collection(streamly)}/mine`, state: 'DELETED', ...full });
    expect(created).toEqual({
      dataProvider: streamly.name,
      name: expect.stringMatching(/^dataProviders\/streamly\/eventGroups\/[a-z][a-z0-9]{12,62}$/),
      measurementConsumer: acme.name,
      ...full,
      state: 'ACTIVE',
      createTime: expect.stringMatching(TIMESTAMP),
      updateTime: created.createTime,
    });
    expect(await get(exchange, streamly, created.name)).toEqual(created);
    expect(await get(exchange, acme, asConsumer(created))).toEqual({ ...created, name: asConsumer(created) });
    expect(await steps.audited(created.name)).toEqual([`createEventGroup 1 ${streamly.name}`]);
  });

  it('requires only a measurement consumer', async () => {
    const { name, state, createTime, updateTime, ...rest } = await steps.make();
    expect(rest).toEqual({ dataProvider: streamly.name, measurementConsumer: acme.name });
    expect(errorOf(await steps.send({}))).toBe(`${MISSING} measurementConsumer`);
  });

  it('distinguishes empty attributes from missing ones, and an update without attributes removes them', async () => {
    const { name, ...created } = await steps.make({ attributes: [] });
    expect(created.attributes).toEqual([]);
    const attributes = [{ ...AGE, exampleValues: [] }];
    expect(await ok(steps.put(name, { ...created, attributes }))).toMatchObject({ attributes });
    expect(await get(exchange, streamly, name)).toMatchObject({ attributes });
    expect(await ok(steps.put(name, { measurementConsumer: acme.name }))).not.toHaveProperty('attributes');
    expect(await get(exchange, streamly, name)).not.toHaveProperty('attributes');
  });

  it('accepts the wrapped request message, but only with the parent of the path', async () => {
    const eventGroup = { measurementConsumer: acme.name, ...full };
    expect(await ok(steps.send({ parent: streamly.name, eventGroup }))).toMatchObject(eventGroup);
    expect(errorOf(await steps.send({ parent: chirper.name, eventGroup }))).toBe(`${INVALID} parent`);
  });

  it('rejects an invalid or inconsistent field and names it', async () => {
    const before = await stored(exchange);
    const bad: [object, string][] = [
      [
        { dataAvailabilityInterval: { endTime: '2026-01-01T00:00:00Z' } },
        'dataAvailabilityInterval.startTime',
      ],
      [
        {
          dataAvailabilityInterval: {
            startTime: '2026-01-01T00:00:00Z',
            endTime: '2026-01-01T01:00:00+01:00',
          },
        },
        'dataAvailabilityInterval.endTime',
      ],
      [{ mediaTypes: ['RADIO'] }, 'mediaTypes[0]'],
      [{ attributes: [{ name: 'age', type: 'FLOAT' }] }, 'attributes[0].type'],
      [{ attributes: [{ name: 'age' }] }, 'attributes[0].type'],
      ...['', 'age group', '1st', 'a..b', 'a.', 'true', 'ad.in', 'größe', 'a'.repeat(129)].map(
        (name): [object, string] => [{ attributes: [{ name, type: 'INT' }] }, 'attributes[0].name'],
      ),
      [{ attributes: [AGE, { ...AGE, type: 'STRING' }] }, 'attributes[1].name'],
      [{ attributes: [{ ...AGE, description: 'x'.repeat(501) }] }, 'attributes[0].description'],
      [{ attributes: [{ ...AGE, exampleValues: Array(21).fill('1') }] }, 'attributes[0].exampleValues'],
      [{ attributes: [{ ...AGE, exampleValues: ['x'.repeat(101)] }] }, 'attributes[0].exampleValues[0]'],
      [{ attributes: Array.from({ length: 101 }, (_, i) => ({ ...AGE, name: `a${i}` })) }, 'attributes'],
      [{ encryptedMetadata: {} }, 'encryptedMetadata'],
      [{ ...opaque, measurementConsumerPublicKey: undefined }, 'measurementConsumerPublicKey'],
      [{ ...opaque, encryptedMetadata: { ciphertext: 'AA==' } }, 'encryptedMetadata.typeUrl'],
      [{ ...opaque, encryptedMetadata: { typeUrl: 'x' } }, 'encryptedMetadata.ciphertext'],
      [
        { ...opaque, encryptedMetadata: { ...opaque.encryptedMetadata, ...readable({}).encryptedMetadata } },
        'encryptedMetadata',
      ],
      [
        { encryptedMetadata: { metadata: { eventGroupMetadataDescriptor: descriptor } } },
        'encryptedMetadata.metadata.metadata',
      ],
      [{ measurementConsumer: streamly.name }, 'measurementConsumer'],
      [{ eventGroupMetadata: {} }, 'eventGroupMetadata.adMetadata'],
      [
        { eventGroupMetadata: { ...ad('a', 'b').eventGroupMetadata, entityMetadata: [] } },
        'eventGroupMetadata.entityMetadata',
      ],
      [
        {
          eventGroupMetadata: {
            ...ad('a', 'b').eventGroupMetadata,
            entityMetadata: { a: 'x'.repeat(16_384) },
          },
        },
        'eventGroupMetadata.entityMetadata',
      ],
      [{ entityKey: { entityId: '7' } }, 'entityKey.entityType'],
      [{ eventTemplates: [{}] }, 'eventTemplates[0].type'],
      [{ eventTemplates: Array(21).fill({ type: 'tv.Show' }) }, 'eventTemplates'],
      [{ vidModelLines: Array(51).fill('line') }, 'vidModelLines'],
      [{ aggregatedActivities: [] }, 'aggregatedActivities'],
    ];
    for (const [more, field] of bad) {
      const reply = await steps.send({ measurementConsumer: acme.name, ...more });
      expect(errorOf(reply)).toMatch(
        /^400 INVALID_ARGUMENT (?:INVALID_FIELD_VALUE|REQUIRED_FIELD_NOT_SET) \S+$/,
      );
      expect(errorOf(reply).split(' ')[3]).toBe(field);
    }
    expect(await stored(exchange)).toEqual(before);
  });

  it('names all invalid fields in one error', async () => {
    const dataAvailabilityInterval = { startTime: '2026-02-01T00:00:00Z', endTime: '2026-01-01T00:00:00Z' };
    const encryptedMetadata = { ciphertext: 'AA==' };
    const body = { measurementConsumer: acme.name, dataAvailabilityInterval, encryptedMetadata };
    expect(errorOf(await steps.send(body))).toBe(
      `${INVALID} dataAvailabilityInterval.endTime encryptedMetadata.typeUrl measurementConsumerPublicKey`,
    );
  });

  it('requires an existing consumer, and an existing descriptor of the same provider', async () => {
    const nobody = await steps.send({ measurementConsumer: 'measurementConsumers/nobody' });
    expect(errorOf(nobody)).toBe('400 FAILED_PRECONDITION MEASUREMENT_CONSUMER_NOT_FOUND');
    expect(metadata(nobody)).toEqual({ measurementConsumer: 'measurementConsumers/nobody' });

    const absent = `${streamly.name}/eventGroupMetadataDescriptors/absent`;
    const without = await steps.send({ measurementConsumer: acme.name, ...readable({}, absent) });
    expect(errorOf(without)).toBe('400 FAILED_PRECONDITION EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND');
    expect(metadata(without)).toEqual({ eventGroupMetadataDescriptor: absent });

    const foreign = await steps.register(chirper, leanSet);
    const field = 'encryptedMetadata.metadata.eventGroupMetadataDescriptor';
    expect(errorOf(await steps.send({ measurementConsumer: acme.name, ...readable({}, foreign) }))).toBe(
      `${INVALID} ${field}`,
    );
    // A name that joins the provider's own name and the ID of another provider's descriptor does not refer to that
    // descriptor.
    const borrowed = `${streamly.name}/eventGroupMetadataDescriptors/${foreign.split('/').at(-1)}`;
    expect(errorOf(await steps.send({ measurementConsumer: acme.name, ...readable({}, borrowed) }))).toBe(
      '400 FAILED_PRECONDITION EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND',
    );
  });

  it('reports a public key of an unknown type as a finding under advisory checks', async () => {
    const body = {
      measurementConsumer: acme.name,
      measurementConsumerPublicKey: { '@type': 'x/y', data: 'AA==' },
    };
    const reply = await steps.send(body);
    expect(reply.headers.get('x-mex-findings')).toBe('1');
    expect(await get(exchange, acme, asConsumer(reply.json))).toMatchObject(body);
    const dry = await ok(steps.send(body, '?validateOnly=true'));
    expect(dry.findings).toMatchObject([
      { code: 'TYPE_URL_UNKNOWN', field: 'measurementConsumerPublicKey.@type' },
    ]);
  });

  it('writes nothing with validateOnly', async () => {
    const before = await stored(exchange);
    const body = { measurementConsumer: acme.name, ...readable({ title: 'a' }), requestId: 'dry' };
    const { requestId, ...rest } = body;
    expect(await ok(steps.send(body, '?validateOnly=true'))).toEqual({
      dataProvider: streamly.name,
      ...rest,
      state: 'ACTIVE',
      findings: [],
    });
    expect(await stored(exchange)).toEqual(before);
    expect(errorOf(await steps.send({ ...body, measurementConsumer: 'x' }, '?validateOnly=true'))).toBe(
      `${INVALID} measurementConsumer`,
    );
  });
});

describe('a requestId', () => {
  it('creates one event group for repeated requests with any key order, and rejects different content', async () => {
    const body = {
      measurementConsumer: acme.name,
      ...readable({ title: 'a', rating: 1.5 }),
      ...ad('A', 'B'),
    };
    const created = await ok(steps.send({ ...body, requestId: 'r1' }));
    const reversed = Object.fromEntries(Object.entries({ ...body, requestId: 'r1' }).reverse());
    expect(await ok(steps.send(reversed))).toEqual(created);
    expect(await ok(steps.send({ eventGroup: { ...body, name: created.name } }, '?requestId=r1'))).toEqual(
      created,
    );
    expect(await steps.audited(created.name)).toHaveLength(1);

    const other = await steps.send({ ...body, mediaTypes: ['VIDEO'], requestId: 'r1' });
    expect(errorOf(other)).toBe('409 ALREADY_EXISTS REQUEST_ID_REUSED');
    expect(metadata(other)).toEqual({ requestId: 'r1', existing: created.name });
    const title = { ...body, ...readable({ title: 'b', rating: 1.5 }), requestId: 'r1' };
    expect(errorOf(await steps.send(title))).toBe('409 ALREADY_EXISTS REQUEST_ID_REUSED');
    // Another provider can use the same request ID, because each provider has its own request IDs.
    const elsewhere = await ok(steps.send({ measurementConsumer: acme.name, requestId: 'r1' }, '', chirper));
    expect(elsewhere.name).toContain(chirper.name);
  });

  it('returns the current event group, even if it is deleted', async () => {
    const body = { measurementConsumer: acme.name, ...ad('A', 'B'), requestId: 'r2' };
    const { name } = await ok(steps.send(body));
    const updated = await ok(steps.put(name, { measurementConsumer: acme.name }));
    expect(await ok(steps.send(body))).toEqual(updated);
    expect(await ok(steps.send(body, '?validateOnly=true'))).toEqual(updated);
    const deleted = await ok(steps.drop(name));
    expect(await ok(steps.send(body))).toEqual(deleted);
  });

  it('can be used again after a rejected create', async () => {
    expect(
      (await steps.send({ measurementConsumer: 'measurementConsumers/nobody', requestId: 'r3' })).status,
    ).toBe(400);
    expect(await ok(steps.send({ measurementConsumer: acme.name, requestId: 'r3' }))).toMatchObject({
      state: 'ACTIVE',
    });
  });

  it('creates one event group for 20 concurrent requests', async () => {
    const body = { measurementConsumer: acme.name, requestId: 'r4' };
    const replies = await Promise.all(Array.from({ length: 20 }, () => ok(steps.send(body))));
    expect(new Set(replies.map((a) => a.name)).size).toBe(1);
  });
});

describe('reading an event group', () => {
  it('is denied to other parties, and to its own parties under the name of the other side', async () => {
    const group = await steps.make();
    expect(errorOf(await exchange.call(globex.token, 'GET', `/v2alpha/${asConsumer(group, globex)}`))).toBe(
      NOT_FOUND,
    );
    const denied: [DevParty, string][] = [
      [globex, asConsumer(group)],
      [acme, group.name],
      [chirper, group.name],
      [streamly, asConsumer(group)],
    ];
    for (const [party, name] of denied) {
      const reply = await exchange.call(party.token, 'GET', `/v2alpha/${name}`);
      expect(errorOf(reply)).toBe(DENIED);
      const absent = await exchange.call(party.token, 'GET', `/v2alpha/${name}x`);
      expect(absent.json).toEqual(reply.json);
    }
    const operator = await exchange.call(exchange.dev.operator.token, 'GET', `/v2alpha/${group.name}`);
    expect(errorOf(operator)).toBe(DENIED);
  });
});
