import { setTimeout as sleep } from 'node:timers/promises';
import { type DevParty, type Reply, useExchange } from '@measurement-exchange/testkit/exchange';
import { castOf, errorOf, get, ok } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/database/db.ts';
import { listEventGroups } from '../../src/operations/eventGroups/list.ts';
import { PageTokens } from '../../src/operations/paging.ts';
import { ad, collection, DENIED, eventGroupSteps, INVALID, idOf, readable } from './steps.ts';

let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let chirper: DevParty;
let dailynews: DevParty;
let steps: ReturnType<typeof eventGroupSteps>;

const day = (n: number) => `2026-01-${String(n).padStart(2, '0')}T00:00:00.000000Z`;
const interval = (from: number, to?: number) => ({
  dataAvailabilityInterval: { startTime: day(from), ...(to && { endTime: day(to) }) },
});

const exchange = useExchange();
beforeAll(async () => {
  ({ acme, globex, streamly, chirper, dailynews } = castOf(exchange));
  steps = eventGroupSteps(exchange);
  const groups = [
    {
      eventGroupReferenceId: 'a',
      ...interval(3, 10),
      mediaTypes: ['VIDEO'],
      ...ad('Café Müller', 'Spring sale'),
    },
    {
      eventGroupReferenceId: 'b',
      ...interval(1),
      mediaTypes: ['VIDEO', 'DISPLAY'],
      ...ad("Ben & Jerry's", 'Summer'),
    },
    {
      eventGroupReferenceId: 'c',
      measurementConsumer: globex.name,
      ...interval(3, 5),
      mediaTypes: ['OTHER'],
    },
    { eventGroupReferenceId: 'd', ...ad('foo-bar', 'SPRINGTIME Summer') },
    { eventGroupReferenceId: 'e', ...interval(2, 4), mediaTypes: ['NATIVE'], ...ad('gone', 'Spring') },
    { eventGroupReferenceId: 'f', ...interval(3, 6), ...ad('Acme', '') },
  ];
  for (const group of groups) {
    const { name } = await steps.make(group);
    if (group.eventGroupReferenceId === 'e') await ok(steps.drop(name));
  }
  await steps.make({ eventGroupReferenceId: 'z', ...interval(2) }, chirper);
});

/** Returns the items of all pages of a list. */
async function all(party: DevParty, query = '', pageSize = 2): Promise<Reply['json'][]> {
  const found: Reply['json'][] = [];
  for (let token = ''; ; ) {
    const parameters = [`pageSize=${pageSize}`, query, `pageToken=${token}`].filter((p) => p !== '');
    const page = await get(exchange, party, `${collection(party)}?${parameters.join('&')}`);
    expect(page.eventGroups.length).toBeLessThanOrEqual(pageSize);
    found.push(...page.eventGroups);
    if (page.nextPageToken === undefined) return found;
    token = page.nextPageToken;
  }
}

/** Returns the reference IDs of a list as one string, in the order of the list. Each reference ID is one letter. */
const letters = async (query = '', party = streamly) =>
  (await all(party, query)).map((group) => group.eventGroupReferenceId).join('');

