/**
 * Compares operations over HTTP with three yardsticks: the same SQL statements behind a bare HTTP handler, the same SQL
 * statements without HTTP, and a server that only sends a response of the same size.
 */
import type { Bare } from './lib/bare.ts';
import type { Empty } from './lib/empty.ts';
import { processorMs, startExchange } from './lib/exchange.ts';
import { type Figure, figure, ratio, show } from './lib/figures.ts';
import type { Timing } from './lib/generator.ts';
import { type MeasuredOperation, measuredOperations } from './lib/operations.ts';
import type { Bench } from './lib/options.ts';
import { startWorker, type Worker } from './lib/processes.ts';
import { atLeast, atMost, printTable, progress, type Section, type Verdict } from './lib/report.ts';
import type { Target } from './lib/requests.ts';
import { type Script, trace } from './lib/trace.ts';
import { createWorld } from './lib/world.ts';

const CONNECTIONS = [1, 16, 64];
/**
 * Returns how many short rounds replace one round that the caller asks for. The speed of a virtual machine can double
 * from one second to the next. In short rounds, every target gets a similar share of fast and slow seconds. With one
 * connection, a target handles the fewest requests per round, and its figures vary most. One connection therefore needs
 * more rounds.
 */
const slicesOf = (connections: number) => (connections === 1 ? 8 : 3);
/**
 * The first quarter of the requests that a target receives in a round does not count, because the processor caches
 * still hold the data of another process. If the round has a duration, the first quarter of this duration does not
 * count. The driver, which receives no requests over HTTP, has no such warm-up.
 */
const LEAD = 0.25;
const TARGETS = ['exchange', 'bare', 'driver', 'empty'] as const;
type TargetName = (typeof TARGETS)[number];

/** The timings of one operation with one number of connections: one list per target, one entry per round. */
interface Measured {
  operation: string;
  connections: number;
  timings: Record<TargetName, Timing[]>;
  /** Milliseconds of processor time per request, one entry per round. */
  processor: { exchange: number[]; bare: number[] };
}

interface Stage {
  bench: Bench;
  exchange: Target;
  exchangePid: number;
  bare: Worker<Bare>;
  barePort: number;
  empty: Worker<Empty>;
  emptyPort: number;
}

export async function http(bench: Bench): Promise<Section> {
  const database = await bench.server.createDatabase();
  const exchange = await startExchange({ databaseUrl: database.url });
  const [bare, empty] = [await startWorker<Bare>('bare.ts'), await startWorker<Empty>('empty.ts')];
  try {
    const world = await createWorld(exchange, database);
    const barePort = await bare.call('listen', database.url);
    const emptyPort = await empty.call('listen', undefined);
    const measured: Measured[] = [];
    const scripts: Record<string, unknown> = {};
    for (const operation of await measuredOperations(world, database)) {
      const { operations: wanted } = bench;
      if (wanted !== undefined && !wanted.some((name) => operation.name.startsWith(name))) continue;
      const target = { port: exchange.port, token: operation.caller.token };
      const stage: Stage = {
        bench,
        exchange: target,
        exchangePid: exchange.pid,
        bare,
        barePort,
        empty,
        emptyPort,
      };
      const [traced] = await operation.items(1);
      const script = await trace(database.url, operation.caller.name, operation.template, traced!);
      const names = script.made.length > 0 ? [traced![0]!, ...script.made] : traced!;
      scripts[operation.name] = {
        trips: script.trips.map((steps) => steps.map(({ statement }) => statement)),
        transaction: script.transaction,
        answerBytes: script.bytes,
      };
      await bench.server.query('CHECKPOINT');
      await warmUp(stage, operation, script, names, 16, 30);
      for (const connections of CONNECTIONS) {
        await warmUp(stage, operation, script, names, connections, 6);
        measured.push(await measure(stage, operation, script, names, connections));
      }
    }
    print(measured);
    const requestBytes = Buffer.byteLength(world.createBody);
    return { name: 'http', data: { requestBytes, scripts, measured }, verdicts: measured.flatMap(judge) };
  } finally {
    await Promise.all([exchange.stop(), bare.stop(), empty.stop()]);
    await database.drop();
  }
}

/**
 * Sends requests to the exchange and to the bare handler, for `seconds` seconds each, so that V8 compiles the hot code.
 * A new process takes twice the processor time for its first requests.
 */
async function warmUp(
  stage: Stage,
  operation: MeasuredOperation,
  script: Script,
  names: string[],
  connections: number,
  seconds: number,
) {
  const { quick } = stage.bench;
  for (const name of ['exchange', 'bare'] as const) {
    progress(`http: ${operation.name}, warming up with ${connections} connections: ${name}`);
    const until = performance.now() + (quick ? 0.2 : seconds) * 1000;
    while (performance.now() < until) {
      const items = await operation.items(quick ? 100 : 1_000);
      await runOnce(stage, name, operation, script, names, items, connections, quick ? 0.2 : 2);
    }
  }
}

