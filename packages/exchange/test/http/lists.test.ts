/** Tests the rules for every list of the routes table: its order, its filters, and the page tokens that it accepts. */
import { create, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { ROUTES, type Route } from '@measurement-exchange/contract';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { loadDescriptors, loadMeasurements } from '@measurement-exchange/testkit/bulk';
import { bindingOf } from '@measurement-exchange/testkit/callers/cells';
import { type DevParty, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { reportRequest } from '@measurement-exchange/testkit/requests';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { shareMeasurement } from '@measurement-exchange/testkit/shareMeasurement';
import { castOf, errorOf, ok, post } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { ad } from '../eventGroups/steps.ts';
import {
  ACME,
  at,
  BY_CREATION,
  day,
  FIRST_DUCHY,
  GLOBEX,
  LISTS,
  type List,
  nth,
  SECOND_DUCHY,
  STREAMLY,
} from './listTable.ts';

const FOREIGN = '400 INVALID_ARGUMENT INVALID_PAGE_TOKEN pageToken';

const exchange = useExchange({
  rate: UNLIMITED,
  logLevel: 'warn',
  // Use long deadlines, so that the old test data does not expire.
  computations: {
    ...{ parametersWithinHours: 1e5, fulfillWithinHours: 1e5 },
    ...{ confirmWithinHours: 1e5, computeWithinHours: 1e5 },
  },
});
beforeAll(async () => {
  const { acme, streamly, chirper } = castOf(exchange);
  const { database, dev } = exchange;
  await loadMeasurements(database, { consumer: acme, providers: dev.dataProviders, count: 220 });
  // Disable the triggers, because one of them prevents updates of measurements that have ended.
  await database.query(
    `ALTER TABLE measurements DISABLE TRIGGER USER;
     UPDATE measurements SET reference_id = (ARRAY['spring', 'fall'])[1 + (hashtext(id) & 1)] WHERE hashtext(id) % 3 <> 0;
     ALTER TABLE measurements ENABLE TRIGGER USER`,
  );
  const file = { name: 'a.proto', package: 'a', syntax: 'proto3', messageType: [{ name: 'M' }] };
  const descriptorSet = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file] }));
  await loadDescriptors(database, { providers: dev.dataProviders, descriptorSet, count: 24 });
  // Insert the rows below in the reverse order of their IDs and with the same time, so that only sorting by ID gives
  // the right order.
  const added = `'${day(1)}' FROM unnest(ARRAY['d', 'c', 'b', 'a']) WITH ORDINALITY AS added(id, n)`;
  for (const collection of ['measurementConsumers', 'dataProviders', 'duchies']) {
    await database.query(
      `INSERT INTO parties (name, create_time, update_time) SELECT '${collection}/' || id, '${day(1)}', ${added}`,
    );
  }
  for (const party of [ACME, STREAMLY, FIRST_DUCHY]) {
    await database.query(
      `INSERT INTO certificates (party, id, x509_der, subject_key_identifier, not_before, not_after, create_time)
       SELECT '${party}', id, sha256(convert_to('${party}' || id, 'UTF8')),
              sha256(convert_to('${party} ' || 1 + n % 2, 'UTF8')), '${day(1)}', '${day(9)}', ${added}`,
    );
    await database.query(
      `INSERT INTO webhooks (id, party, url, description, kinds, state, pause_reason, secret, cursor_xid, cursor_seq,
         next_attempt_time, update_time, create_time)
       SELECT id || md5('${party}'), '${party}', 'https://example.com/', '', '{}', 'PAUSED', 'a test', '', '0', 0, now(),
              now(), ${added}`,
    );
  }
  await database.query(
    `INSERT INTO api_keys (consumer, id, key_hash, display_name, expire_time, create_time)
     SELECT '${ACME}', id, sha256(convert_to(id, 'UTF8')), id, '${day(9)}', ${added}`,
  );
  await database.query(
    `INSERT INTO principals (id, issuer, subject, resource, create_time)
     SELECT id, 'issuer', id, (ARRAY['${ACME}', '${STREAMLY}'])[1 + n % 2], ${added}`,
  );
  await database.query(
    `INSERT INTO trusted_roots (id, party, x509_der, subject_key_identifier, not_before, not_after, create_time)
     SELECT id, '${FIRST_DUCHY}', convert_to(id, 'UTF8'), '\\x00', '${day(1)}', '${day(9)}', ${added}`,
  );
  for (const id of ['d', 'c', 'b', 'a']) {
    const body = { vidRanges: [{ start: 1, end: 9 }] };
    await ok(exchange.call(dev.operator.token, 'POST', `/v2alpha/populations?populationId=${id}`, body));
  }
  await database.query(`UPDATE populations SET create_time = '${day(1)}'`);
  await addReports(acme);
  await addEventGroups(streamly, ACME, [
    { ...available(1, 5), mediaTypes: ['VIDEO'], ...ad('Cola', 'Summer') },
    { ...available(1, 6), mediaTypes: ['VIDEO'], ...ad('Cola', 'Winter') },
    { ...available(1), mediaTypes: ['DISPLAY'], ...ad('Tea', 'Winter') },
    { ...available(2, 6), mediaTypes: ['DISPLAY'], entityKey: { entityType: 'creative', entityId: '1' } },
    ad('Tea', 'Winter'),
    {},
  ]);
  await addEventGroups(streamly, GLOBEX, [available(1), available(2, 5)]);
  await addEventGroups(chirper, ACME, [available(1), available(2, 5)]);
  for (const name of await addEventGroups(streamly, ACME, [available(1), {}])) {
    await ok(exchange.call(streamly.token, 'DELETE', `/v2alpha/${name}`));
  }
  await database.query(`UPDATE event_groups SET create_time = '${day(1)}'`);
  const duchies = { firstWorker: FIRST_DUCHY, secondWorker: SECOND_DUCHY, aggregator: 'duchies/c' };
  for (let i = 0; i < 30; i++) await shareMeasurement(database, nth(i), duchies);
  for (const i of [3, 4, 13, 23]) await ok(post(exchange, acme, `${ACME}/measurements/${nth(i)}:cancel`));
  const issuer = await createDevIssuer({ keyFile: devKeyFile(exchange.dataDir), baseUrl: exchange.url });
  for (const duchy of [FIRST_DUCHY, SECOND_DUCHY]) duchyTokens.set(duchy, await issuer.mint(duchy));
  for (const party of [ACME, STREAMLY, ACME, STREAMLY]) {
    await ok(exchange.call(dev.operator.token, 'PATCH', `/v2alpha/${party}`, { displayName: 'Again' }));
  }
  await withoutOrderedIndexes();
  // Wait until all entries are visible. An entry appears only when no earlier transaction on the server can still
  // commit.
  const entries = (await database.query('SELECT 1 FROM audit_entries')).length;
  const listed = async () => (await page('auditEntries', 'pageSize=1000')).items.length;
  await vi.waitUntil(async () => (await listed()) === entries, { timeout: 90_000 });
}, 120_000);

