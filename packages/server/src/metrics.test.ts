import { expect, it, vi } from 'vitest';
import { MetricsRegistry } from './metrics.ts';

async function linesOf(metrics: MetricsRegistry, name: string): Promise<string[]> {
  return (await metrics.text()).split('\n').filter((line) => line.startsWith(name));
}

it('a registry shows the connections of a pool by their current state', async () => {
  const metrics = new MetricsRegistry();
  const pool = { totalCount: 7, idleCount: 3, waitingCount: 2 };
  metrics.watchPool('mex_pool_connections', pool);
  const of = (state: string, count: number) => `mex_pool_connections{state="${state}"} ${count}`;
  expect(await linesOf(metrics, 'mex_pool')).toEqual([of('idle', 3), of('busy', 4), of('waiting', 2)]);
  pool.idleCount = 7;
  expect(await linesOf(metrics, 'mex_pool')).toEqual([of('idle', 7), of('busy', 0), of('waiting', 2)]);
});

it('a registry reads a watched gauge at most once per interval, and keeps the last value if the read fails', async () => {
  const metrics = new MetricsRegistry();
  const read = vi.fn(async () => [
    { labels: { kind: 'a' }, value: read.mock.calls.length },
    { labels: { kind: 'b' }, value: 10 * read.mock.calls.length },
  ]);
  metrics.watch({ name: 'mex_watched', help: 'h', labelNames: ['kind'] }, 1_000, read);
  const { now } = performance;
  let ahead = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + ahead);
  const shown = async () => linesOf(metrics, 'mex_watched');
  const first = ['mex_watched{kind="a"} 1', 'mex_watched{kind="b"} 10'];
  expect(await shown()).toEqual(first);
  expect(await shown()).toEqual(first);
  ahead = 1_000;
  expect(await shown()).toEqual(['mex_watched{kind="a"} 2', 'mex_watched{kind="b"} 20']);
  ahead = 2_000;
  read.mockRejectedValueOnce(new Error('away'));
  expect(await shown()).toEqual(['mex_watched{kind="a"} 2', 'mex_watched{kind="b"} 20']);
  vi.restoreAllMocks();
});

it('a registry drops the labels that a watched gauge no longer returns', async () => {
  const metrics = new MetricsRegistry();
  let kinds = ['a', 'b'];
  const gauge = { name: 'mex_watched', help: 'h', labelNames: ['kind'] };
  metrics.watch(gauge, 0, async () => kinds.map((kind) => ({ labels: { kind }, value: 1 })));
  expect(await linesOf(metrics, 'mex_watched')).toHaveLength(2);
  kinds = ['b'];
  expect(await linesOf(metrics, 'mex_watched')).toEqual(['mex_watched{kind="b"} 1']);
});
