/**
 * Tests lists that have more rows than fit on one page. In most tests, a reader reads a list page by page while a
 * writer adds rows to the list and changes existing rows.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { MEASUREMENT_STATES } from '@measurement-exchange/contract';
import { BULK_START, loadDescriptors, loadMeasurements } from '@measurement-exchange/testkit/bulk';
import {
  type DevParty,
  fulfillment,
  measurementRequest,
  UNLIMITED,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import { beforeAll, describe, expect, it } from 'vitest';
import { etagOf } from '../../src/domain/measurement.ts';

const ROWS = 1_207;
const DESCRIPTORS = 307;
const TIME = `'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'`;

/** The fields of a list item that matter for paging. */
interface Item {
  name: string;
  state?: string;
  createTime?: string;
  updateTime?: string;
}

let acme: DevParty;
let streamly: DevParty;
/** Pending measurements that `writeOnce` fulfills or cancels, in no particular order. Each has one requisition. */
let open: { id: string; requisition: string; nonce: bigint }[];

const exchange = useExchange({ rate: UNLIMITED, logLevel: 'warn' });
beforeAll(async () => {
  [acme] = exchange.dev.measurementConsumers as [DevParty];
  [streamly] = exchange.dev.dataProviders as [DevParty];
  await loadMeasurements(exchange.database, {
    consumer: acme,
    providers: exchange.dev.dataProviders,
    count: ROWS,
  });
  await loadDescriptors(exchange.database, {
    providers: exchange.dev.dataProviders,
    descriptorSet: Buffer.from(descriptorSet('loaded'), 'base64'),
    count: DESCRIPTORS,
  });
  const rows = await exchange.database.query(`
    SELECT m.id, r.id AS requisition, i AS nonce FROM generate_series(0, ${ROWS - 1}) AS i
      JOIN measurements m ON m.id = 'm' || md5(i::text) JOIN requisitions r ON r.measurement = m.id
     WHERE r.state = 'UNFULFILLED' AND m.requisition_count = 1 ORDER BY md5(m.id)`);
  open = rows.map((row) => ({ ...(row as (typeof open)[number]), nonce: BigInt(row.nonce as number) }));
});

function descriptorSet(name: string): string {
  const file = {
    name: `${name}.proto`,
    package: name,
    syntax: 'proto3',
    messageType: [{ name: 'Metadata' }],
  };
  const set = create(FileDescriptorSetSchema, { file: [file] });
  return Buffer.from(toBinary(FileDescriptorSetSchema, set)).toString('base64');
}

async function write(token: string, method: string, path: string, body?: unknown): Promise<{ name: string }> {
  const reply = await exchange.call(token, method, `/v2alpha/${path}`, body);
  expect(reply.status, reply.text).toBe(200);
  return reply.json;
}

/**
 * Runs one round of writes that add rows to the lists and change existing rows. A round ends with a pause, so that
 * repeated rounds make about a hundred writes a second.
 */
async function writeOnce(): Promise<void> {
  await write(acme.token, 'POST', `${acme.name}/measurements`, measurementRequest(acme, [streamly]));
  const descriptors = `${streamly.name}/eventGroupMetadataDescriptors`;
  const { name } = await write(streamly.token, 'POST', descriptors, {
    descriptorSet: descriptorSet('created'),
  });
  await write(streamly.token, 'PUT', name, { descriptorSet: descriptorSet('updated') });
  const [fulfilled, cancelled] = open.splice(-2) as [(typeof open)[number], (typeof open)[number]];
  const etag = etagOf({ id: fulfilled.requisition, version: 1 });
  const body = fulfillment(streamly, { etag }, fulfilled.nonce);
  await write(
    streamly.token,
    'POST',
    `${streamly.name}/requisitions/${fulfilled.requisition}:fulfillDirect`,
    body,
  );
  await write(acme.token, 'POST', `${acme.name}/measurements/${cancelled.id}:cancel`);
  await sleep(30);
}

async function whileOthersWrite<T>(work: () => Promise<T>): Promise<T> {
  let over = false;
  const writing = (async () => {
    while (!over) await writeOnce();
  })();
  try {
    return await work();
  } finally {
    over = true;
    await writing;
  }
}