describe('a list of event groups', () => {
  it("is in the order of creation, with the names of the reader's side, and without deleted ones by default", async () => {
    expect(await letters()).toBe('abcdf');
    expect(await letters('', acme)).toBe('abdfz');
    expect(await letters('', globex)).toBe('c');
    expect(await letters('showDeleted=true')).toBe('abcdef');
    expect(await letters('showDeleted=false')).toBe('abcdf');
    expect(await letters('showDeleted=true', acme)).toBe('abdefz');
    const [first] = await all(acme);
    expect(first.name).toBe(`${collection(acme)}/${idOf(first)}`);
    expect(await get(exchange, acme, first.name)).toEqual(first);
    expect((await all(streamly))[0]).toEqual({ ...first, name: `${collection(streamly)}/${idOf(first)}` });
  });

  it('is empty for a party without event groups, and denied to other parties', async () => {
    expect(await get(exchange, dailynews, collection(dailynews))).toEqual({ eventGroups: [] });
    for (const party of [chirper, acme]) {
      const reply = await exchange.call(party.token, 'GET', `/v2alpha/${collection(streamly)}`);
      expect(errorOf(reply)).toBe(DENIED);
    }
    expect(errorOf(await exchange.call(streamly.token, 'GET', `/v2alpha/${collection(acme)}`))).toBe(DENIED);
    expect(errorOf(await exchange.call(acme.token, 'GET', '/v2alpha/dataProviders/-/eventGroups'))).toBe(
      DENIED,
    );
  });

  it.each([
    ['filter.measurementConsumers=measurementConsumers/globex', 'c'],
    [
      'filter.measurementConsumers=measurementConsumers/globex&filter.measurementConsumers=measurementConsumers/acme',
      'abcdf',
    ],
    ['filter.measurementConsumers=measurementConsumers/nobody', ''],
    ['filter.dataProviders=dataProviders/streamly', 'abcdf'],
    ['filter.dataProviders=dataProviders/chirper', ''],
    ['filter.dataProviders=dataProviders/chirper&filter.dataProviders=dataProviders/streamly', 'abcdf'],
    ['filter.mediaTypes=VIDEO', 'ab'],
    ['filter.mediaTypes=DISPLAY&filter.mediaTypes=OTHER', 'bc'],
    ['filter.mediaTypes=NATIVE', ''],
    ['filter.mediaTypes=NATIVE&showDeleted=true', 'e'],
    [`filter.dataAvailabilityStartTimeOnOrAfter=${day(3)}`, 'acf'],
    [`filter.dataAvailabilityStartTimeOnOrBefore=${day(3)}`, 'abcf'],
    [`filter.dataAvailabilityStartTimeOnOrBefore=${day(2)}`, 'b'],
    [
      `filter.dataAvailabilityStartTimeOnOrAfter=${day(2)}&filter.dataAvailabilityStartTimeOnOrBefore=${day(2)}`,
      '',
    ],
    // An event group without an availability end counts as available forever, so its end is after every date.
    [`filter.dataAvailabilityEndTimeOnOrAfter=${day(6)}`, 'abdf'],
    [`filter.dataAvailabilityEndTimeOnOrBefore=${day(6)}`, 'cf'],
    [
      `filter.dataAvailabilityEndTimeOnOrAfter=${day(6)}&filter.dataAvailabilityEndTimeOnOrBefore=${day(6)}`,
      'f',
    ],
    ['filter.metadataSearchQuery=spring', 'ad'],
    ['filter.metadataSearchQuery=SPRING%20sal', 'a'],
    ['filter.metadataSearchQuery=summer%20ben', 'b'],
    ['filter.metadataSearchQuery=ummer', ''],
    [
      'filter.metadataSearchQuery=spring&filter.mediaTypes=VIDEO&orderBy=dataAvailabilityStartTime%20desc',
      'a',
    ],
    [
      `filter.measurementConsumers=measurementConsumers/acme&filter.mediaTypes=VIDEO&filter.dataAvailabilityEndTimeOnOrBefore=${day(20)}`,
      'a',
    ],
    ['orderBy=dataAvailabilityStartTime', 'dbacf'],
    ['orderBy=dataAvailabilityStartTime%20desc', 'fcabd'],
    ['orderBy=dataAvailabilityStartTime&showDeleted=true', 'dbeacf'],
    [`orderBy=dataAvailabilityStartTime&filter.dataAvailabilityStartTimeOnOrBefore=${day(3)}`, 'bacf'],
    [`orderBy=dataAvailabilityStartTime%20desc&filter.dataAvailabilityStartTimeOnOrAfter=${day(3)}`, 'fca'],
    ['orderBy=dataAvailabilityStartTime&filter.measurementConsumers=measurementConsumers/acme', 'dbaf'],
  ])('with %s returns the event groups %j', async (query, expected) => {
    const found = await letters(query);
    // The event groups a, c and f have the same start time. The list orders them by their IDs, which are random, so the
    // test ignores the order of these three.
    const isTied = query.startsWith('orderBy');
    expect(isTied ? untied(found) : found).toBe(isTied ? untied(expected) : expected);
  });
  const untied = (found: string) => found.replace(/[acf]+/, (tied) => [...tied].sort().join(''));

  it('accepts the party filters and the search query from a consumer, too', async () => {
    expect(await letters('filter.dataProviders=dataProviders/chirper', acme)).toBe('z');
    expect(
      await letters('filter.dataProviders=dataProviders/chirper&orderBy=dataAvailabilityStartTime', acme),
    ).toBe('z');
    expect(await letters('filter.measurementConsumers=measurementConsumers/globex', acme)).toBe('');
    expect(await letters('filter.metadataSearchQuery=foo', acme)).toBe('d');
    expect(await letters('filter.metadataSearchQuery=foo', globex)).toBe('');
  });

  it.each([
    ['café', 'a'],
    ['müll', 'a'],
    ["Jerry's", 'b'],
    ['Ben & Jerry', 'b'],
    ['foo-b', 'd'],
    ['bar', 'd'],
    ['   ', 'abcdf'],
    // Characters that a query language uses as operators have no special meaning.
    ["spring' | 'summer", 'd'],
    ["x':* | 'summer", ''],
    ['spring | summer', 'd'],
    ['!spring', 'ad'],
    ['spring <-> summer', 'd'],
    ['summer:*', 'bd'],
    ['\\', ''],
    ["'", ''],
    ['"spring sale"', 'a'],
    ['(spring', 'ad'],
    ['%', ''],
  ])('treats the search query %j as plain words', async (words, expected) => {
    expect(await letters(`filter.metadataSearchQuery=${encodeURIComponent(words)}`)).toBe(expected);
  });

  it('rejects a malformed filter and names it', async () => {
    for (const [query, field] of [
      ['filter.mediaTypes=RADIO', 'filter.mediaTypes[0]'],
      ['filter.measurementConsumers=acme', 'filter.measurementConsumers[0]'],
      ['filter.dataAvailabilityStartTimeOnOrAfter=yesterday', 'filter.dataAvailabilityStartTimeOnOrAfter'],
      [`filter.metadataSearchQuery=${'x'.repeat(501)}`, 'filter.metadataSearchQuery'],
      ['orderBy=name', 'orderBy'],
      ['filter.brand=x', 'filter.brand'],
    ]) {
      const reply = await exchange.call(streamly.token, 'GET', `/v2alpha/${collection(streamly)}?${query}`);
      expect(errorOf(reply)).toBe(`${INVALID} ${field}`);
    }
  });

  it('is NOT_FOUND for a party that does not exist', async () => {
    // Call the operation directly, because no caller can be authorized for a party that does not exist.
    const db = new Database({
      connection: { connectionString: exchange.database.url },
      applicationName: 'test',
    });
    const request = { params: { dataProvider: 'nobody' }, query: {} } as never;
    const pageTokens = new PageTokens(new Uint8Array(32));
    const outcome = listEventGroups({ db, pageTokens } as never, {} as never, request);
    await expect(outcome).rejects.toMatchObject({ reason: 'DATA_PROVIDER_NOT_FOUND' });
    await db.close();
  });
});

