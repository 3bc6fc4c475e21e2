/** The load generator, which runs in a separate process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type Received } from './connection.ts';
import { percentile } from './figures.ts';
import { serve } from './processes.ts';
import { requestBytes, type Target, type Template } from './requests.ts';
import { type Rpc, RpcConnection } from './rpcConnection.ts';

interface Closed {
  /** Repeats the items for this many seconds. Without this option, each item is sent once. */
  seconds?: number;
  /**
   * The length of the warm-up: a fraction of `seconds`, or of the items if `seconds` is absent. Responses in the
   * warm-up are not counted.
   */
  lead?: number;
}

export interface Load extends Closed {
  /** The connections are spread over these targets. */
  targets: Target[];
  connections: number;
  template: Template;
  items: string[][];
}

export interface RpcLoad extends Closed {
  port: number;
  /** The number of parallel streams, all on one connection. */
  streams: number;
  rpcs: Rpc[];
}

export interface Caller {
  target: Target;
  perSecond: number;
  requests: { template: Template; item: string[] }[];
}

export interface Timing {
  responses: number;
  /** All responses, including those of the warm-up. */
  all: number;
  perSecond: number;
  /** The latency percentiles in milliseconds. */
  p50: number;
  p99: number;
  /**
   * The number of responses other than 2xx, by status. For a gRPC status other than OK, the key is 600 plus the status.
   */
  rejected: Record<number, number>;
  /** The size of the last response's body. */
  bytes: number;
}

export type Generator = {
  closed: (load: Load) => Promise<Timing>;
  rpcs: (load: RpcLoad) => Promise<Timing>;
  open: (load: { callers: Caller[]; seconds: number; connections: number }) => Promise<Timing>;
};

class Recorder {
  private readonly latencies: number[] = [];
  private readonly rejected: Record<number, number> = {};
  private bytes = 0;
  private all = 0;

  record(milliseconds: number, { status, bytes }: { status: number; bytes: number }, counts = true): void {
    this.all++;
    if (counts) this.latencies.push(milliseconds);
    this.bytes = bytes;
    if (status < 200 || status > 299) this.rejected[status] = (this.rejected[status] ?? 0) + 1;
  }

  timing(seconds: number): Timing {
    const sorted = Float64Array.from(this.latencies).sort();
    return {
      responses: sorted.length,
      all: this.all,
      perSecond: sorted.length / seconds,
      p50: percentile(sorted, 50),
      p99: percentile(sorted, 99),
      rejected: this.rejected,
      bytes: this.bytes,
    };
  }
}

/** Closed loop: each connection sends its next request when it has received the response. */
async function closed(load: Load): Promise<Timing> {
  const { targets, connections, template, items } = load;
  const requests = targets.map((target) => items.map((item) => requestBytes(template, target, item)));
  const opened = Array.from({ length: connections }, (_, i) => new Connection(targets[i % targets.length]!));
  await Promise.all(opened.map((connection) => connection.open()));
  const timing = await loop(load, items.length, connections, (worker, n) =>
    opened[worker]!.send(requests[worker % targets.length]![n]!),
  );
  for (const connection of opened) connection.close();
  return timing;
}

/** Closed loop of RPCs: when the stream of one RPC has ended, the next RPC starts a new stream. */
async function rpcs(load: RpcLoad): Promise<Timing> {
  const connection = await RpcConnection.open(load.port);
  const timing = await loop(load, load.rpcs.length, load.streams, (_, n) => connection.send(load.rpcs[n]!));
  connection.close();
  return timing;
}

async function loop(
  { seconds, lead = 0 }: Closed,
  count: number,
  workers: number,
  send: (worker: number, n: number) => Promise<Received>,
): Promise<Timing> {
  const recorder = new Recorder();
  let next = 0;
  const started = performance.now();
  const end = seconds === undefined ? Number.POSITIVE_INFINITY : started + seconds * 1000;
  const leads = (n: number, now: number) =>
    seconds === undefined ? n < lead * count : now < started + lead * seconds * 1000;
  let from: number | undefined;
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let now = performance.now(); now < end; now = performance.now()) {
        const n = next++;
        if (seconds === undefined && n >= count) break;
        const counts = !leads(n, now);
        if (counts) from ??= now;
        const response = await send(worker, n % count);
        recorder.record(performance.now() - now, response, counts);
      }
    }),
  );
  return recorder.timing((performance.now() - (from ?? started)) / 1000);
}

/**
 * Open loop: callers send at a fixed rate and do not wait for responses. A latency is measured from the time that the
 * request was due, so it includes the wait for a free connection.
 */
async function open(load: { callers: Caller[]; seconds: number; connections: number }): Promise<Timing> {
  const recorder = new Recorder();
  const seconds = await Promise.all(
    load.callers.map((caller, i) => pace(caller, i / load.callers.length, load, recorder)),
  );
  return recorder.timing(Math.max(...seconds));
}

async function pace(
  { target, perSecond, requests }: Caller,
  phase: number,
  { seconds, connections }: { seconds: number; connections: number },
  recorder: Recorder,
): Promise<number> {
  const bytes = requests.map(({ template, item }) => requestBytes(template, target, item));
  const idle: Connection[] = [];
  let opened = 0;
  const due: { at: number; request: Buffer }[] = [];
  const pending = new Set<Promise<void>>();
  const started = performance.now();
  const gap = 1000 / perSecond;

  const send = async (connection: Connection) => {
    for (let next = due.shift(); next !== undefined; next = due.shift()) {
      const response = await connection.send(next.request);
      recorder.record(performance.now() - next.at, response);
    }
    idle.push(connection);
  };
  const total = Math.floor(seconds * perSecond);
  for (let n = 0; n < total; ) {
    const now = performance.now();
    for (; n < total && started + (n + phase) * gap <= now; n++) {
      due.push({ at: started + (n + phase) * gap, request: bytes[n % bytes.length]! });
      const connection = idle.pop() ?? (opened++ < connections ? new Connection(target) : undefined);
      if (connection === undefined) continue;
      const sent = send(connection).finally(() => pending.delete(sent));
      pending.add(sent);
    }
    if (n < total) await sleep(Math.max(1, started + (n + phase) * gap - performance.now()));
  }
  await Promise.all(pending);
  for (const connection of idle) connection.close();
  return (performance.now() - started) / 1000;
}

serve({ closed, rpcs, open });
