/** What holds for every list of the routes table: its order, its filters, and which page tokens it takes. */
import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { ROUTES, type Route } from '@measurement-exchange/contract';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { loadDescriptors, loadMeasurements } from '@measurement-exchange/testkit/bulk';
import { bindingOf } from '@measurement-exchange/testkit/callers/cells';
import { type DevParty, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { shareMeasurement } from '@measurement-exchange/testkit/shareMeasurement';
import { castOf, errorOf, ok, post } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { ad } from '../eventGroups/steps.ts';

/** A list, and the same in SQL. */
interface List {
  /** The list that is read, and lists of other parents. */
  paths: [string, ...string[]];
  table: string;
  /** Whose rows are in the list. */
  where?: string;
  /** What is in the list without a filter. */
  unfiltered?: string;
  /** The end of an item's name. */
  key?: string;
  /** By the query that asks for each. */
  orders?: Record<string, string>;
  /** Of each parameter: values, and the rows that each leaves. */
  filters?: Record<string, Filter[]>;
  /** Queries that ask for the same list, so that its page tokens are good for them. */
  same?: string[];
}
type Filter = [value: string, condition: string];

/** The first measurement was created at 0 microseconds; ten at a time share a time. */
const at = (micros: number) => `2026-01-01T00:00:00.${String(micros).padStart(6, '0')}Z`;
const day = (n: number) => `2026-03-0${n}T00:00:00.000000Z`;
const nth = (n: number) => `m${createHash('md5').update(String(n)).digest('hex')}`;

const equal = (column: string, ...values: string[]): Filter[] =>
  values.map((value) => [value, `${column} = '${value}'`]);
const compared = (column: string, operator: string, ...times: string[]): Filter[] =>
  times.map((time) => [time, `${column} ${operator} '${time}'`]);

const BY_CREATION = { '': 'create_time, id' };
const BY_UPDATE = { ...BY_CREATION, [`filter.updatedAfter=${at(0)}`]: 'update_time, id' };

const ACTIVE = `state = 'ACTIVE'`;
const START = `coalesce(availability_start, '-infinity')`;
const END = `coalesce(availability_end, 'infinity')`;
const EVENT_GROUPS = {
  table: 'event_groups',
  unfiltered: ACTIVE,
  orders: {
    ...BY_CREATION,
    'orderBy=dataAvailabilityStartTime': `${START}, id`,
    'orderBy=dataAvailabilityStartTime%20desc': `${START} DESC, id DESC`,
  },
};
const EVENT_GROUP_FILTERS: Record<string, Filter[]> = {
  'filter.mediaTypes': [
    ['VIDEO', `'VIDEO' = ANY(media_types) AND ${ACTIVE}`],
    ['DISPLAY', `'DISPLAY' = ANY(media_types) AND ${ACTIVE}`],
  ],
  'filter.dataAvailabilityStartTimeOnOrAfter': compared(
    `${ACTIVE} AND availability_start`,
    '>=',
    day(1),
    day(2),
  ),
  'filter.dataAvailabilityStartTimeOnOrBefore': compared(
    `${ACTIVE} AND availability_start`,
    '<=',
    day(1),
    day(2),
  ),
  'filter.dataAvailabilityEndTimeOnOrAfter': compared(`${ACTIVE} AND ${END}`, '>=', day(5), day(6)),
  'filter.dataAvailabilityEndTimeOnOrBefore': compared(`${ACTIVE} AND ${END}`, '<=', day(5), day(6)),
  'filter.metadataSearchQuery': [
    ['cola', `brand_name = 'Cola' AND ${ACTIVE}`],
    ['winter', `campaign_name = 'Winter' AND ${ACTIVE}`],
  ],
  showDeleted: [['true', 'true']],
};

const [ACME, GLOBEX] = ['measurementConsumers/acme', 'measurementConsumers/globex'];
const [STREAMLY, CHIRPER] = ['dataProviders/streamly', 'dataProviders/chirper'];
const [FIRST_DUCHY, SECOND_DUCHY] = ['duchies/a', 'duchies/b'];

/** Key identifiers of the certificates that are added here. */
const keyOf = (party: string, n: number) => createHash('sha256').update(`${party} ${n}`).digest();
const certificates = (party: string, other: string): List => ({
  paths: [`${party}/certificates`, `${other}/certificates`],
  table: 'certificates',
  where: `party = '${party}'`,
  filters: {
    'filter.subjectKeyIdentifiers': [1, 2].map((n) => [
      encodeURIComponent(keyOf(party, n).toString('base64')),
      `subject_key_identifier = '\\x${keyOf(party, n).toString('hex')}'`,
    ]),
  },
});
const parties = (collection: string): List => ({
  paths: [collection],
  table: 'parties',
  where: `name LIKE '${collection}/%'`,
  key: `split_part(name, '/', 2)`,
  orders: { '': 'create_time, name' },
});

/** Every list of the routes table. */
const LISTS: Record<string, List> = {
  'GET measurementConsumers/*/measurements': {
    paths: [`${ACME}/measurements`, `${GLOBEX}/measurements`],
    table: 'measurements',
    where: `consumer = '${ACME}'`,
    orders: BY_UPDATE,
    filters: {
      'filter.states': equal('state', 'SUCCEEDED', 'FAILED'),
      'filter.createdAfter': compared('create_time', '>', at(5), at(6)),
      'filter.createdBefore': compared('create_time', '<', at(5), at(6)),
      'filter.updatedAfter': compared('update_time', '>', at(20), at(21)),
      'filter.updatedBefore': compared('update_time', '<', at(20), at(21)),
    },
  },
  'GET dataProviders/*/requisitions': {
    paths: [`${STREAMLY}/requisitions`, `${CHIRPER}/requisitions`],
    table: 'requisitions',
    where: `provider = '${STREAMLY}'`,
    orders: BY_UPDATE,
    filters: {
      'filter.states': equal('state', 'UNFULFILLED', 'FULFILLED'),
      'filter.updatedAfter': compared('update_time', '>', at(20), at(21)),
    },
  },
  // Of one that a provider refused: it was created at 20 and updated at 28 microseconds.
  'GET measurementConsumers/*/measurements/*/requisitions': {
    paths: [200, 100].map((n) => `${ACME}/measurements/${nth(n)}/requisitions`) as [string, string],
    table: 'requisitions',
    where: `measurement = '${nth(200)}'`,
    orders: BY_UPDATE,
    filters: {
      'filter.states': [
        ['WITHDRAWN', `state = 'WITHDRAWN'`],
        ['REFUSED&filter.states=WITHDRAWN', `state IN ('REFUSED', 'WITHDRAWN')`],
      ],
      'filter.updatedAfter': compared('update_time', '>', at(26), at(27), at(28)),
    },
  },
  'GET dataProviders/*/eventGroupMetadataDescriptors': {
    paths: [STREAMLY, CHIRPER, 'dataProviders/-'].map(
      (parent) => `${parent}/eventGroupMetadataDescriptors`,
    ) as [string, string, string],
    table: 'event_group_metadata_descriptors',
    where: `provider = '${STREAMLY}'`,
    same: ['descriptorSetEncoding=BASE64'],
  },
  'GET dataProviders/*/eventGroups': {
    ...EVENT_GROUPS,
    paths: [`${STREAMLY}/eventGroups`, `${CHIRPER}/eventGroups`],
    where: `provider = '${STREAMLY}'`,
    filters: {
      ...EVENT_GROUP_FILTERS,
      'filter.measurementConsumers': equal(`${ACTIVE} AND consumer`, ACME, GLOBEX),
    },
    same: ['showDeleted=false', `filter.dataProviders=${STREAMLY}`],
  },
  'GET measurementConsumers/*/eventGroups': {
    ...EVENT_GROUPS,
    paths: [`${ACME}/eventGroups`, `${GLOBEX}/eventGroups`],
    where: `consumer = '${ACME}'`,
    filters: {
      ...EVENT_GROUP_FILTERS,
      'filter.dataProviders': equal(`${ACTIVE} AND provider`, STREAMLY, CHIRPER),
    },
    same: ['showDeleted=false', `filter.measurementConsumers=${ACME}`],
  },
  'GET measurementConsumers/*/certificates': certificates(ACME, GLOBEX),
  'GET dataProviders/*/certificates': certificates(STREAMLY, CHIRPER),
  'GET duchies/*/certificates': certificates(FIRST_DUCHY, SECOND_DUCHY),
  'GET measurementConsumers': parties('measurementConsumers'),
  'GET dataProviders': parties('dataProviders'),
  'GET duchies': parties('duchies'),
  'GET duchies/*/computations': {
    paths: [`${FIRST_DUCHY}/computations`, `${SECOND_DUCHY}/computations`],
    table: 'computations',
    where: `duchy = '${FIRST_DUCHY}'`,
    orders: { '': 'update_time, id', [`filter.updatedAfter=${at(0)}`]: 'update_time, id' },
    filters: {
      'filter.states': equal('state', 'PENDING_PARAMS', 'CANCELLED'),
      'filter.updatedAfter': compared('update_time', '>', at(0), at(1)),
    },
  },
  'GET populations': { paths: ['populations'], table: 'populations' },
  'GET principals': {
    paths: ['principals'],
    table: 'principals',
    filters: { 'filter.resource': equal('resource', ACME, STREAMLY) },
  },
  'GET trustedRoots': { paths: ['trustedRoots'], table: 'trusted_roots' },
  // Entries of one transaction share its place; what they tell of comes in the order in which it was written.
  'GET auditEntries': {
    paths: ['auditEntries'],
    table: 'audit_entries',
    key: `regexp_replace(name, '^.*/', '')`,
    orders: { '': 'xid, seq' },
    filters: { 'filter.name': equal('name', ACME, STREAMLY) },
  },
};

const FOREIGN = '400 INVALID_ARGUMENT INVALID_PAGE_TOKEN pageToken';

const exchange = useExchange({
  rate: UNLIMITED,
  logLevel: 'warn',
  // What is loaded here is old.
  computations: {
    ...{ parametersWithinHours: 1e5, fulfillWithinHours: 1e5 },
    ...{ confirmWithinHours: 1e5, computeWithinHours: 1e5 },
  },
});
beforeAll(async () => {
  const { acme, streamly, chirper } = castOf(exchange);
  const { database, dev } = exchange;
  await loadMeasurements(database, { consumer: acme, providers: dev.dataProviders, count: 220 });
  const file = { name: 'a.proto', package: 'a', syntax: 'proto3', messageType: [{ name: 'M' }] };
  const descriptorSet = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file] }));
  await loadDescriptors(database, { providers: dev.dataProviders, descriptorSet, count: 24 });
  // What is inserted below comes in the opposite order of its IDs, at one time.
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
  }
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
  await addEventGroups(streamly, ACME, [
    { ...available(1, 5), mediaTypes: ['VIDEO'], ...ad('Cola', 'Summer') },
    { ...available(1, 6), mediaTypes: ['VIDEO'], ...ad('Cola', 'Winter') },
    { ...available(1), mediaTypes: ['DISPLAY'], ...ad('Tea', 'Winter') },
    { ...available(2, 6), mediaTypes: ['DISPLAY'] },
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
  // An entry is listed once no transaction before its own can still commit, on the whole server.
  const entries = (await database.query('SELECT 1 FROM audit_entries')).length;
  const listed = async () => (await page('auditEntries', 'pageSize=1000')).items.length;
  await vi.waitUntil(async () => (await listed()) === entries, { timeout: 30_000 });
}, 120_000);

