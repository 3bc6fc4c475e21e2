/**
 * Runs in its own process. Receives changes from the exchange's streams, or notifications from plain LISTEN
 * connections, and records the time of every arrival.
 */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import pg from 'pg';
import { percentile } from './figures.ts';
import { serve } from './processes.ts';

/** Commit times in milliseconds. The key is `name@version` of a change, or the payload of a notification. */
export type Commits = Map<string, number>;

export interface Latency {
  arrivals: number;
  p50: number;
  p99: number;
  max: number;
}

export type Watchers = {
  /** Opens `count` streams for each entry, and resolves when all of them have begun. */
  watch: (streams: { port: number; path: string; token: string; count: number }[]) => Promise<void>;
  /** Opens `each` connections for every channel. */
  listen: (listening: { databaseUrl: string; channels: string[]; each: number }) => Promise<void>;
  /** Returns the number of arrivals since the last call of `close`. */
  count: (argument: undefined) => number;
  /** Returns the latency from commit to arrival, over all arrivals whose commit time is in `commits`. */
  latency: (commits: Commits) => Latency;
  close: (argument: undefined) => Promise<void>;
};

const arrivals = new Map<string, number[]>();
let count = 0;
let closers: (() => unknown)[] = [];

const now = () => performance.timeOrigin + performance.now();

function arrived(what: string, time: number): void {
  const times = arrivals.get(what);
  if (times === undefined) arrivals.set(what, [time]);
  else times.push(time);
  count++;
}

async function watch(streams: { port: number; path: string; token: string; count: number }[]): Promise<void> {
  const all = streams.flatMap(({ count, ...stream }) => Array.from({ length: count }, () => stream));
  // Open only some streams at a time, because the exchange runs only a few requests at once.
  for (let i = 0; i < all.length; i += 20) await Promise.all(all.slice(i, i + 20).map(openStream));
}

async function openStream({ port, path, token }: { port: number; path: string; token: string }) {
  const headers = { authorization: `Bearer ${token}` };
  const request = get({ port, host: '127.0.0.1', path, headers, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`);
  let text = '';
  const begun = new Promise<void>((resolve) => {
    response.setEncoding('utf8').on('data', (chunk: string) => {
      const time = now();
      const events = (text + chunk).split('\n\n');
      text = events.pop()!;
      for (const event of events) {
        const data = event.indexOf('data: ');
        if (data >= 0) arrived(event.slice(data + 'data: '.length), time);
      }
      resolve();
    });
  });
  response.on('error', () => {});
  closers.push(() => request.destroy());
  await begun;
}

async function listen({
  databaseUrl,
  channels,
  each,
}: {
  databaseUrl: string;
  channels: string[];
  each: number;
}): Promise<void> {
  for (const channel of channels) {
    for (let i = 0; i < each; i++) {
      const client = new pg.Client(databaseUrl);
      await client.connect();
      client.on('notification', ({ payload }) => arrived(payload!, now()));
      await client.query(`LISTEN ${channel}`);
      closers.push(() => client.end());
    }
  }
}

function latency(commits: Commits): Latency {
  const found = [...arrivals].flatMap(([told, times]) => {
    const committed = commits.get(told.startsWith('{') ? nameOf(told) : told);
    return committed === undefined ? [] : times.map((time) => time - committed);
  });
  const sorted = Float64Array.from(found).sort();
  return {
    arrivals: sorted.length,
    p50: percentile(sorted, 50),
    p99: percentile(sorted, 99),
    max: sorted.at(-1) ?? Number.NaN,
  };
}

/**
 * Returns the key in `Commits` of an event with this JSON text. `latency` calls this function once per distinct text,
 * because `arrivals` groups the arrival times by text.
 */
function nameOf(data: string): string {
  const { name, version } = JSON.parse(data);
  return `${name}@${version}`;
}

async function close(): Promise<void> {
  const all = closers;
  closers = [];
  arrivals.clear();
  count = 0;
  await Promise.all(all.map((closeOne) => closeOne()));
}

serve({ watch, listen, count: () => count, latency, close });
