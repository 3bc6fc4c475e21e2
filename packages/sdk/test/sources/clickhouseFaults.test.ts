/**
 * Tests that a failing ClickHouse server causes an error, never a smaller figure, and that the figure is right after
 * the server recovers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { skipped } from '@measurement-exchange/testkit/clickhouse/server';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { EventQuery } from '../../src/provider/events/query.ts';
import { type Events, EventsUnavailable, openEvents } from '../../src/provider/events.ts';
import { loadTable, testServer } from './clickhouse.ts';
import { type Answer, type Fault, type FaultyProxy, startFaultyProxy } from './faultyProxy.ts';

const PEOPLE = 5000n;
const NOON = BigInt(Date.UTC(2024, 0, 1, 12)) * 1000n;
const SECRET = 'a value in a filter';
const INTERVAL = { start: new Date('2024-01-01'), end: new Date('2024-01-02') };
const EXCEPTION =
  'Code: 241. DB::Exception: Memory limit exceeded: would use 9.31 GiB. (MEMORY_LIMIT_EXCEEDED)';
const LOST_SHARD =
  'Code: 279. DB::Exception: All connection tries failed. While executing Remote. (ALL_CONNECTION_TRIES_FAILED)';
const block = (message: string) =>
  `\r\n__exception__\r\nexceptiontag0000\r\n${message}\r\n${message.length} exceptiontag0000\r\n__exception__\r\n`;

/**
 * Returns a fault that sends the first part of the server's response, and then calls `after` to end the response.
 * `share` is the size of this part, as a fraction of the response.
 */
const partly =
  (share: number, after: (answer: Answer) => void): Fault =>
  async (answer) => {
    const body = await answer.fetch();
    answer.response.write(
      body.subarray(0, share === 1 ? undefined : Math.min(share * body.length, body.length - 3)),
    );
    await sleep(50);
    after(answer);
  };

const FAULTS: [name: string, fault: Fault][] = [
  ['a connection that is reset', ({ response }) => void response.socket!.resetAndDestroy()],
  ['a connection that ends before the response', ({ response }) => void response.destroy()],
  ['a response without a body', ({ response }) => void response.end()],
  ['a truncated response', partly(0.5, ({ response }) => void response.destroy())],
  ['a truncated response that ends normally', partly(0.5, ({ response }) => void response.end())],
  [
    'a response without its last bytes that ends normally',
    partly(0.999, ({ response }) => void response.end()),
  ],
  ['an exception in the body', partly(0.5, ({ response }) => void response.end(block(EXCEPTION)))],
  ['an exception after the whole body', partly(1, ({ response }) => void response.end(block(EXCEPTION)))],
  [
    'an exception in a truncated body',
    partly(0.3, ({ response }) => response.write(block(EXCEPTION), () => response.destroy())),
  ],
  [
    'a shard that is lost before the response',
    ({ response }) => void response.writeHead(500).end(LOST_SHARD),
  ],
  [
    'a shard that is lost during the response',
    partly(0.7, ({ response }) => void response.end(block(LOST_SHARD))),
  ],
  [
    'a 502 response of a load balancer',
    ({ response }) => void response.writeHead(502).end('<html>Bad Gateway</html>'),
  ],
  ['a response of another program', ({ response }) => void response.end('{"rows":0,"data":[]}{')],
];