/** Reads all pages of a list by following the page tokens. Uses the page sizes in turn. */
async function walk(
  reader: DevParty,
  path: string,
  { sizes, query = '' }: { sizes: number[]; query?: string },
): Promise<Item[]> {
  const items: Item[] = [];
  let token = '';
  for (let page = 0; ; page++) {
    const pageSize = sizes[page % sizes.length]!;
    const url = `/v2alpha/${path}?pageSize=${pageSize}&pageToken=${token}${query && `&${query}`}`;
    const { status, text, json } = await exchange.call(reader.token, 'GET', url);
    expect(status, text).toBe(200);
    const rows: Item[] = json[path.split('/').at(-1)!];
    expect(rows.length).toBeLessThanOrEqual(pageSize);
    if (json.nextPageToken !== undefined) expect(rows.length).toBe(pageSize);
    items.push(...rows);
    token = json.nextPageToken ?? '';
    if (token === '') return items;
  }
}

const TABLES = {
  measurements: ['measurements', 'consumer'],
  requisitions: ['requisitions', 'provider'],
  eventGroupMetadataDescriptors: ['event_group_metadata_descriptors', 'provider'],
} as const;

/** Returns the rows that exist now, in the form of the API. */
async function stored(kind: keyof typeof TABLES, ofParent?: DevParty): Promise<Required<Item>[]> {
  const [table, parent] = TABLES[kind];
  const rows = await exchange.database.query(
    `SELECT ${parent} || '/${kind}/' || id AS name, to_jsonb(t) ->> 'state' AS state,
            to_char(create_time AT TIME ZONE 'UTC', ${TIME}) AS "createTime",
            to_char(update_time AT TIME ZONE 'UTC', ${TIME}) AS "updateTime"
       FROM ${table} AS t WHERE $1 IN (${parent}, '-')`,
    [ofParent?.name ?? '-'],
  );
  return rows as unknown as Required<Item>[];
}

/** Expects that each item comes strictly after the item before it, which also excludes duplicates. */
function expectOrder(items: Item[], time: 'createTime' | 'updateTime'): void {
  const positions = items.map((item) => `${item[time]} ${item.name.split('/').at(-1)}`);
  expect(positions.findIndex((position, i) => i > 0 && position <= positions[i - 1]!)).toBe(-1);
}

function expectNoneMissing(items: Item[], expected: Item[]): void {
  const seen = new Set(items.map(({ name }) => name));
  expect(expected.filter(({ name }) => !seen.has(name))).toEqual([]);
}

/** Returns the rows of `before` that are also in `after`. */
function common(before: Item[], after: Item[]): Item[] {
  const still = new Set(after.map(({ name }) => name));
  return before.filter(({ name }) => still.has(name));
}

describe('a list that is read in pages during concurrent writes', () => {
  it.each([...(isStress ? ['1', '7'] : []), '50', '1000', '1, 1000, 33, 250'])(
    'returns each existing measurement exactly once and in order, %s at a time',
    async (text) => {
      const sizes = text.split(', ').map(Number);
      const before = await stored('measurements', acme);
      const items = await whileOthersWrite(() => walk(acme, `${acme.name}/measurements`, { sizes }));
      expectOrder(items, 'createTime');
      expectNoneMissing(items, before);
    },
  );

  it.each([isStress ? 7 : 33, 1000])(
    'returns each existing requisition of a provider exactly once and in order, %i at a time',
    async (size) => {
      const before = await stored('requisitions', streamly);
      const path = `${streamly.name}/requisitions`;
      const items = await whileOthersWrite(() => walk(streamly, path, { sizes: [size] }));
      expectOrder(items, 'createTime');
      expectNoneMissing(items, before);
    },
  );

  it('returns each requisition that keeps one of two states exactly once and in order', async () => {
    const matching = async () =>
      (await stored('requisitions', streamly)).filter(({ state }) => /^(UNFULFILLED|REFUSED)$/.test(state));
    const before = await matching();
    const options = { sizes: [50], query: 'filter.states=REFUSED&filter.states=UNFULFILLED' };
    const items = await whileOthersWrite(() => walk(streamly, `${streamly.name}/requisitions`, options));
    expectOrder(items, 'createTime');
    expectNoneMissing(items, common(before, await matching()));
    expect(new Set(items.map(({ state }) => state))).toEqual(new Set(['UNFULFILLED', 'REFUSED']));
  });

  it.each(['one provider', 'all providers'])(
    'returns each existing descriptor of %s exactly once and in order',
    async (which) => {
      const wildcard = which === 'all providers';
      const before = await stored('eventGroupMetadataDescriptors', wildcard ? undefined : streamly);
      const path = `${wildcard ? 'dataProviders/-' : streamly.name}/eventGroupMetadataDescriptors`;
      const found = await whileOthersWrite(() => walk(acme, path, { sizes: [7, 50, 50] }));
      const after = await stored('eventGroupMetadataDescriptors');
      const byName = new Map(after.map((item) => [item.name, item]));
      // Look up the times by name, because the response does not contain them.
      expectOrder(
        found.map(({ name }) => byName.get(name)!),
        'createTime',
      );
      expectNoneMissing(found, before);
    },
  );
});

