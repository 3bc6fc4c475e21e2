/**
 * Compares RPCs with two yardsticks, all over TLS: a bare connect-node handler that runs the same SQL statements, and
 * the product's REST API.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { devRoot, devServerTls } from '@measurement-exchange/exchange/internal/dev/root';
import type { BareRpc } from './lib/bareRpc.ts';
import { type BenchExchange, grpcPortOf, processorMs, startExchange } from './lib/exchange.ts';
import { type Figure, figure, ratio, show } from './lib/figures.ts';
import type { Timing } from './lib/generator.ts';
import { type MeasuredOperation, measuredOperations } from './lib/operations.ts';
import type { Bench } from './lib/options.ts';
import { startWorker, type Worker } from './lib/processes.ts';
import { atLeast, printTable, progress, type Section } from './lib/report.ts';
import { RpcConnection } from './lib/rpcConnection.ts';
import { type RpcOperation, rpcOperations, rpcsOf } from './lib/rpcOperations.ts';
import { type Script, trace } from './lib/trace.ts';
import { createWorld } from './lib/world.ts';

const STREAMS = [1, 16, 64];
const TARGETS = ['grpc', 'bare', 'rest'] as const;
type TargetName = (typeof TARGETS)[number];
/**
 * Returns how many short rounds replace one round that the caller asks for. In short rounds, all targets have similar
 * conditions (see `http.ts`).
 */
const slicesOf = (streams: number) => (streams === 1 ? 8 : 3);
/**
 * The first quarter of the requests to each target in a round, or of the duration of the round, does not count, because
 * the caches start cold.
 */
const LEAD = 0.25;
const WARM_UP_SECONDS = 15;

interface Stage {
  bench: Bench;
  exchange: BenchExchange;
  grpcPort: number;
  bare: Worker<BareRpc>;
  barePort: number;
}

interface Measured {
  operation: string;
  streams: number;
  timings: Record<TargetName, Timing[]>;
  /** Milliseconds of processor time per request, one entry per round. */
  processor: Record<TargetName, number[]>;
}

/** An operation together with the statements that it runs. */
interface Traced extends MeasuredOperation {
  rpc: RpcOperation;
  script: Script;
  names: string[];
  /** A response of the exchange to this operation. */
  response: Uint8Array;
}

