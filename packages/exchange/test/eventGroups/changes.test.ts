/** Tests updates and deletions of event groups, and descriptors that change while event groups use them. */
import { type DevParty, useExchange } from '@measurement-exchange/testkit/exchange';
import { leanSet, serialize, typeUrl } from '@measurement-exchange/testkit/metadataSets';
import { castOf, errorOf, get, metadata, ok, stored } from '@measurement-exchange/testkit/steps';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  ad,
  collection,
  DENIED,
  eventGroupSteps,
  INVALID,
  idOf,
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

describe('replacing an event group', () => {
  it.each(['PATCH', 'PUT'])('by %s replaces the whole event group', async (method) => {
    const before = await steps.make({
      ...opaque,
      ...ad('A', 'B'),
      mediaTypes: ['VIDEO'],
      eventGroupReferenceId: 'r',
    });
    const body = { measurementConsumer: acme.name, ...readable({ title: 'a' }) };
    const after = await ok(steps.put(before.name, body, method));
    expect(after).toEqual({
      dataProvider: streamly.name,
      name: before.name,
      ...body,
      state: 'ACTIVE',
      createTime: before.createTime,
      updateTime: after.updateTime,
    });
    expect(after.updateTime > before.updateTime).toBe(true);
    expect(await get(exchange, streamly, before.name)).toEqual(after);
    // A client is allowed to send back an event group that it read, including output-only fields.
    expect(await ok(steps.put(before.name, { eventGroup: after }, method))).toMatchObject(body);
    expect(await steps.audited(before.name)).toEqual(
      ['createEventGroup 1', 'updateEventGroup 2', 'updateEventGroup 3'].map((a) => `${a} ${streamly.name}`),
    );
  });

  it('rejects a different measurement consumer', async () => {
    const group = await steps.make();
    const reply = await steps.put(group.name, { measurementConsumer: globex.name });
    expect(errorOf(reply)).toBe('400 INVALID_ARGUMENT EVENT_GROUP_INVALID_ARGS measurementConsumer');
    expect(metadata(reply)).toEqual({
      originalMeasurementConsumer: acme.name,
      providedMeasurementConsumer: globex.name,
    });
    expect(await get(exchange, streamly, group.name)).toEqual(group);
  });

  it('rejects invalid fields like a create, and writes nothing with validateOnly', async () => {
    const { name } = await steps.make();
    const body = { measurementConsumer: acme.name };
    expect(errorOf(await steps.put(name, { ...body, ...readable({ titel: 'a' }) }))).toBe(
      `${INVALID} encryptedMetadata.metadata.metadata.titel`,
    );
    expect(errorOf(await steps.put(name, { ...body, encryptedMetadata: {} }))).toBe(
      `${INVALID} encryptedMetadata`,
    );
    expect(errorOf(await steps.put(name, { ...body, name: `${name}x` }))).toBe(`${INVALID} name`);
    const before = await stored(exchange);
    expect(await ok(steps.put(name, { ...body, ...ad('A', 'B') }, 'PUT', '?validateOnly=true'))).toEqual({
      dataProvider: streamly.name,
      ...body,
      ...ad('A', 'B'),
      state: 'ACTIVE',
      findings: [],
    });
    expect(await stored(exchange)).toEqual(before);
  });

  it('returns NOT_FOUND for a missing event group, and PERMISSION_DENIED to other parties', async () => {
    const { name } = await steps.make();
    const body = { measurementConsumer: acme.name };
    const absent = await steps.put(`${collection(streamly)}/absent`, body);
    expect(errorOf(absent)).toBe(NOT_FOUND);
    expect(metadata(absent)).toEqual({ eventGroup: `${collection(streamly)}/absent` });
    const foreign = `/v2alpha/${collection(chirper)}/${name.split('/').at(-1)}`;
    expect(errorOf(await exchange.call(chirper.token, 'PUT', foreign, body))).toBe(NOT_FOUND);
    for (const party of [chirper, acme]) {
      expect(errorOf(await exchange.call(party.token, 'PUT', `/v2alpha/${name}`, body))).toBe(DENIED);
    }
    expect((await exchange.call(acme.token, 'PUT', `/v2alpha/${asConsumer({ name })}`, body)).status).toBe(
      405,
    );
  });

  it('gives each of 50 concurrent updates a distinct version, and keeps the last one', async () => {
    const { name } = await steps.make();
    const bodies = Array.from({ length: 50 }, (_, i) => ({
      measurementConsumer: acme.name,
      eventGroupReferenceId: `${i}`,
    }));
    const replies = await Promise.all(bodies.map((body) => ok(steps.put(name, body))));
    const last = replies.reduce((a, b) => (a.updateTime > b.updateTime ? a : b));
    expect(await get(exchange, streamly, name)).toEqual(last);
    expect(new Set(replies.map((a) => a.updateTime)).size).toBe(50);
    const versions = (await steps.audited(name)).map((entry) => Number(entry.split(' ')[1]));
    expect(versions).toEqual(Array.from({ length: 51 }, (_, i) => i + 1));
  });
});