/** An order must be that of the statement: an index that has the rows in this order may be there or not. */
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

/** A caller who may read the list. */
function readerOf(path: string): string {
  if (path.endsWith('computations')) return duchyTokens.get(path.replace(/\/computations$/, ''))!;
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
const LIST_ROUTES = (ROUTES as readonly Route[]).filter((route) => properties(route).includes('pageToken'));

it('is tested for every list of the routes table, with every parameter', () => {
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

  it('orders items of one time by their IDs, on pages of any size', async () => {
    for (const [query, order] of Object.entries(orders)) {
      // The query that asks for the order may be a filter; it leaves out none here.
      const after = query.startsWith('filter.updatedAfter') ? `update_time > '${at(0)}'` : list.unfiltered;
      const expected = await inDatabase(list, after, order);
      expect(expected.length).toBeGreaterThan(2);
      for (const size of [2, 1000]) {
        expect(await walk(path, query, expected.length > 50 ? size * 8 : size), query).toEqual(expected);
      }
    }
  });

  it('leaves what its filters say, in the same order', async () => {
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

  it('takes its own page tokens, and none of another parent, filter, order or list', async () => {
    const tokenOf = async (query: string) => (await page(path, query, 'pageSize=1')).next;
    const take = async (token: string | undefined, where: string, query: string) => {
      const reply = await send(where, query, `pageToken=${token}`);
      return reply.status === 200 ? '200' : errorOf(reply);
    };
    const own = await tokenOf('');
    for (const query of ['', 'pageSize=2', ...same]) expect(await take(own, path, query), query).toBe('200');
    const elsewhere = Object.values(LISTS).flatMap(({ paths }) => paths);
    for (const other of elsewhere.filter((one) => one !== path)) {
      expect(await take(own, other, ''), other).toBe(FOREIGN);
    }

    const tokens: [query: string, token: string][] = [];
    for (const query of [...Object.keys(orders), ...filtersOf(list).map((filter) => filter.query)]) {
      const token = await tokenOf(query);
      if (token !== undefined) tokens.push([query, token]);
    }
    for (const [i, [query, token]] of tokens.entries()) {
      expect(await take(token, path, query), query).toBe('200');
      // The one before has another value of the same parameter, or another parameter.
      const [neighbor] = tokens.at(i - 1)!;
      for (const other of ['', neighbor]) {
        if (other !== query) expect(await take(token, path, other), `${query} in ${other}`).toBe(FOREIGN);
      }
      if (query !== '') expect(await take(own, path, query), query).toBe(FOREIGN);
    }
  });
});