describe('a page token', () => {
  const page = (query: string, party = streamly) =>
    exchange.call(party.token, 'GET', `/v2alpha/${collection(party)}?${query}`);

  it('is valid only for the same parent, filters, order and showDeleted', async () => {
    const queries = [
      'showDeleted=false',
      'showDeleted=true',
      'orderBy=dataAvailabilityStartTime',
      'orderBy=dataAvailabilityStartTime%20desc',
      'filter.mediaTypes=VIDEO',
      'filter.metadataSearchQuery=s',
      `filter.dataAvailabilityEndTimeOnOrAfter=${day(1)}`,
      `filter.dataAvailabilityStartTimeOnOrAfter=${day(1)}`,
      'filter.measurementConsumers=measurementConsumers/acme',
    ];
    for (const query of queries) {
      const { nextPageToken } = await ok(page(`pageSize=1&${query}`));
      expect(nextPageToken).toMatch(/^[\w-]+$/);
      for (const other of queries) {
        const reply = await page(`pageSize=2&${other}&pageToken=${nextPageToken}`);
        expect(reply.status, `${query} ${other}`).toBe(other === query ? 200 : 400);
      }
      const foreign = await page(`${query}&pageToken=${nextPageToken}`, acme);
      expect(errorOf(foreign)).toBe('400 INVALID_ARGUMENT INVALID_PAGE_TOKEN pageToken');
    }
  });

  it('is valid for any order of the values of a filter', async () => {
    const { nextPageToken } = await ok(page('pageSize=1&filter.mediaTypes=VIDEO&filter.mediaTypes=OTHER'));
    const turned = await page(`filter.mediaTypes=OTHER&filter.mediaTypes=VIDEO&pageToken=${nextPageToken}`);
    expect(turned.status).toBe(200);
  });
});