describe.skipIf(skipped !== undefined)(`an event source on ClickHouse (${skipped ?? 'faults'})`, () => {
  let proxy: FaultyProxy;
  let events: Events;
  let remove: () => Promise<void>;
  const query = (filter?: string): EventQuery => ({
    eventGroups: [{ reference: 'g', interval: INTERVAL, ...(filter && { filter }) }],
    vidSampling: { start: 0, width: 1 },
  });
  const figures: [name: string, figure: () => Promise<unknown>, right: unknown][] = [
    ['people', () => peopleOf(query()), Number(PEOPLE)],
    ['a histogram', () => events.frequencies(query(`name != '${SECRET}'`), 3), [0n, PEOPLE, 0n]],
    ['a sum', () => events.impressions(query(), 5), 2n * PEOPLE],
    ['combinations', () => peopleOf(query(`name.matches('^n') && name != '${SECRET}'`)), Number(PEOPLE)],
  ];

  async function peopleOf(asked: EventQuery): Promise<number> {
    let people = 0;
    await events.allPeople(asked, 5, (vids) => {
      people += vids.length;
    });
    return people;
  }

  beforeAll(async () => {
    const { server } = await testServer();
    proxy = await startFaultyProxy(server.url);
    const rows = Array.from({ length: 2 * Number(PEOPLE) }, (_, i) => [
      BigInt(i >> 1),
      NOON,
      'g',
      `n${(i % 500) >> 1}`,
    ]);
    const loaded = await loadTable({
      columns: [
        { name: 'vid', type: 'int', nullable: false },
        { name: 'timestamp', type: 'timestamp', nullable: false },
        { name: 'event_group', type: 'string', nullable: false },
        { name: 'name', type: 'string', nullable: true },
      ],
      rows,
    });
    ({ remove } = loaded);
    events = await openEvents({ source: { ...loaded.where.source, url: proxy.url } });
  });
  afterEach(() => {
    proxy.fault = undefined;
    proxy.rewrite = undefined;
    vi.restoreAllMocks();
  });
  afterAll(async () => {
    await events?.close();
    await remove?.();
    await proxy?.stop();
  });

  /** Checks that the call fails with the right kind of error, reveals no secret, and prints nothing. */
  async function expectUnavailable(figure: () => Promise<unknown>): Promise<void> {
    const printed = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) =>
      vi.spyOn(console, name),
    );
    const error = await figure().then(
      (value) => expect.unreachable(`gave ${value}`),
      (reason: Error) => reason,
    );
    expect(error).toBeInstanceOf(EventsUnavailable);
    const { password } = (await testServer()).server.reader;
    for (const secret of [SECRET, password, 'reinterpret', 'n1']) expect(error.message).not.toContain(secret);
    expect(error.cause).toBe(undefined);
    for (const spy of printed) expect(spy).not.toHaveBeenCalled();
  }

  describe.each(FAULTS.map(([name, fault], i) => [name, fault, i] as const))('%s', (_name, fault, i) => {
    it.each(isStress ? figures : [figures[i % figures.length]!])(
      'makes a query for %s fail, and the next one is correct',
      async (_figure, figure, right) => {
        proxy.fault = fault;
        await expectUnavailable(figure);
        proxy.fault = undefined;
        expect(await figure()).toEqual(right);
      },
    );
  });

  it('fails while the server is down, and counts correctly when it is back on the same port', async () => {
    await proxy.pause();
    for (const [, figure] of figures) await expectUnavailable(figure);
    await proxy.resume();
    for (const [, figure, right] of figures) expect(await figure()).toEqual(right);
  });

  it('fails if the server restarts during the response, and counts correctly afterwards', async () => {
    proxy.fault = partly(0.5, () => void proxy.pause());
    await expectUnavailable(figures[0]![1]);
    proxy.fault = undefined;
    await proxy.resume();
    expect(await figures[0]![1]()).toBe(Number(PEOPLE));
  });

  it('kills an aborted statement on the server, even if the server has not responded', async () => {
    const { client } = await testServer();
    proxy.seen.length = 0;
    const abort = new AbortController();
    proxy.fault = async ({ fetch }) => {
      await fetch();
      await sleep(60_000, undefined, { ref: false });
    };
    const asked = events.frequencies({ ...query(), signal: abort.signal }, 1);
    const refused = expect(asked).rejects.toThrow('no longer needed');
    await vi.waitFor(() => expect(proxy.seen.length).toBeGreaterThan(0));
    abort.abort(new Error('no longer needed'));
    await refused;
    const [statement, kill] = proxy.seen;
    expect(kill!.query).toContain('KILL QUERY');
    expect(kill!.settings.get('param_id')).toBe(statement!.id);
    const running = async () => {
      const listed = await client.query({
        query: 'SELECT query_id FROM system.processes',
        format: 'JSONCompact',
      });
      expect(JSON.stringify(await listed.json())).not.toContain(statement!.id);
    };
    await vi.waitFor(running, { timeout: 2000 });
  });

  it('sends the limits with every statement, and values only in the body', async () => {
    proxy.seen.length = 0;
    for (const [, figure] of figures) await figure();
    expect(proxy.seen.length).toBeGreaterThan(figures.length);
    for (const { query: sql, id, settings, body } of proxy.seen) {
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      expect(settings.get('max_execution_time')).toBe('600');
      expect(settings.get('max_memory_usage')).toBe('8000000000');
      expect(settings.get('max_rows_to_read')).toBe('1000000000000');
      expect(settings.get('max_result_bytes')).toBe(String(2 ** 34));
      expect(settings.get('group_by_overflow_mode')).toBe('throw');
      expect(settings.get('skip_unavailable_shards')).toBe('0');
      expect(sql).not.toContain(SECRET);
      expect(decodeURIComponent(String(settings))).not.toContain(SECRET);
      expect(body).toContain('name="param_p0"');
    }
    expect(proxy.seen.some(({ body }) => body.includes(SECRET))).toBe(true);
  });
});
