/** The load generator, in a process of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './connection.ts';
import { percentile } from './figures.ts';
import { serve } from './processes.ts';
import { requestBytes, type Target, type Template } from './requests.ts';

export interface Load {
  /** Connections are spread over them. */
  targets: Target[];
  connections: number;
  template: Template;
  items: string[][];
  /** For so long over and over; without it, each item once. */
  seconds?: number;
  /** The part of the load, at its beginning, that does not count. */
  lead?: number;
}

export interface Caller {
  target: Target;
  perSecond: number;
  requests: { template: Template; item: string[] }[];
}

export interface Timing {
  answers: number;
  /** With those that do not count. */
  all: number;
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Other answers than 2xx, by status. */
  refused: Record<number, number>;
  /** Of the last answer. */
  bytes: number;
}

export type Generator = {
  closed: (load: Load) => Promise<Timing>;
  open: (load: { callers: Caller[]; seconds: number; connections: number }) => Promise<Timing>;
};

class Recorder {
  private readonly latencies: number[] = [];
  private readonly refused: Record<number, number> = {};
  private bytes = 0;
  private all = 0;

  record(milliseconds: number, { status, bytes }: { status: number; bytes: number }, counts = true): void {
    this.all++;
    if (counts) this.latencies.push(milliseconds);
    this.bytes = bytes;
    if (status < 200 || status > 299) this.refused[status] = (this.refused[status] ?? 0) + 1;
  }

  timing(seconds: number): Timing {
    const sorted = Float64Array.from(this.latencies).sort();
    return {
      answers: sorted.length,
      all: this.all,
      perSecond: sorted.length / seconds,
      p50: percentile(sorted, 50),
      p99: percentile(sorted, 99),
      refused: this.refused,
      bytes: this.bytes,
    };
  }
}

/** Each connection asks again as soon as it is answered. */
async function closed(load: Load): Promise<Timing> {
  const { targets, connections, template, items, seconds, lead = 0 } = load;
  const requests = targets.map((target) => items.map((item) => requestBytes(template, target, item)));
  const opened = Array.from(
    { length: connections },
    (_, i) => new Connection(targets[i % targets.length]!.port),
  );
  await Promise.all(opened.map((connection) => connection.open()));
  const recorder = new Recorder();
  let next = 0;
  const started = performance.now();
  const end = seconds === undefined ? Number.POSITIVE_INFINITY : started + seconds * 1000;
  const leads = (n: number, now: number) =>
    seconds === undefined ? n < lead * items.length : now < started + lead * seconds * 1000;
  let from: number | undefined;
  await Promise.all(
    opened.map(async (connection, i) => {
      const own = requests[i % targets.length]!;
      for (let now = performance.now(); now < end; now = performance.now()) {
        const n = next++;
        if (seconds === undefined && n >= own.length) break;
        const counts = !leads(n, now);
        if (counts) from ??= now;
        const answer = await connection.send(own[n % own.length]!);
        recorder.record(performance.now() - now, answer, counts);
      }
    }),
  );
  const timing = recorder.timing((performance.now() - (from ?? started)) / 1000);
  for (const connection of opened) connection.close();
  return timing;
}

/**
 * Callers that ask at their own pace, answered or not. A latency counts from the moment at which the request was due:
 * what waits for a connection waits because of the exchange.
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

  const ask = async (connection: Connection) => {
    for (let next = due.shift(); next !== undefined; next = due.shift()) {
      const answer = await connection.send(next.request);
      recorder.record(performance.now() - next.at, answer);
    }
    idle.push(connection);
  };
  const total = Math.floor(seconds * perSecond);
  for (let n = 0; n < total; ) {
    const now = performance.now();
    for (; n < total && started + (n + phase) * gap <= now; n++) {
      due.push({ at: started + (n + phase) * gap, request: bytes[n % bytes.length]! });
      const connection = idle.pop() ?? (opened++ < connections ? new Connection(target.port) : undefined);
      if (connection === undefined) continue;
      const asked = ask(connection).finally(() => pending.delete(asked));
      pending.add(asked);
    }
    if (n < total) await sleep(Math.max(1, started + (n + phase) * gap - performance.now()));
  }
  await Promise.all(pending);
  for (const connection of idle) connection.close();
  return (performance.now() - started) / 1000;
}

serve({ closed, open });
