import { setTimeout } from 'node:timers/promises';
import { type DevParty, type Reply, useExchange } from '@measurement-exchange/testkit/exchange';
import { leanSet } from '@measurement-exchange/testkit/metadataSets';
import { castOf, errorOf, get, ok, stored } from '@measurement-exchange/testkit/steps';
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
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

describe('a batch', () => {
  let eventGroup: { measurementConsumer: string };
  beforeAll(() => {
    eventGroup = { measurementConsumer: acme.name };
  });

  it('creates up to 50 event groups, in the order of the requests', async () => {
    const requests = Array.from({ length: 50 }, (_, i) => ({
      eventGroup: {
        ...eventGroup,
        eventGroupReferenceId: `${i}`,
        ...(i % 2 ? readable({ title: `${i}` }) : opaque),
      },
    }));
    const { eventGroups } = await ok(steps.batch(requests));
    expect(eventGroups).toMatchObject(requests.map((r) => r.eventGroup));
    for (const group of [eventGroups[0], eventGroups[49]]) {
      expect(await get(exchange, streamly, group.name)).toEqual(group);
      expect(await steps.audited(group.name)).toEqual([`batchCreateEventGroups 1 ${streamly.name}`]);
    }
    expect(errorOf(await steps.batch([...requests, { eventGroup }]))).toBe(`${INVALID} requests`);
    expect(errorOf(await steps.batch([]))).toBe(`${INVALID} requests`);
  });

  it('creates all or nothing, and names each invalid field with the index of its request', async () => {
    const before = await stored(exchange);
    const bad: [unknown, string][] = [
      [{ eventGroup, parent: chirper.name }, `${INVALID} requests[1].parent`],
      [{ eventGroup: {} }, `${MISSING} requests[1].eventGroup.measurementConsumer`],
      [{}, `${MISSING} requests[1].eventGroup`],
      [
        { eventGroup: { ...eventGroup, encryptedMetadata: {} } },
        `${INVALID} requests[1].eventGroup.encryptedMetadata`,
      ],
      [
        {
          eventGroup: { ...eventGroup, ...readable({ campaign: { budget: { currency: 3, micros: 1.5 } } }) },
        },
        `${INVALID} requests[1].eventGroup.encryptedMetadata.metadata.metadata.campaign.budget.currency ` +
          'requests[1].eventGroup.encryptedMetadata.metadata.metadata.campaign.budget.micros',
      ],
      [
        { eventGroup: { measurementConsumer: 'measurementConsumers/nobody' } },
        '400 FAILED_PRECONDITION MEASUREMENT_CONSUMER_NOT_FOUND',
      ],
    ];
    for (const [request, expected] of bad) {
      expect(errorOf(await steps.batch([{ eventGroup }, request, { eventGroup }]))).toBe(expected);
    }
    expect(await stored(exchange)).toEqual(before);
  });

  it('is idempotent for each requestId, and rejects duplicate and reused ones', async () => {
    const first = await ok(steps.send({ ...eventGroup, requestId: 'b1' }));
    const requests = [
      { eventGroup, requestId: 'b2' },
      { eventGroup, requestId: 'b1', parent: streamly.name },
      { eventGroup },
    ];
    const { eventGroups } = await ok(steps.batch(requests));
    expect(eventGroups[1]).toEqual(first);
    const again = (await ok(steps.batch(requests))).eventGroups;
    expect(again.slice(0, 2)).toEqual(eventGroups.slice(0, 2));
    expect(again[2].name).not.toBe(eventGroups[2].name);
    expect(await ok(steps.send({ ...eventGroup, requestId: 'b2' }))).toEqual(eventGroups[0]);

    const before = await stored(exchange);
    const twice = [{ eventGroup, requestId: 'b3' }, { eventGroup }, { eventGroup, requestId: 'b3' }];
    expect(errorOf(await steps.batch(twice))).toBe(`${INVALID} requests[2].requestId`);
    const other = { eventGroup: { ...eventGroup, mediaTypes: ['VIDEO'] }, requestId: 'b1' };
    expect(errorOf(await steps.batch([{ eventGroup, requestId: 'b4' }, other]))).toBe(
      '409 ALREADY_EXISTS REQUEST_ID_REUSED',
    );
    expect(await stored(exchange)).toEqual(before);
  });

  it('creates one event group for each requestId when overlapping batches run concurrently', async () => {
    const ids = Array.from({ length: 12 }, (_, i) => `race${i}`);
    const batches = ids.map((_, i) => [0, 1, 2, 3].map((k) => ids[(i + k * (i % 2 ? 1 : 11)) % 12]!));
    const replies = await Promise.all(
      batches.map((part) => ok(steps.batch(part.map((requestId) => ({ eventGroup, requestId }))))),
    );
    const names = new Map(ids.map((id) => [id, new Set<string>()]));
    for (const [i, { eventGroups }] of replies.entries()) {
      for (const [k, { name }] of eventGroups.entries()) names.get(batches[i]![k]!)!.add(name);
    }
    expect([...names.values()].map((set) => set.size)).toEqual(Array(12).fill(1));
  });

  describe('that runs concurrently with other transactions', () => {
    const others: pg.Client[] = [];
    afterEach(async () => {
      for (const other of others.splice(0)) await other.end();
    });

    /**
     * Opens a transaction and inserts an event group with this request ID and the content of `eventGroup`. Leaves the
     * transaction uncommitted.
     */
    async function creating(requestId: string): Promise<pg.Client> {
      const probe = await ok(steps.send({ ...eventGroup, requestId: `probe ${requestId}` }));
      const other = new pg.Client({ connectionString: exchange.database.url });
      others.push(other);
      await other.connect();
      await other.query('BEGIN');
      await other.query(
        `WITH e AS (
           INSERT INTO event_groups (id, provider, consumer, state, request_id, request_hash, version, create_time,
                  update_time)
           SELECT $1, provider, consumer, state, $1, request_hash, version, create_time, update_time
             FROM event_groups WHERE id = $2 RETURNING provider || '/eventGroups/' || id AS name
         )
         INSERT INTO audit_entries (time, principal, operation, name, version, request_id)
         SELECT now(), $3, 'createEventGroup', name, 1, 'test' FROM e`,
        [requestId, idOf(probe), streamly.name],
      );
      return other;
    }
    const send = (ids: string[]) => steps.batch(ids.map((requestId) => ({ eventGroup, requestId })));
    const namesIn = async (reply: Promise<Reply>) =>
      (await ok(reply)).eventGroups.map((g: { name: string }) => g.name);

    it('returns the event groups that they created', async () => {
      const [first, second] = [await creating('a1'), await creating('a2')];
      const reply = send(['a0', 'a1', 'a2']);
      await setTimeout(200);
      await first.query('COMMIT');
      await setTimeout(200);
      await second.query('COMMIT');
      const [made, ...found] = await namesIn(reply);
      expect(found).toEqual(['a1', 'a2'].map((id) => `${collection(streamly)}/${id}`));
      expect(await namesIn(send(['a0']))).toEqual([made]);
    });

    it('does not deadlock with a batch in the opposite order', async () => {
      const count = async () =>
        (
          await exchange.database.query(
            'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
          )
        )[0];
      const before = await count();
      const other = await creating('c1');
      const [forward, backward] = [send(['c0', 'c1', 'c2']), send(['c2', 'c1', 'c0'])];
      await setTimeout(200);
      await other.query('ROLLBACK');
      expect(await namesIn(backward)).toEqual((await namesIn(forward)).toReversed());
      expect(await count()).toEqual(before);
    });
  });

  it('replaces all or nothing, each event group once, in the order of the requests', async () => {
    const { eventGroups } = await ok(steps.batch([{ eventGroup }, { eventGroup }, { eventGroup }]));
    const names = eventGroups.map((g: { name: string }) => g.name).reverse();
    const requests = names.map((name: string, i: number) => ({
      eventGroup: { ...eventGroup, name, eventGroupReferenceId: `${i}` },
    }));
    const reply = await ok(steps.batch(requests, 'batchUpdate'));
    expect(reply.eventGroups).toMatchObject(requests.map((r: { eventGroup: object }) => r.eventGroup));
    for (const group of reply.eventGroups) expect(await get(exchange, streamly, group.name)).toEqual(group);
    expect(await steps.audited(names[0])).toEqual([
      `batchCreateEventGroups 1 ${streamly.name}`,
      `batchUpdateEventGroups 2 ${streamly.name}`,
    ]);

    const before = await stored(exchange);
    const bad: [object, string][] = [
      [{ name: names[0], ...eventGroup }, `${INVALID} requests[1].eventGroup.name`],
      [{ name: `${collection(chirper)}/a`, ...eventGroup }, `${INVALID} requests[1].eventGroup.name`],
      [{ ...eventGroup }, `${MISSING} requests[1].eventGroup.name`],
      [{ name: `${collection(streamly)}/absent`, ...eventGroup }, NOT_FOUND],
      [
        { name: names[1], measurementConsumer: globex.name },
        '400 INVALID_ARGUMENT EVENT_GROUP_INVALID_ARGS requests[1].eventGroup.measurementConsumer',
      ],
      [
        { name: names[1], ...eventGroup, ...readable({ genres: ['GENRE_POETRY'] }) },
        `${INVALID} requests[1].eventGroup.encryptedMetadata.metadata.metadata.genres[0]`,
      ],
    ];
    for (const [group, expected] of bad) {
      const both = [{ eventGroup: { name: names[0], ...eventGroup } }, { eventGroup: group }];
      expect(errorOf(await steps.batch(both, 'batchUpdate'))).toBe(expected);
    }
    expect(await stored(exchange)).toEqual(before);
  });

  it('succeeds concurrently with batches that update the same event groups in the opposite order', async () => {
    const { eventGroups } = await ok(steps.batch(Array(10).fill({ eventGroup })));
    const requests = eventGroups.map((g: { name: string }) => ({
      eventGroup: { ...eventGroup, name: g.name },
    }));
    const all = Array.from({ length: 12 }, (_, i) => (i % 2 ? requests : requests.toReversed()));
    await Promise.all(all.map((one) => ok(steps.batch(one, 'batchUpdate'))));
    const [row] = await exchange.database.query(
      'SELECT min(version), max(version) FROM event_groups WHERE id = ANY($1)',
      [eventGroups.map(idOf)],
    );
    expect(row).toEqual({ min: 13, max: 13 });
  });

  it('is denied to other parties, and writes nothing with validateOnly', async () => {
    const before = await stored(exchange);
    const { eventGroups } = await ok(
      steps.batch([{ eventGroup, requestId: 'v' }], 'batchCreate', '?validateOnly=true'),
    );
    expect(eventGroups).toEqual([
      { ...eventGroup, dataProvider: streamly.name, state: 'ACTIVE', findings: [] },
    ]);
    for (const party of [acme, chirper]) {
      const path = `/v2alpha/${collection(streamly)}:batchCreate`;
      expect(errorOf(await exchange.call(party.token, 'POST', path, { requests: [{ eventGroup }] }))).toBe(
        DENIED,
      );
    }
    expect(await stored(exchange)).toEqual(before);
  });
});