describe('a list by update time that is read in pages during concurrent writes', () => {
  const query = 'filter.updatedAfter=2025-12-31T23:59:59.999999Z';

  it.each([[50], [1000]])('omits no existing measurement, %i at a time', async (size) => {
    const before = await stored('measurements', acme);
    const options = { sizes: [size], query };
    const items = await whileOthersWrite(() => walk(acme, `${acme.name}/measurements`, options));
    expectOrder(items, 'updateTime');
    expectNoneMissing(items, before);
  });

  it('omits no existing requisition of a provider, and returns changed ones again', async () => {
    const before = await stored('requisitions', streamly);
    const options = { sizes: [isStress ? 3 : 9], query };
    const items = await whileOthersWrite(() => walk(streamly, `${streamly.name}/requisitions`, options));
    expectOrder(items, 'updateTime');
    expectNoneMissing(items, before);
    expect(items.length).toBeGreaterThan(new Set(items.map(({ name }) => name)).size);
  });
});

describe('a list without concurrent writes', () => {
  it('pages and filters the requisitions of one measurement', async () => {
    const request = measurementRequest(acme, exchange.dev.dataProviders);
    const { name } = await write(acme.token, 'POST', `${acme.name}/measurements`, request);
    const path = `${name}/requisitions`;
    const all = await walk(acme, path, { sizes: [50] });
    expect(all.map((r) => r.name.startsWith(`${path}/`))).toEqual([true, true, true]);
    expectOrder(all, 'createTime');
    expect(await walk(acme, path, { sizes: [1] })).toEqual(all);
    expect(await walk(acme, path, { sizes: [2, 1] })).toEqual(all);

    await write(acme.token, 'POST', `${name}:cancel`);
    expect(await walk(acme, path, { sizes: [1], query: 'filter.states=UNFULFILLED' })).toEqual([]);
    const options = {
      sizes: [1],
      query: `filter.states=WITHDRAWN&filter.updatedAfter=${all[0]!.createTime}`,
    };
    const withdrawn = await walk(acme, path, options);
    expectOrder(withdrawn, 'updateTime');
    expectNoneMissing(withdrawn, all);
    options.query = `filter.updatedAfter=${withdrawn[2]!.updateTime}`;
    expect(await walk(acme, path, options)).toEqual([]);
  });

  it('returns exactly the measurements that match all five filters', async () => {
    const rows = await stored('measurements', acme);
    const loaded = rows.filter(({ createTime }) => createTime.startsWith(BULK_START.slice(0, 20)));
    const pick = <T>(from: readonly T[]) => from[Math.floor(Math.random() * from.length)]!;
    const window = () => pick([3, 20, 90]);
    let found = 0;
    for (let round = 0; round < rounds(100); round++) {
      // Derive the bounds from the creation time of a row. Each group of ten loaded rows is one microsecond after the
      // group before it, so an error of one microsecond changes the result.
      const created = pick(loaded).createTime;
      const updated = later(created, pick([0, 1, 30]));
      const states = MEASUREMENT_STATES.filter(() => Math.random() < 0.5);
      const time = pick(['createTime', 'updateTime', 'updateTime'] as const);
      const filter = {
        createdAfter: created,
        createdBefore: later(created, window()),
        ...(time === 'updateTime' && { updatedAfter: updated, updatedBefore: later(updated, window()) }),
      };
      const query = [
        ...Object.entries(filter).map(([key, bound]) => `filter.${key}=${bound}`),
        ...states.map((state) => `filter.states=${state}`),
      ].join('&');
      const expected = rows.filter(
        (row) =>
          row.createTime > filter.createdAfter &&
          row.createTime < filter.createdBefore &&
          row.updateTime > (filter.updatedAfter ?? '') &&
          row.updateTime < (filter.updatedBefore ?? '9') &&
          (states.length === 0 || states.some((state) => state === row.state)),
      );
      const items = await walk(acme, `${acme.name}/measurements`, { sizes: [pick([13, 1000])], query });
      expect(items.map(({ name }) => name).sort(), query).toEqual(expected.map(({ name }) => name).sort());
      expectOrder(items, time);
      found += items.length;
    }
    expect(found).toBeGreaterThan(0);
  });

  /** Returns the time `micros` microseconds after `time`. The result must be within the same second. */
  function later(time: string, micros: number): string {
    return `${time.slice(0, 20)}${String(Number(time.slice(20, 26)) + micros).padStart(6, '0')}Z`;
  }
});
