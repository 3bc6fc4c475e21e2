/**
 * H14: slow clients, giant requests and hostile descriptor sets. They must not delay the requests of a healthy client
 * for long.
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { base64, chain, expandingOption, manyFields } from '@measurement-exchange/testkit/hostileDescriptors';
import { bytesOf, send } from '@measurement-exchange/testkit/rawHttp';
import { measurementRequest } from '@measurement-exchange/testkit/requests';
import { atScale, type Context, type Harness } from '../harness.ts';
import { type Counted, type World, withWorld } from '../world.ts';
import { inParallel, percentile } from './http.ts';
import { Probe } from './probe.ts';
import { SMUGGLED, smuggle } from './smuggling.ts';

export const h14: Harness = {
  id: 'H14',
  title: 'slow clients, giant requests and hostile descriptor sets do not block a healthy client',
  // Use the rate limits that an exchange has by default, because they protect the healthy client.
  // `packages/exchange/test/hostile` tests each kind of hostile client alone.
  run: (context) =>
    withWorld(context, { replicas: 1, config: { rate: { perSecond: 500, burst: 1_000 } } }, (world) =>
      bother(context, world),
    ),
};

const WHO = '/v2alpha/whoami';
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
/** The limit for the healthy client's response time. Shorter response times are reported, but are not violations. */
const UNBEARABLE_MS = 10_000;

interface Sizes {
  /** The duration of each nuisance in seconds. */
  seconds: number;
  slow: number;
  idle: number;
  rounds: number;
}

type Nuisance = [title: string, make: (world: World, sizes: Sizes) => Promise<number>];

const NUISANCES: Nuisance[] = [
  [
    'slow headers',
    (world, sizes) =>
      hold(world, sizes, sizes.slow, {
        first: 'GET /healthz HTTP/1.1\r\nHost: exchange\r\nX-A: ',
        drip: 'a',
      }),
  ],
  ['slow bodies', (world, sizes) => hold(world, sizes, sizes.slow, { first: slowBody(world), drip: ' ' })],
  ['slow readers', slowReaders],
  ['idle connections', (world, sizes) => hold(world, sizes, sizes.idle, { first: '' })],
  ['giant requests', giants],
  ['pipelined requests', pipelines],
  ['smuggled requests', smuggling],
  ['hostile descriptor sets', descriptorSets],
];

async function bother(context: Context, world: World): Promise<Counted> {
  const sizes = atScale<Sizes>(context, {
    slice: { seconds: 0.4, slow: 50, idle: 200, rounds: 1 },
    short: { seconds: 3, slow: 500, idle: 2_000, rounds: 1 },
    long: { seconds: 10, slow: 1_000, idle: 3_500, rounds: 1 },
  });
  await fill(world);
  // Probe with a request that queries the database, so that delays in the database show up too.
  const [acme] = world.consumers;
  const target = `/v2alpha/${acme!.name}/measurements?pageSize=1`;
  const probe = new Probe({ url: world.exchanges[0]!.url, target, token: acme!.token });
  try {
    return await botherBeside(probe, context, world, sizes);
  } finally {
    await probe.stop();
  }
}

async function botherBeside(probe: Probe, context: Context, world: World, sizes: Sizes): Promise<Counted> {
  const rss = new Rss(world);
  const notes: string[] = [];
  let [operations, faults] = [0, 0];
  const calmly = () => beside(probe, world, () => sleep(sizes.seconds * 1_000));
  let calm = (await calmly()).p99;
  const steps = NUISANCES.length * sizes.rounds;
  for (let round = 0; round < sizes.rounds; round++) {
    for (const [i, [title, make]] of NUISANCES.entries()) {
      rss.note();
      const seen = await beside(probe, world, async () => {
        faults += await make(world, sizes);
      });
      operations += seen.count;
      rss.note();
      // Measure a calm period between two nuisances, because the load of the machine may have changed.
      const after = (await calmly()).p99;
      const ratio = (seen.p99 / Math.max(0.1, (calm + after) / 2)).toFixed(1);
      notes.push(
        `${title}: the healthy client's p99 ${seen.p99} ms, ${ratio} times that of the calm around it`,
      );
      calm = after;
      context.progress(round * NUISANCES.length + i + 1, steps);
    }
  }
  return {
    operations,
    faults,
    notes: [...notes.slice(-NUISANCES.length), rss.report(), await loopDelay(world)],
  };
}