describe('paging while others write', () => {
  const queries = [
    '',
    'showDeleted=true',
    'orderBy=dataAvailabilityStartTime',
    'orderBy=dataAvailabilityStartTime%20desc',
    'filter.metadataSearchQuery=paged',
    'filter.measurementConsumers=measurementConsumers/acme',
    'filter.mediaTypes=VIDEO',
  ];

  it.each(queries)('returns each event group that existed before exactly once: %s', async (query) => {
    const group = { ...interval(5), mediaTypes: ['VIDEO'], ...ad('paged', 'x') };
    const requests = (count: number) =>
      Array.from({ length: count }, () => ({ eventGroup: { measurementConsumer: acme.name, ...group } }));
    await ok(steps.batch(requests(40)));
    const before = await all(streamly, query, 50);
    let isOver = false;
    const writer = (async () => {
      while (!isOver) {
        const { eventGroups } = await ok(steps.batch(requests(10)));
        const updates = eventGroups.slice(5).map(({ name }: { name: string }) => ({
          eventGroup: { name, measurementConsumer: acme.name },
        }));
        await ok(steps.batch(updates, 'batchUpdate'));
        for (const { name } of eventGroups.slice(0, 2)) await ok(steps.drop(name));
        // Also update an event group that existed before, unless it is deleted. The update does not remove it from the
        // list.
        const touched = before[Math.floor(before.length / 2)];
        if (touched.state === 'ACTIVE')
          await ok(steps.put(touched.name, { ...touched, eventGroupReferenceId: 'touched' }));
        await sleep(10);
      }
    })();
    const seen = (await all(streamly, query, 7)).map(({ name }) => name);
    isOver = true;
    await writer;
    const known = new Set(before.map(({ name }) => name));
    expect(seen.filter((name) => known.has(name)).sort()).toEqual([...known].sort());
  });
});

describe('a page of large event groups', () => {
  it('counts their attributes towards its size limit', async () => {
    const exampleValues = Array(20).fill('x'.repeat(100));
    const attributes = Array.from({ length: 100 }, (_, i) => ({
      name: `a${i}`,
      type: 'STRING',
      exampleValues,
    }));
    for (let i = 0; i < 40; i++) await steps.make({ attributes }, dailynews);
    const page = await get(exchange, dailynews, `${collection(dailynews)}?pageSize=1000`);
    // Each event group has 211 KB of attributes, and the exchange counts 213 KB for it. A page has at most 8 MiB, which
    // is 8,389 KB. A page therefore holds 39 of these event groups.
    expect(page.eventGroups).toHaveLength(39);
    expect(page.nextPageToken).toBeDefined();
  });

  it('counts the descriptor sets of their metadata towards its size limit', async () => {
    const padding = {
      file: [{ name: 'p.proto', package: 'p', messageType: [{ name: 'P' }], sourceCodeInfo: {} }],
    };
    const descriptors: string[] = [];
    for (let i = 0; i < 3; i++) {
      const comment = { location: [{ leadingComments: ' '.repeat(1_000_000) }] };
      padding.file[0]!.sourceCodeInfo = comment;
      const body = { descriptorSet: padding };
      const path = `/v2alpha/${chirper.name}/eventGroupMetadataDescriptors?descriptorSetEncoding=BASE64`;
      descriptors.push((await ok(exchange.call(chirper.token, 'POST', path, body))).name);
    }
    for (const name of [...descriptors, ...descriptors]) {
      const metadata = readable(name, {});
      metadata.encryptedMetadata.metadata.metadata = { '@type': 'x/p.P' };
      await steps.make(metadata, chirper);
    }
    const pages: number[] = [];
    for (let token = ''; ; ) {
      const page = await get(exchange, chirper, `${collection(chirper)}?pageSize=1000&pageToken=${token}`);
      pages.push(page.eventGroups.length);
      if (page.nextPageToken === undefined) break;
      token = page.nextPageToken;
    }
    // The first page also has the event group that existed before. Linking a descriptor set takes memory, so the
    // exchange counts four times the size of each set towards the 8 MiB of a page. A page therefore has room for two
    // sets of a million bytes.
    expect(pages).toEqual([3, 2, 2]);
  });
});
