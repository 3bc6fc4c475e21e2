/** The environment of a harness: a PostgreSQL server, exchanges, callers, and a doctor that runs continuously. */
import { rmSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '@measurement-exchange/exchange/config';
import type { DevJson, DevParty } from '@measurement-exchange/testkit/requests';
import { atScale, type Context, type Outcome, Violations } from './harness.ts';
import { relax } from './planted/relax.ts';
import { emptyTally, type Tally } from './tally.ts';
import { Auditor } from './world/auditor.ts';
import { Client, type Reply } from './world/client.ts';
import { ExchangeProcess } from './world/exchange.ts';
import { Postgres } from './world/postgres.ts';
import { RpcClients, type Rpcs, replyOf } from './world/rpc.ts';

export interface WorldOptions {
  /** The number of exchanges. The default is three, and two in a slice. */
  replicas?: number;
  /** Overrides the configuration of the rig's exchanges, which have no rate limits and log only warnings. */
  config?: Partial<Config>;
  env?: Record<string, string>;
  /** Runs on an empty database before the first exchange starts. */
  prepare?: (postgres: Postgres) => Promise<void>;
  /** Maps the direct URL of the database to the URL that the exchanges use, for example through a proxy. */
  databaseUrl?: (direct: string) => string | Promise<string>;
  /**
   * Maps the direct URL of the nth exchange to the URL that callers use. The function is called for every request, so
   * it can return a different URL each time.
   */
  exchangeUrl?: (direct: string, n: number) => string;
  /** Receives all output of the exchanges. */
  onOutput?: (text: string) => void;
}

export interface World {
  /** A temporary folder that is removed with the world. */
  home: string;
  postgres: Postgres;
  exchanges: ExchangeProcess[];
  /** The demo parties, which are the same at every exchange. Each exchange issues its own tokens, which `call` uses. */
  consumers: DevParty[];
  providers: DevParty[];
  violations: Violations;
  /** Counts that the harness updates. */
  tally: Tally;
  /**
   * Sends a request to the exchange `exchanges[at]`. `who` is a party's name or `operator`, and `path` is relative to
   * `/v2alpha/`. A 5xx response other than 503 and 504 is a violation.
   */
  call(at: number, who: string, method: string, path: string, body?: unknown): Promise<Reply>;
  /** Sends an RPC with the same checks as `call`. `work` must return the response in the form of REST. */
  rpc(at: number, who: string, work: (rpcs: Rpcs) => Promise<object>): Promise<Reply>;
  /** Reads the rows of a measurement, given its name or the name of one of its requisitions. */
  facts(measurement: string): Promise<unknown>;
}

/** The rows of at most this many measurements are saved, even if the violations name more. */
const MAX_FACTS = 20;
const CONFIG: Partial<Config> = {
  logLevel: 'warn',
  rate: { perSecond: 1e6, burst: 1e6 },
  maxOpenMeasurements: 1e9,
  webhooks: { deniedNetworks: [], perSecond: 1e6, partyPerSecond: 1e6 },
};

/** The part of an outcome that a harness returns. `withWorld` adds the other fields. */
export type Counted = Pick<Outcome, 'operations' | 'faults' | 'notes'>;

export async function withWorld(
  context: Context,
  options: WorldOptions,
  work: (world: World) => Promise<Counted>,
): Promise<Outcome> {
  const home = await mkdtemp(join(tmpdir(), 'mex-rig-'));
  const violations = new Violations();
  const undo: (() => Promise<unknown> | unknown)[] = [() => rm(home, { recursive: true, force: true })];
  try {
    const postgres = await Postgres.start(join(home, 'database'));
    undo.push(() => postgres.stop());
    await options.prepare?.(postgres);
    const client = new Client();
    undo.push(() => client.close());
    const secrets = new Secrets(violations);
    const exchanges = await startExchanges(context, options, { home, postgres, violations, secrets, undo });
    // Remove the folder even if the rig is stopped early. The exit handlers of the processes run before this one,
    // because they were registered earlier.
    const removeHome = () => rmSync(home, { recursive: true, force: true });
    process.once('exit', removeHome);
    undo.push(() => process.off('exit', removeHome));
    const ignored = await relax(postgres, context.planted);
    const auditor = new Auditor(postgres, violations, ignored);
    auditor.start();
    const world = worldOf(options, home, postgres, exchanges, client, violations);
    let counted: Counted;
    try {
      counted = await work(world);
    } finally {
      await auditor.stop();
      if (violations.any) await saveAll(context, world);
    }
    return { ...counted, violations: violations.found, tally: world.tally, doctorRuns: auditor.runs };
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

/** Saves the violations, the logs, and the rows of the measurements that the violations name. */
async function saveAll({ save }: Context, { violations, exchanges, facts }: World): Promise<void> {
  const said = violations.found.join('\n');
  save('violations.txt', said);
  for (const [i, { output }] of exchanges.entries()) save(`exchange-${i}.log`, output);
  const ids = new Set(
    [...said.matchAll(/\/(?:measurements|requisitions)\/(\w+)/g)].map((found) => found[1]!),
  );
  for (const id of [...ids].slice(0, MAX_FACTS)) save(`facts-${id}.json`, await facts(id).catch(String));
}

interface Surroundings {
  home: string;
  postgres: Postgres;
  violations: Violations;
  secrets: Secrets;
  undo: (() => Promise<unknown> | unknown)[];
}

async function startExchanges(
  { planted, scale }: Context,
  options: WorldOptions,
  { home, postgres, violations, secrets, undo }: Surroundings,
): Promise<ExchangeProcess[]> {
  const { replicas = atScale({ scale }, { slice: 2, short: 3, long: 3 }) } = options;
  const databaseUrl = (await options.databaseUrl?.(postgres.url)) ?? postgres.url;
  const dirs = Array.from({ length: replicas }, (_, i) => join(home, `exchange-${i}`));
  const exchanges = dirs.map(
    (dataDir) =>
      new ExchangeProcess({
        dataDir,
        databaseUrl,
        config: { ...CONFIG, ...options.config },
        env: options.env ?? {},
        planted,
        onCrash: (why) => violations.add(why),
        onOutput: (text) => {
          secrets.look(text);
          options.onOutput?.(text);
        },
      }),
  );
  for (const exchange of exchanges) undo.push(() => exchange.end());
  const [first, ...others] = exchanges;
  await mkdir(dirs[0]!);
  await first!.start();
  // The other exchanges use the parties and keys that the first exchange created.
  for (const dir of dirs.slice(1)) {
    await mkdir(dir);
    for (const file of ['dev.json', 'dev-root.json']) await copyFile(join(dirs[0]!, file), join(dir, file));
  }
  await Promise.all(others.map((exchange) => exchange.start()));
  for (const { dev } of exchanges) secrets.know(dev);
  return exchanges;
}

function worldOf(
  { exchangeUrl = (direct) => direct }: WorldOptions,
  home: string,
  postgres: Postgres,
  exchanges: ExchangeProcess[],
  client: Client,
  violations: Violations,
): World {
  const { measurementConsumers, dataProviders } = exchanges[0]!.dev;
  const tokens = exchanges.map(({ dev }) => tokensOf(dev));
  const rpcs = exchanges.map(() => new RpcClients());
  const tally = emptyTally();
  /** Adds a violation for every 5xx response other than 503 and 504. */
  const checked = (reply: Reply, what: string) => {
    if (reply.kind === 'response' && reply.status >= 500 && reply.status !== 503 && reply.status !== 504) {
      tally.serverErrors++;
      violations.add(`${what} got ${reply.status}: ${reply.text}`);
    }
    return reply;
  };
  return {
    home,
    postgres,
    exchanges,
    consumers: measurementConsumers,
    providers: dataProviders,
    violations,
    tally,
    async call(at, who, method, path, body) {
      const authorization = `Bearer ${tokens[at]!.get(who) ?? who}`;
      const reply = await client.send(
        method,
        `${exchangeUrl(exchanges[at]!.url, at)}/v2alpha/${path}`,
        { authorization },
        body,
      );
      return checked(reply, `${method} ${path}`);
    },
    async rpc(at, who, work) {
      const token = tokens[at]!.get(who) ?? who;
      const call = work(rpcs[at]!.of(who, token, exchanges[at]!.dev));
      return checked(await replyOf(call), `An RPC of ${who}`);
    },
    async facts(measurement) {
      const named = measurement.split('/').at(-1);
      const [owner] = await postgres.query('SELECT measurement FROM requisitions WHERE id = $1', [named]);
      const of = (table: string, column: string) =>
        postgres.query(`SELECT to_jsonb(t) AS row FROM ${table} t WHERE ${column} = $1`, [
          owner?.measurement ?? named,
        ]);
      return {
        measurement: await of('measurements', 'id'),
        requisitions: await of('requisitions', 'measurement'),
        transitions: await of('transitions', 'measurement'),
      };
    },
  };
}

function tokensOf({ operator, measurementConsumers, dataProviders }: DevJson): Map<string, string> {
  const parties = [...measurementConsumers, ...dataProviders].map(
    ({ name, token }) => [name, token] as const,
  );
  return new Map([['operator', operator.token], ...parties]);
}

/** Checks that no exchange writes a token, or a token's signature, to its output. */
class Secrets {
  private readonly violations: Violations;
  private signatures: string[] = [];
  private before = '';

  constructor(violations: Violations) {
    this.violations = violations;
  }

  know(dev: DevJson): void {
    this.signatures.push(...[...tokensOf(dev).values()].map((token) => token.split('.')[2]!));
  }

  look(text: string): void {
    const seen = this.before + text;
    if (this.signatures.some((signature) => seen.includes(signature))) {
      this.violations.add('An exchange wrote a bearer token to its log.');
    }
    // A token may be split between two chunks, so keep the end of this one.
    this.before = seen.slice(-500);
  }
}