/** The nuisances use a different consumer than the healthy client does. */
const nuisanceOf = ({ consumers }: World) => consumers[1]!;

/** Creates enough measurements that a list response fills the buffers of a connection. */
async function fill(world: World): Promise<void> {
  const { name } = nuisanceOf(world);
  await inParallel(Array.from({ length: 100 }), 8, async () => {
    await world.call(
      0,
      name,
      'POST',
      `${name}/measurements`,
      measurementRequest(nuisanceOf(world), world.providers),
    );
  });
}

/** Measures the healthy client while `work` runs. */
async function beside(
  probe: Probe,
  { violations }: World,
  work: () => Promise<unknown>,
): Promise<{ count: number; p99: number }> {
  await probe.look();
  await work();
  const { times, failures } = await probe.look();
  for (const failure of failures) violations.add(`The healthy client got ${failure}`);
  const longest = Math.max(0, ...times);
  if (longest > UNBEARABLE_MS) violations.add(`The healthy client waited ${Math.round(longest / 1000)} s.`);
  return { count: times.length, p99: percentile(times, 0.99) };
}

function slowBody(world: World): string {
  const { name, token } = nuisanceOf(world);
  const headers = ['Content-Type: application/json', 'Content-Length: 100000'];
  const target = `/v2alpha/${name}/measurements`;
  return bytesOf('POST', target, { token, headers }).toString('latin1');
}

/**
 * Opens `count` connections for `seconds` seconds. Each connection sends `first`, and then `drip` at least every half
 * second. If `drip` is undefined, the connection sends nothing after `first`.
 */
async function hold(
  world: World,
  { seconds }: Sizes,
  count: number,
  { first, drip }: { first: string; drip?: string },
): Promise<number> {
  const sockets = await open(world, count, first);
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
    await sleep(Math.min(500, seconds * 500));
    if (drip !== undefined) for (const socket of sockets) if (socket.writable) socket.write(drip);
  }
  for (const socket of sockets) socket.destroy();
  return count;
}

/** Opens connections that request large responses and do not read them. */
async function slowReaders(world: World, { seconds, slow }: Sizes): Promise<number> {
  const { name, token } = nuisanceOf(world);
  const count = Math.ceil(slow / 25);
  const request = bytesOf('GET', `/v2alpha/${name}/measurements?pageSize=100`, { token });
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    sockets.push(...(await open(world, 1, Buffer.concat(Array.from({ length: 5 }, () => request)), true)));
    await sleep((seconds * 1_000) / count);
  }
  for (const socket of sockets) socket.destroy();
  return count;
}

async function open(world: World, count: number, first: string | Buffer, deaf = false): Promise<Socket[]> {
  const { hostname, port } = new URL(world.exchanges[0]!.url);
  const sockets: Socket[] = [];
  await inParallel(Array.from({ length: count }), 50, async () => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => {}); // the exchange may end the connection
    if (deaf) socket.pause();
    else socket.resume();
    await new Promise<void>((done) => socket.once('connect', done).once('close', () => done()));
    if (first.length > 0) socket.write(first);
    sockets.push(socket);
  });
  return sockets;
}

const PIECE = Buffer.alloc(64 * 1024, 'a');
const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), PIECE, Buffer.from('\r\n')]);

/**
 * Sends giant requests. The exchange must end each request within 30 s. If a request repeats a piece, the exchange must
 * not read the request to its end.
 */