async function measure(
  stage: Stage,
  operation: MeasuredOperation,
  script: Script,
  names: string[],
  connections: number,
): Promise<Measured> {
  const { quick } = stage.bench;
  const rounds = stage.bench.rounds * (quick ? 1 : slicesOf(connections));
  const seconds = quick ? 0.3 : 0.5;
  const count = (connections === 1 ? 200 : 600) / (quick ? 2 : 1);
  const timings: Measured['timings'] = { exchange: [], bare: [], driver: [], empty: [] };
  const processor: Measured['processor'] = { exchange: [], bare: [] };
  const pids = { exchange: stage.exchangePid, bare: stage.bare.pid };
  // The first round is only a warm-up. Each round begins with a different target.
  for (let round = 0; round <= rounds; round++) {
    progress(`http: ${operation.name}, ${connections} connections, round ${round} of ${rounds}`);
    for (let i = 0; i < TARGETS.length; i++) {
      const name = TARGETS[(i + round) % TARGETS.length]!;
      const items = await operation.items(count);
      const pid = name in pids ? pids[name as keyof typeof pids] : undefined;
      const before = pid === undefined ? 0 : processorMs(pid);
      const timing = await runOnce(stage, name, operation, script, names, items, connections, seconds);
      const spent = pid === undefined ? 0 : processorMs(pid) - before;
      if (Object.keys(timing.rejected).length > 0) {
        throw new Error(`${operation.name} on ${name}: rejected ${JSON.stringify(timing.rejected)}`);
      }
      if (round === 0) continue;
      timings[name].push(timing);
      if (name === 'exchange' || name === 'bare') processor[name].push(spent / timing.all);
    }
  }
  return { operation: operation.name, connections, timings, processor };
}

async function runOnce(
  stage: Stage,
  name: TargetName,
  { template, consumes }: MeasuredOperation,
  script: Script,
  names: string[],
  items: string[][],
  connections: number,
  seconds: number,
): Promise<Timing> {
  const { generator } = stage.bench;
  const duration = consumes ? {} : { seconds };
  const load = { connections, lead: LEAD, ...duration };
  if (name === 'exchange') {
    const targets = [stage.exchange];
    return generator.call('closed', { targets, template, items, ...load });
  }
  if (name === 'empty') {
    await stage.empty.call('load', script.bytes);
    const targets = [{ ...stage.exchange, port: stage.emptyPort }];
    return generator.call('closed', { targets, template, items, ...load });
  }
  await stage.bare.call('load', { script, names, items });
  if (name === 'driver') return stage.bare.call('drive', { concurrency: connections, ...duration });
  const targets = [{ ...stage.exchange, port: stage.barePort }];
  // Put the item's number into the path, because the bare handler runs the statements of that item.
  const numbered = items.map((item, i) => [...item, String(i)]);
  const numberedTemplate = { ...template, path: `/<<${items[0]!.length}>>` };
  return generator.call('closed', {
    targets,
    template: numberedTemplate,
    items: numbered,
    ...load,
  });
}

const perSecond = (timings: Timing[]) => timings.map((timing) => timing.perSecond);
const p99 = (timings: Timing[]) => timings.map((timing) => timing.p99);

function throughputRatio({ timings }: Measured, yardstick: TargetName): Figure {
  return ratio(perSecond(timings.exchange), perSecond(timings[yardstick]));
}

function print(measured: Measured[]): void {
  printTable(
    'Throughput (requests per second, median and spread of the rounds)',
    measured.map((each) => ({
      operation: each.operation,
      connections: each.connections,
      exchange: show(figure(perSecond(each.timings.exchange))),
      '(a) bare handler': show(figure(perSecond(each.timings.bare))),
      '(b) driver': show(figure(perSecond(each.timings.driver))),
      '(c) empty answer': show(figure(perSecond(each.timings.empty))),
      'of (a)': show(throughputRatio(each, 'bare')),
      'of (b)': show(throughputRatio(each, 'driver')),
      'of (c)': show(throughputRatio(each, 'empty')),
    })),
  );
  printTable(
    'Latency and processor time of a request (milliseconds)',
    measured.map(({ operation, connections, timings: { exchange, bare }, processor }) => ({
      operation,
      connections,
      p50: show(figure(exchange.map((timing) => timing.p50))),
      p99: show(figure(p99(exchange))),
      'p50 of (a)': show(figure(bare.map((timing) => timing.p50))),
      'p99 of (a)': show(figure(p99(bare))),
      'p99 / (a)': show(ratio(p99(exchange), p99(bare))),
      'processor time': show(figure(processor.exchange)),
      'of (a)': show(figure(processor.bare)),
    })),
  );
}

function judge(each: Measured): Verdict[] {
  const { operation, connections, timings } = each;
  const what = `${operation}, ${connections} connections`;
  const target = operation === 'get' ? 0.9 : 0.75;
  const verdicts = [atLeast(`throughput of ${what}, of (a)`, throughputRatio(each, 'bare'), target)];
  if (connections === 64) {
    verdicts.push(atMost(`p99 of ${what}, of (a)`, ratio(p99(timings.exchange), p99(timings.bare)), 1.5));
  }
  return verdicts;
}
