/** Tests lists of parties, and which requests of suspended parties are still accepted. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  call,
  type DevJson,
  type DevParty,
  measurementRequest,
  type Reply,
  UNLIMITED,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import { asOperator, listAll } from '@measurement-exchange/testkit/operator';
import {
  castOf,
  createMeasurement,
  errorOf,
  fulfill,
  get,
  metadata,
  ok,
  post,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import { pino } from 'pino';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { start } from '../../src/main.ts';
import { useStreams } from '../changes/stream.ts';

type Json = Reply['json'];
let acme: DevParty;
let streamly: DevParty;
let chirper: DevParty;

const exchange = useExchange({ rate: UNLIMITED });
beforeAll(() => {
  ({ acme, streamly, chirper } = castOf(exchange));
});

const watch = useStreams(exchange);
const operator = (method: string, path: string, body?: unknown) => asOperator(exchange, method, path, body);

describe('a list of parties', () => {
  it('contains every earlier party once and in order while parties are concurrently created and updated', async () => {
    for (let i = 0; i < 40; i++)
      await ok(operator('POST', 'dataProviders', { displayName: `Provider ${i}` }));
    const known = (await listAll(exchange, 'dataProviders', { pageSize: 1000 })).map(({ name }) => name);
    expect(known).toHaveLength(43);
    let paging = true;
    const meanwhile = Promise.all([
      ...[1, 2].map(async () => {
        while (paging) await ok(operator('POST', 'dataProviders', {}));
      }),
      (async () => {
        for (let i = 0; paging; i++)
          await ok(operator('PATCH', known[(7 * i) % known.length], { displayName: 'x' }));
      })(),
    ]);
    const pages: number[] = [];
    const onPage = (items: Json[]) => {
      pages.push(items.length);
      if (items.some(({ name }) => name === known.at(-1))) paging = false;
    };
    const listed = (await listAll(exchange, 'dataProviders', { onPage })).map(({ name }) => name);
    await meanwhile;
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed.filter((name) => known.includes(name))).toEqual(known);
    expect(pages.slice(0, -1)).toEqual(pages.slice(0, -1).map((_, i) => 7 * (i + 1)));
    expect(pages.length).toBeGreaterThan(6);
  });

  it('contains only parties of one kind, and is rejected for callers without permission', async () => {
    const consumers = await listAll(exchange, 'measurementConsumers');
    expect(consumers.map(({ name }) => name)).toEqual(
      exchange.dev.measurementConsumers.map(({ name }) => name),
    );
    expect(await listAll(exchange, 'duchies')).toEqual([]);
    const { dataProviders } = await get(exchange, acme, 'dataProviders?pageSize=3');
    expect(dataProviders.map((p: Json) => p.name)).toEqual(
      exchange.dev.dataProviders.map(({ name }) => name),
    );
    for (const [party, list] of [
      [acme, 'measurementConsumers'],
      [acme, 'duchies'],
      [streamly, 'dataProviders'],
    ] as const) {
      expect(errorOf(await exchange.call(party.token, 'GET', `/v2alpha/${list}`))).toMatch(
        '403 PERMISSION_DENIED',
      );
    }
  });

  it('rejects a page token of a list of another kind', async () => {
    const { nextPageToken } = await ok(operator('GET', 'dataProviders?pageSize=1'));
    const other = await operator('GET', `measurementConsumers?pageToken=${nextPageToken}`);
    expect(errorOf(other)).toBe('400 INVALID_ARGUMENT INVALID_PAGE_TOKEN pageToken');
  });
});

describe('a suspended party', () => {
  const suspend = (party: DevParty) => ok(operator('POST', `${party.name}:suspend`));
  const resume = (party: DevParty) => ok(operator('POST', `${party.name}:resume`));
  const whoAmI = (party: DevParty) => exchange.call(party.token, 'GET', '/v2alpha/whoami');

  it('is rejected immediately, and accepted immediately after it is resumed', async () => {
    const before = await ok(operator('GET', acme.name));
    await ok(whoAmI(acme));
    const suspended = await suspend(acme);
    expect(suspended).toEqual({ ...before, state: 'SUSPENDED', updateTime: suspended.updateTime });
    for (const reply of [await whoAmI(acme), await post(exchange, acme, `${acme.name}/measurements`, {})]) {
      expect(errorOf(reply)).toBe('403 PERMISSION_DENIED PRINCIPAL_SUSPENDED');
    }
    await ok(whoAmI(streamly));
    // A second suspension changes nothing.
    expect(await suspend(acme)).toEqual(suspended);
    const resumed = await resume(acme);
    expect(resumed).toEqual({ ...before, updateTime: resumed.updateTime });
    await ok(whoAmI(acme));
    expect(await resume(acme)).toEqual(resumed);
  });

  it('loses its open stream of changes, and is rejected when it reconnects', async () => {
    // Fake the interval timers, because the exchange uses such a timer to check whether the reader of a stream is still
    // authorized.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const [stream, other] = [await watch(chirper), await watch(streamly)];
    await suspend(chirper);
    await expect.poll(() => stream.text).toContain('"state":"SUSPENDED"');
    vi.advanceTimersByTime(15_000);
    await expect.poll(() => stream.isOver).toBe(true);
    expect(stream.text).toMatch(/\nretry: \d+\n\n$/);
    const again = await exchange.call(chirper.token, 'GET', `/v2alpha/${chirper.name}/changes:watch`);
    expect(errorOf(again)).toBe('403 PERMISSION_DENIED PRINCIPAL_SUSPENDED');
    expect([other.isOver, other.text]).toEqual([false, expect.stringMatching(/\n:\n\n$/)]);
    await resume(chirper);
    await ok(exchange.call(chirper.token, 'GET', `/v2alpha/${chirper.name}/changes:watch`));
  });

  it('keeps its open requisitions until it is resumed, and gets no new ones', async () => {
    const measurement = await createMeasurement(exchange, acme, [streamly, chirper]);
    const requisition = await requisitionOf(exchange, streamly, measurement);
    await suspend(streamly);
    const create = await post(
      exchange,
      acme,
      `${acme.name}/measurements`,
      measurementRequest(acme, [chirper, streamly]),
    );
    expect(errorOf(create)).toBe('400 FAILED_PRECONDITION DATA_PROVIDER_SUSPENDED');
    expect(metadata(create)).toEqual({ dataProvider: streamly.name });
    expect(await get(exchange, acme, measurement.name)).toEqual(measurement);
    await ok(fulfill(exchange, chirper, await requisitionOf(exchange, chirper, measurement), 2n));
    const refused = await fulfill(exchange, streamly, requisition, 1n);
    expect(errorOf(refused)).toBe('403 PERMISSION_DENIED PRINCIPAL_SUSPENDED');
    await resume(streamly);
    await ok(fulfill(exchange, streamly, requisition, 1n));
    expect((await get(exchange, acme, measurement.name)).state).toBe('SUCCEEDED');
  });

  it('can be neither suspended nor resumed by a data provider', async () => {
    for (const verb of ['suspend', 'resume']) {
      for (const name of [streamly.name, chirper.name]) {
        expect(errorOf(await post(exchange, streamly, `${name}:${verb}`))).toBe(
          '403 PERMISSION_DENIED PERMISSION_DENIED',
        );
      }
    }
  });

  it('is rejected by a replica that has not cached it, and by the replica that suspended it', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'mex-replica-'));
    const config = { mode: 'development', port: 0, dataDir, databaseUrl: exchange.database.url } as const;
    const other = await start(loadConfig({}, config), pino({ level: 'silent' }));
    try {
      const dev: DevJson = JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));
      const tokenOf = (party: DevParty) => dev.dataProviders.find((p) => p.name === party.name)!.token;
      const there = (party: DevParty) => call(tokenOf(party), 'GET', `${other.url}/v2alpha/whoami`);
      await suspend(chirper);
      expect(errorOf(await there(chirper))).toBe('403 PERMISSION_DENIED PRINCIPAL_SUSPENDED');
      await ok(there(streamly));
      // A replica that changes a party clears its own cache of callers immediately.
      await ok(call(dev.operator.token, 'POST', `${other.url}/v2alpha/${streamly.name}:suspend`));
      expect(errorOf(await there(streamly))).toBe('403 PERMISSION_DENIED PRINCIPAL_SUSPENDED');
      await ok(call(dev.operator.token, 'POST', `${other.url}/v2alpha/${chirper.name}:resume`));
      await ok(there(chirper));
      await resume(streamly);
    } finally {
      await other.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