async function giants(world: World, { seconds }: Sizes): Promise<number> {
  const { url } = world.exchanges[0]!;
  const { name, token } = nuisanceOf(world);
  const bytes = seconds * 100_000_000;
  const json = 'Content-Type: application/json';
  const post = (headers: string[], body = '') =>
    bytesOf('POST', `/v2alpha/${name}/measurements`, { token, headers: [json, ...headers], body });
  const get = (target: string, headers: string[] = []) => bytesOf('GET', target, { token, headers });
  const wanted: [title: string, status: number, request: Buffer, piece?: Buffer][] = [
    ['a declared giant', 413, post([`Content-Length: ${2 ** 40}`]), PIECE],
    ['an endless body', 413, post(['Transfer-Encoding: chunked']), CHUNK],
    ['an endless chunk extension', 400, post(['Transfer-Encoding: chunked'], '2;'), PIECE],
    ['an endless trailer', 431, post(['Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\nX-A: '), PIECE],
    ['an endless header', 431, Buffer.from(`GET ${WHO} HTTP/1.1\r\nHost: exchange\r\nX-A: `), PIECE],
    ['an endless URL', 431, Buffer.from('GET /'), PIECE],
    ['a long URL', 414, get(`${WHO}?${'a'.repeat(20_000)}`)],
    ['a long header', 431, get(WHO, [`X-A: ${'a'.repeat(40_000)}`])],
    [
      'many headers',
      431,
      get(
        WHO,
        Array.from({ length: 200 }, (_, i) => `X-${i}: ${i}`),
      ),
    ],
    [
      'many tiny headers',
      431,
      get(
        WHO,
        Array.from({ length: 4_000 }, (_, i) => `a${i}:`),
      ),
    ],
    ['the largest body there is, of brackets', 400, post([], '['.repeat(4 * 1024 * 1024))],
    [
      'the largest body there is, of keys',
      400,
      post([], `{${Array.from({ length: 300_000 }, (_, i) => `"k${i}":0`).join()}}`),
    ],
  ];
  const responses = await Promise.all(
    wanted.map(([, , request, piece]) =>
      send(url, request, piece === undefined ? {} : { flood: { piece, bytes } }),
    ),
  );
  for (const [i, { status, sent, ms }] of responses.entries()) {
    const [title, good] = wanted[i]!;
    // The client may miss the response, because the exchange closes the connection while the client still writes.
    if (status !== good && status !== 0) world.violations.add(`${title} got ${status} instead of ${good}`);
    if (sent >= bytes && wanted[i]![3] !== undefined) world.violations.add(`${title} was read to its end`);
    if (ms > 30_000) world.violations.add(`${title} was held for ${Math.round(ms / 1000)} s`);
  }
  return wanted.length;
}

/**
 * Sends many requests at once on one connection. Each must get its response in order, or be rejected by the rate limit.
 */
async function pipelines(world: World, { slow }: Sizes): Promise<number> {
  const { name, token } = nuisanceOf(world);
  const DEPTH = 100;
  const paths = Array.from({ length: DEPTH }, (_, i) =>
    i % 2 === 0 ? WHO : `/v2alpha/${name}/measurements/absent${i}`,
  );
  const bytes = Buffer.concat(paths.map((path) => bytesOf('GET', path, { token })));
  const pipes = Math.ceil(slow / 10);
  await inParallel(Array.from({ length: pipes }), 10, async () => {
    const statuses = await statusesOf(world, bytes, DEPTH);
    const wanted = paths.map((path) => (path === WHO ? 200 : 404));
    if (statuses.length !== DEPTH || statuses.some((status, i) => status !== wanted[i] && status !== 429)) {
      world.violations.add(
        `A pipeline of ${DEPTH} got ${statuses.length} responses, or in another order: ${statuses.slice(0, 8)}`,
      );
    }
  });
  return pipes;
}

async function smuggling(world: World, _sizes: Sizes): Promise<number> {
  for (const [title, bytes] of SMUGGLED) {
    const problem = await smuggle(world.exchanges[0]!.url, bytes, nuisanceOf(world).token);
    if (problem !== undefined) world.violations.add(`${title}: ${problem}`);
  }
  return SMUGGLED.length;
}

/** Sends large descriptor sets, and small ones that expand to large JSON, through every operation that reads them. */
async function descriptorSets(world: World, { seconds }: Sizes): Promise<number> {
  const [provider] = world.providers;
  const consumer = nuisanceOf(world).name;
  const parent = `${provider!.name}/eventGroupMetadataDescriptors`;
  const bytes = Math.min(400_000, 200_000 * seconds);
  const large = (prefix: string) => base64(manyFields(bytes, 'wide', prefix));
  const [before, after, printed, deep] = [
    large('a'),
    large('b'),
    base64(expandingOption(15_000)),
    base64(chain(8_000)),
  ];
  let count = 0;
  /**
   * Returns the response body if the status is 200, and undefined otherwise. Any status other than 429, 503 or those in
   * `wanted` is a violation.
   */
  const send = async (who: string, method: string, path: string, descriptorSet?: string, wanted = [200]) => {
    count++;
    const reply = await world.call(0, who, method, path, descriptorSet && { descriptorSet });
    if (reply.kind !== 'response') world.violations.add(`${method} ${path}: ${reply.why}`);
    // Accept a 503, because a request may wait too long on a busy machine.
    else if (![...wanted, 429, 503].includes(reply.status)) {
      world.violations.add(`${method} ${path} got ${reply.status} ${reply.reason}`);
    } else if (Buffer.byteLength(reply.text) > MAX_PAGE_BYTES) {
      world.violations.add(`${method} ${path} got ${Buffer.byteLength(reply.text)} bytes`);
    } else if (reply.status === 200) return reply.json;
    return undefined;
  };
  const owner = provider!.name;
  const { name } = (await send(owner, 'POST', parent, before)) ?? {};
  if (name === undefined) return count;
  const nuisances: (() => Promise<unknown>)[] = [
    () => send(owner, 'POST', parent, printed),
    () => send(owner, 'POST', parent, deep, [400]),
    () => send(owner, 'PUT', name, after),
    ...Array.from({ length: 6 }, () => () => send(consumer, 'POST', `${name}:diff`, before)),
    () => send(consumer, 'GET', name),
    () => send(consumer, 'GET', `${parent}?pageSize=1000`),
  ];
  const end = performance.now() + seconds * 1_000;
  await Promise.all(
    nuisances.map(async (nuisance) => {
      do {
        await nuisance();
        await sleep(10);
      } while (performance.now() < end);
    }),
  );
  return count;
}

async function statusesOf(world: World, bytes: Buffer, count: number): Promise<number[]> {
  const [socket] = (await open(world, 1, '')) as [Socket];
  let text = '';
  const all = new Promise<void>((done) => {
    const timer = setTimeout(done, 30_000);
    const end = () => {
      clearTimeout(timer);
      done();
    };
    socket.on('close', end);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if ((text.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0) >= count && text.endsWith('}')) end();
    });
  });
  socket.write(bytes);
  await all;
  socket.destroy();
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}