describe('deleting an event group', () => {
  it('clears its metadata and attributes, and leaves the other fields readable to both parties', async () => {
    const kept = {
      eventGroupReferenceId: 'r',
      mediaTypes: ['OTHER'],
      dataAvailabilityInterval: { startTime: '2026-01-01T00:00:00.000000Z' },
    };
    for (const content of [opaque, readable({ title: 'a' })]) {
      const attributes = [{ name: 'age', type: 'INT' }];
      const group = await steps.make({ ...kept, attributes, ...ad('A', 'B'), ...content });
      const deleted = await ok(steps.drop(group.name));
      expect(deleted).toEqual({
        dataProvider: streamly.name,
        name: group.name,
        measurementConsumer: acme.name,
        ...kept,
        state: 'DELETED',
        createTime: group.createTime,
        updateTime: deleted.updateTime,
      });
      expect(deleted.updateTime > group.updateTime).toBe(true);
      expect(await get(exchange, streamly, group.name)).toEqual(deleted);
      expect(await get(exchange, acme, asConsumer(group))).toEqual({ ...deleted, name: asConsumer(group) });
      const [row] = await exchange.database.query('SELECT * FROM event_groups WHERE id = $1', [idOf(group)]);
      for (const column of [
        'metadata_ciphertext',
        'metadata_value',
        'descriptor',
        'key_data',
        'brand_name',
        'attributes',
      ]) {
        expect(row![column]).toBeNull();
      }
      expect(await steps.audited(group.name)).toEqual([
        `createEventGroup 1 ${streamly.name}`,
        `deleteEventGroup 2 ${streamly.name}`,
      ]);
    }
  });

  it('is final: it cannot be deleted again, nor replaced', async () => {
    const { name } = await steps.make();
    const before = await ok(steps.drop(name));
    expect(errorOf(await steps.drop(name))).toBe(NOT_FOUND);
    expect(errorOf(await steps.put(name, { measurementConsumer: acme.name }))).toBe(NOT_FOUND);
    const request = { eventGroup: { name, measurementConsumer: acme.name } };
    expect(errorOf(await steps.send({ requests: [request] }, ':batchUpdate'))).toBe(NOT_FOUND);
    expect(await get(exchange, streamly, name)).toEqual(before);
  });

  it('is NOT_FOUND for a missing one, PERMISSION_DENIED for other parties, and a no-op with validateOnly', async () => {
    const { name } = await steps.make(opaque);
    expect(errorOf(await steps.drop(`${collection(streamly)}/absent`))).toBe(NOT_FOUND);
    for (const party of [chirper, acme]) {
      expect(errorOf(await exchange.call(party.token, 'DELETE', `/v2alpha/${name}`))).toBe(DENIED);
    }
    const before = await stored(exchange);
    expect(await ok(steps.drop(name, '?validateOnly=true'))).toEqual({
      dataProvider: streamly.name,
      measurementConsumer: acme.name,
      state: 'DELETED',
      findings: [],
    });
    expect(await stored(exchange)).toEqual(before);
  });
});

describe('a descriptor that changes', () => {
  const narrow = { file: [{ name: 'a.proto', package: 'a', messageType: [{ name: 'M' }] }] };
  const waiting = async () => {
    const waiters = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return (await exchange.database.query(waiters)).length;
  };

  it('blocks creates of event groups until its update is committed, and then validates them with the new types', async () => {
    const name = await steps.register(streamly, leanSet);
    const someone = new pg.Client({ connectionString: exchange.database.url });
    await someone.connect();
    try {
      await someone.query('BEGIN');
      await someone.query('SELECT 1 FROM event_group_metadata_descriptors WHERE id = $1 FOR UPDATE', [
        idOf({ name }),
      ]);
      const updated = steps.put(name, { descriptorSet: narrow });
      await expect.poll(waiting, { interval: 10 }).toBe(1);
      const created = steps.send({ measurementConsumer: acme.name, ...readable({ title: 'a' }, name) });
      await expect.poll(waiting, { interval: 10 }).toBe(2);
      await someone.query('ROLLBACK');
      await ok(updated);
      expect(errorOf(await created)).toBe(`${INVALID} encryptedMetadata.metadata.metadata.@type`);
    } finally {
      await someone.end();
    }
  });

  it('returns metadata that it can no longer decode as the stored bytes', async () => {
    const name = await steps.register(streamly, leanSet);
    const group = await steps.make(readable({ title: 'a' }, name));
    await ok(steps.put(name, { descriptorSet: narrow }));
    const raw = {
      typeUrl: typeUrl('shows.Episode'),
      value: Buffer.from(serialize('shows.Episode', { title: 'a' })).toString('base64'),
    };
    const read = await get(exchange, acme, asConsumer(group));
    expect(read.encryptedMetadata.metadata).toEqual({ eventGroupMetadataDescriptor: name, metadata: raw });
    const decoded = await exchange.call(streamly.token, 'GET', `/v2alpha/${group.name}:decode`);
    expect(errorOf(decoded)).toBe('400 FAILED_PRECONDITION METADATA_NOT_READABLE');

    await ok(steps.put(name, { descriptorSet: Buffer.from(leanSet).toString('base64') }));
    expect(await get(exchange, streamly, group.name)).toEqual(group);
  });
});