/** Adds reports without a measurement, reports whose measurement succeeded, and a deleted report. */
async function addReports(consumer: DevParty): Promise<void> {
  const { measurements } = await ok(
    exchange.call(consumer.token, 'GET', `/v2alpha/${ACME}/measurements?filter.states=SUCCEEDED&pageSize=1`),
  );
  for (const id of ['e', 'd', 'c', 'b', 'a']) {
    const body = reportRequest(id < 'c' ? [measurements[0].name] : []);
    await ok(post(exchange, consumer, `${ACME}/reports?reportId=${id}`, body));
  }
  await ok(exchange.call(consumer.token, 'DELETE', `/v2alpha/${ACME}/reports/e`));
  await exchange.database.query(`UPDATE reports SET create_time = '${day(1)}'`);
}

/** Disables index scans, so that the order can come only from the statement and not from an index. */
async function withoutOrderedIndexes(): Promise<void> {
  const { database } = exchange;
  const [row] = await database.query('SELECT current_database() AS name');
  for (const kind of ['enable_indexscan', 'enable_indexonlyscan']) {
    await database.query(`ALTER DATABASE ${row!.name} SET ${kind} = off`);
  }
  await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'mex %'`,
  );
  const list = () => exchange.call(exchange.dev.operator.token, 'GET', '/v2alpha/trustedRoots');
  await vi.waitUntil(async () => (await list()).status === 200, 30_000);
}

const available = (from: number, to?: number) => ({
  dataAvailabilityInterval: { startTime: day(from), ...(to && { endTime: day(to) }) },
});

async function addEventGroups(provider: DevParty, consumer: string, groups: object[]): Promise<string[]> {
  const requests = groups.map((group) => ({ eventGroup: { measurementConsumer: consumer, ...group } }));
  const { eventGroups } = await ok(
    post(exchange, provider, `${provider.name}/eventGroups:batchCreate`, { requests }),
  );
  return eventGroups.map(({ name }: { name: string }) => name);
}

const duchyTokens = new Map<string, string>();

/** Returns the token of a caller that may read the list. */
function readerOf(path: string): string {
  if (/^duchies\/.*(computations|webhooks)$/.test(path)) return duchyTokens.get(path.replace(/\/\w+$/, ''))!;
  const { acme, ...others } = castOf(exchange);
  if (path.endsWith('Descriptors')) return acme.token;
  const owner = [acme, ...Object.values(others)].find(({ name }) => path.startsWith(`${name}/`));
  return path.endsWith('certificates') || !owner ? exchange.dev.operator.token : owner.token;
}

const send = (path: string, ...query: string[]) =>
  exchange.call(readerOf(path), 'GET', `/v2alpha/${path}?${query.filter((part) => part !== '').join('&')}`);

async function page(
  path: string,
  ...query: string[]
): Promise<{ items: string[]; next: string | undefined }> {
  const { nextPageToken, ...rest } = await ok(send(path, ...query));
  const [items] = Object.values(rest) as [{ name: string }[]];
  return { items: items.map(({ name }) => name.split('/').at(-1)!), next: nextPageToken };
}

async function walk(path: string, query: string, pageSize: number): Promise<string[]> {
  const found: string[] = [];
  for (let token = ''; ; ) {
    const { items, next } = await page(path, query, `pageSize=${pageSize}`, `pageToken=${token}`);
    found.push(...items);
    if (next === undefined) return found;
    token = next;
  }
}

async function inDatabase(list: List, condition = list.unfiltered, order?: string): Promise<string[]> {
  const { table, where = 'true', key = 'id', orders = BY_CREATION } = list;
  const rows = await exchange.database.query(
    `SELECT ${key} AS key FROM ${table} WHERE ${where} AND ${condition ?? 'true'} ORDER BY ${order ?? orders['']}`,
  );
  return rows.map((row) => row.key as string);
}

const filtersOf = ({ filters = {} }: List) =>
  Object.entries(filters).flatMap(([parameter, values]) =>
    values.map(([value, condition]) => ({ query: `${parameter}=${value}`, condition })),
  );

const properties = (route: Route) => Object.keys((route.query as { properties?: object })?.properties ?? {});
/**
 * The lists that all tests of this file cover. Changes, deliveries, and timelines have their own tests. The list of
 * changes has no last page, and the items of the other two lists have no names.
 */
const LIST_ROUTES = (ROUTES as readonly Route[]).filter(
  (route) =>
    properties(route).includes('pageToken') &&
    !/\/(changes|deliveries)$/.test(route.path) &&
    route.verb !== 'timeline',
);

it('LISTS covers every list of the routes table, with every query parameter', () => {
  expect(Object.keys(LISTS).sort()).toEqual(LIST_ROUTES.map(bindingOf).sort());
  for (const route of LIST_ROUTES) {
    const { orders = {}, same = [], ...list } = LISTS[bindingOf(route)]!;
    const queries = [...Object.keys(orders), ...same, ...filtersOf(list).map(({ query }) => query)];
    const tested = new Set(queries.filter((query) => query !== '').map((query) => query.split('=')[0]));
    expect([...tested, 'pageSize', 'pageToken'].sort()).toEqual(properties(route).sort());
  }
});

describe.each(Object.entries(LISTS))('%s', (_binding, list) => {
  const [path] = list.paths;
  const { orders = BY_CREATION, same = [] } = list;

  it('orders items with the same time by their IDs, on pages of any size', async () => {
    for (const [query, order] of Object.entries(orders)) {
      // The query `filter.updatedAfter` changes the order of a list. It also leaves out rows, so apply the same
      // condition to the expected rows.
      const after = query.startsWith('filter.updatedAfter') ? `update_time > '${at(0)}'` : list.unfiltered;
      const expected = await inDatabase(list, after, order);
      expect(expected.length).toBeGreaterThan(2);
      for (const size of [2, 1000]) {
        expect(await walk(path, query, expected.length > 50 ? size * 8 : size), query).toEqual(expected);
      }
    }
  });

  it('returns the items that match its filters, in the same order', async () => {
    for (const { query, condition } of filtersOf(list)) {
      const expected = await inDatabase(
        list,
        condition,
        query.includes('.updated') ? 'update_time, id' : undefined,
      );
      const size = Math.max(1, Math.ceil(expected.length / 3));
      expect(await walk(path, query, size), query).toEqual(expected);
    }
    for (const query of same) expect(await walk(path, query, 1000), query).toEqual(await inDatabase(list));
  });

  it('accepts its own page tokens, and rejects those of another parent, filter, order or list', async () => {
    const tokenOf = async (query: string) => (await page(path, query, 'pageSize=1')).next;
    const take = async (token: string | undefined, where: string, query: string) => {
      const reply = await send(where, query, `pageToken=${token}`);
      return reply.status === 200 ? '200' : errorOf(reply);
    };
    const own = await tokenOf('');
    for (const query of ['', 'pageSize=2', ...same]) expect(await take(own, path, query), query).toBe('200');
    // Send this list's page token to the same kind of list under other parents. Also send it to a third of all lists,
    // or to all of them in `npm run stress`.
    const elsewhere = Object.values(LISTS)
      .flatMap(({ paths }) => paths)
      .filter((_, i) => isStress || i % 3 === path.length % 3);
    for (const other of [...list.paths, ...elsewhere].filter((one) => one !== path)) {
      expect(await take(own, other, ''), other).toBe(FOREIGN);
    }

    const tokens: [query: string, token: string][] = [];
    for (const query of [...Object.keys(orders), ...filtersOf(list).map((filter) => filter.query)]) {
      const token = await tokenOf(query);
      if (token !== undefined) tokens.push([query, token]);
    }
    for (const [i, [query, token]] of tokens.entries()) {
      expect(await take(token, path, query), query).toBe('200');
      // The list must reject this token without a query. It must also reject the token with the previous query, which
      // has a different parameter or a different value.
      const [neighbor] = tokens.at(i - 1)!;
      for (const other of ['', neighbor]) {
        if (other !== query) expect(await take(token, path, other), `${query} in ${other}`).toBe(FOREIGN);
      }
      if (query !== '') expect(await take(own, path, query), query).toBe(FOREIGN);
    }
  });
});