/** The resident memory of the exchange over time. */
class Rss {
  private readonly world: World;
  private readonly began = performance.now();
  private readonly seen: { minutes: number; mb: number }[] = [];

  constructor(world: World) {
    this.world = world;
  }

  note(): void {
    if (process.platform !== 'linux') return;
    const status = readFileSync(`/proc/${this.world.exchanges[0]!.pid}/status`, 'utf8');
    const mb = Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) / 1024;
    this.seen.push({ minutes: (performance.now() - this.began) / 60_000, mb });
  }

  /** Reports the sizes and a growth rate, which is the slope of a least-squares line. */
  report(): string {
    if (this.seen.length < 2) return 'resident memory: not known here';
    const mean = (of: (one: { minutes: number; mb: number }) => number) =>
      this.seen.reduce((sum, one) => sum + of(one), 0) / this.seen.length;
    const [x, y] = [mean(({ minutes }) => minutes), mean(({ mb }) => mb)];
    const slope =
      mean(({ minutes, mb }) => (minutes - x) * (mb - y)) / mean(({ minutes }) => (minutes - x) ** 2);
    const sizes = this.seen.map(({ mb }) => Math.round(mb));
    return `resident memory ${sizes[0]} MB at first, ${Math.max(...sizes)} MB at most, ${sizes.at(-1)} MB at last; ${slope.toFixed(1)} MB/min`;
  }
}

async function loopDelay(world: World): Promise<string> {
  const text = await (await fetch(`${world.exchanges[0]!.url}/metrics`)).text();
  const seconds = Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(text)?.[1] ?? Number.NaN);
  return `event-loop delay p99 ${(seconds * 1000).toFixed(1)} ms since the last look`;
}
