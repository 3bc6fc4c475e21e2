/**
 * Yardsticks for the exchange: its SQL statements behind a bare Fastify handler, and the same statements without HTTP.
 */
import Fastify from 'fastify';
import { percentile } from './figures.ts';
import type { Timing } from './generator.ts';
import { serve } from './processes.ts';
import { type Play, ScriptPlayer } from './script.ts';

export type Bare = {
  /** Starts the handler, and returns its port. A request for `/<n>` runs the statements of item n. */
  listen: (databaseUrl: string) => Promise<number>;
  load: (play: Play) => void;
  /**
   * Runs the items' statements without HTTP, `concurrency` items at a time. Runs each item once, or runs items
   * repeatedly for `seconds` seconds if given.
   */
  drive: (load: { concurrency: number; seconds?: number }) => Promise<Timing>;
};

let player: ScriptPlayer;
let body = '';

async function listen(databaseUrl: string): Promise<number> {
  player = new ScriptPlayer(databaseUrl);
  const app = Fastify();
  const handler = async (request: { params: unknown }, reply: { type(type: string): unknown }) => {
    await player.play(Number((request.params as { item: string }).item));
    reply.type('application/json');
    return body;
  };
  app.get('/:item', handler);
  app.post('/:item', handler);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as { port: number }).port;
}

function load(play: Play): void {
  player.load(play);
  body = JSON.stringify('x'.repeat(Math.max(0, play.script.bytes - 2)));
}

async function drive({ concurrency, seconds }: { concurrency: number; seconds?: number }): Promise<Timing> {
  const latencies: number[] = [];
  let next = 0;
  const started = performance.now();
  const end = seconds === undefined ? Number.POSITIVE_INFINITY : started + seconds * 1000;
  const worker = async () => {
    for (let now = performance.now(); now < end; now = performance.now()) {
      const item = next++;
      if (seconds === undefined && item >= player.length) break;
      await player.play(item);
      latencies.push(performance.now() - now);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const sorted = Float64Array.from(latencies).sort();
  return {
    responses: sorted.length,
    all: sorted.length,
    perSecond: (sorted.length / (performance.now() - started)) * 1000,
    p50: percentile(sorted, 50),
    p99: percentile(sorted, 99),
    rejected: {},
    bytes: 0,
  };
}

serve({ listen, load, drive });