export async function rpc(bench: Bench): Promise<Section> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'mex-bench-rpc-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const tls = await makeCertificate(folder);
  const database = await bench.server.createDatabase();
  opened.defer(() => database.drop());
  const exchange = await startExchange({
    databaseUrl: database.url,
    config: { tls: { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') }, console: false },
    // The exchange fetches keys from its own issuer over TLS, so it must trust this root.
    env: { NODE_EXTRA_CA_CERTS: join(folder, 'root.pem') },
  });
  opened.defer(() => exchange.stop());
  const bare = await startWorker<BareRpc>('bareRpc.ts');
  opened.defer(() => bare.stop());
  const world = await createWorld(exchange, database);
  const barePort = await bare.call('listen', { databaseUrl: database.url, tls });
  const stage: Stage = { bench, exchange, grpcPort: grpcPortOf(exchange), bare, barePort };
  const rpcs = rpcOperations(world);
  const measured: Measured[] = [];
  for (const operation of await measuredOperations(world, database)) {
    const made = rpcs[operation.name];
    const isWanted = bench.operations?.some((name) => operation.name.startsWith(name)) ?? true;
    if (made === undefined || !isWanted) continue;
    const traced = await traceOperation(stage, database.url, operation, made);
    await bench.server.query('CHECKPOINT');
    await warmUp(stage, traced);
    for (const streams of STREAMS) measured.push(await measure(stage, traced, streams));
  }
  print(measured);
  const verdicts = measured.map((each) =>
    atLeast(`RPCs of ${each.operation}, ${each.streams} streams, of (a)`, throughput(each, 'bare'), 0.75),
  );
  return { name: 'rpc', data: { measured }, verdicts };
}

/**
 * Makes one certificate for the REST server, the gRPC server and the bare server, and lets this process trust its root.
 */
async function makeCertificate(folder: string): Promise<{ cert: string; key: string }> {
  const now = Date.now();
  const tls = await devServerTls(folder, now);
  const { certificatePem } = await devRoot(folder, now);
  setDefaultCACertificates([...getCACertificates(), certificatePem]);
  await writeFile(join(folder, 'root.pem'), certificatePem);
  await writeFile(join(folder, 'cert.pem'), tls.cert);
  await writeFile(join(folder, 'key.pem'), tls.key, { mode: 0o600 });
  return tls;
}

/** Finds the statements of an RPC by tracing the REST request of the same operation, which runs the same statements. */
async function traceOperation(
  { grpcPort }: Stage,
  databaseUrl: string,
  operation: MeasuredOperation,
  rpc: RpcOperation,
): Promise<Traced> {
  const [first, second] = (await operation.items(2)) as [string[], string[]];
  const script = await trace(databaseUrl, operation.caller.name, operation.template, first);
  const names = script.made.length > 0 ? [first[0]!, ...script.made] : first;
  const connection = await RpcConnection.open(grpcPort);
  const [request] = rpcsOf(operation.caller, rpc, [second]);
  const { status, message } = await connection.send(request!);
  connection.close();
  if (status !== 200) throw new Error(`${operation.name}: gRPC status ${status - 600}`);
  return { ...operation, rpc, script, names, response: Uint8Array.from(message) };
}

async function warmUp(stage: Stage, operation: Traced): Promise<void> {
  const { quick } = stage.bench;
  for (const name of TARGETS) {
    progress(`rpc: ${operation.name}, warming up: ${name}`);
    const until = performance.now() + (quick ? 0.2 : WARM_UP_SECONDS) * 1000;
    while (performance.now() < until) {
      await runOnce(stage, name, operation, await operation.items(quick ? 100 : 1_000), 16, quick ? 0.2 : 2);
    }
  }
}

async function measure(stage: Stage, operation: Traced, streams: number): Promise<Measured> {
  const { quick } = stage.bench;
  const rounds = stage.bench.rounds * (quick ? 1 : slicesOf(streams));
  const count = (streams === 1 ? 200 : 600) / (quick ? 2 : 1);
  const timings: Measured['timings'] = { grpc: [], bare: [], rest: [] };
  const processor: Measured['processor'] = { grpc: [], bare: [], rest: [] };
  // The first round is only a warm-up. Each round begins with a different target.
  for (let round = 0; round <= rounds; round++) {
    progress(`rpc: ${operation.name}, ${streams} streams, round ${round} of ${rounds}`);
    for (let i = 0; i < TARGETS.length; i++) {
      const name = TARGETS[(i + round) % TARGETS.length]!;
      const pid = name === 'bare' ? stage.bare.pid : stage.exchange.pid;
      const items = await operation.items(count);
      const before = processorMs(pid);
      const timing = await runOnce(stage, name, operation, items, streams, quick ? 0.3 : 0.5);
      const spent = processorMs(pid) - before;
      if (Object.keys(timing.rejected).length > 0) {
        throw new Error(`${operation.name} on ${name}: rejected ${JSON.stringify(timing.rejected)}`);
      }
      if (round === 0) continue;
      timings[name].push(timing);
      processor[name].push(spent / timing.all);
    }
  }
  return { operation: operation.name, streams, timings, processor };
}

async function runOnce(
  { bench: { generator }, exchange, grpcPort, bare, barePort }: Stage,
  name: TargetName,
  operation: Traced,
  items: string[][],
  streams: number,
  seconds: number,
): Promise<Timing> {
  const { template, consumes, caller, script, names, response } = operation;
  const load = { lead: LEAD, ...(consumes ? {} : { seconds }) };
  if (name === 'rest') {
    const targets = [{ port: exchange.port, token: caller.token, tls: true }];
    return generator.call('closed', { targets, template, items, connections: streams, ...load });
  }
  if (name === 'bare') await bare.call('load', { play: { script, names, items }, response });
  const port = name === 'bare' ? barePort : grpcPort;
  return generator.call('rpcs', { port, streams, rpcs: rpcsOf(caller, operation.rpc, items), ...load });
}

function throughput({ timings }: Measured, yardstick: TargetName): Figure {
  const perSecond = (name: TargetName) => timings[name].map((timing) => timing.perSecond);
  return ratio(perSecond('grpc'), perSecond(yardstick));
}

function print(measured: Measured[]): void {
  printTable(
    'RPCs over TLS (per second, median and spread of the rounds)',
    measured.map((each) => ({
      operation: each.operation,
      streams: each.streams,
      ...Object.fromEntries(
        TARGETS.map((name) => [name, show(figure(each.timings[name].map(({ perSecond }) => perSecond)))]),
      ),
      'of (a) bare': show(throughput(each, 'bare')),
      'of (b) REST': show(throughput(each, 'rest')),
    })),
  );
  printTable(
    'Processor time of an RPC (milliseconds), and latency',
    measured.map(({ operation, streams, timings, processor }) => ({
      operation,
      streams,
      ...Object.fromEntries(TARGETS.map((name) => [name, show(figure(processor[name]))])),
      '(a) bare of it': show(ratio(processor.bare, processor.grpc)),
      'REST of it': show(ratio(processor.rest, processor.grpc)),
      p50: show(figure(timings.grpc.map(({ p50 }) => p50))),
      'p50 of (a)': show(figure(timings.bare.map(({ p50 }) => p50))),
      p99: show(figure(timings.grpc.map(({ p99 }) => p99))),
      'p99 of (a)': show(figure(timings.bare.map(({ p99 }) => p99))),
    })),
  );
}
