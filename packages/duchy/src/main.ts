/** Starts and stops a duchy process. */
import { hostname } from 'node:os';
import { createSigner, type TrustStore } from '@measurement-exchange/consent';
import type { ExchangeClient } from '@measurement-exchange/sdk/client';
import { listenAt, repeat, Waker } from '@measurement-exchange/server';
import { listenOperations } from '@measurement-exchange/server/operations';
import { telemetry } from '@measurement-exchange/server/telemetry';
import type pg from 'pg';
import type { Logger } from 'pino';
import { sharedClient } from './client.ts';
import type { Duchy } from './computations/context.ts';
import { type DuchyConfig, DuchyConfigError, type Listen } from './config/config.ts';
import {
  Database,
  durabilityProblems,
  migrate,
  removeBlobs,
  removeComputations,
  requireOwnDatabase,
  Secrets,
} from './database/index.ts';
import { createFace } from './face/server.ts';
import { Herald } from './herald/herald.ts';
import { Mill } from './mills/mill.ts';
import { Metrics } from './observability/metrics.ts';
import { keepThreads } from './protocols.ts';

export interface StartOptions {
  config: DuchyConfig;
  credentials: { name: string; certificate: string; privateKeyPem: string };
  client: ExchangeClient;
  trust: TrustStore;
  connection: pg.ClientConfig;
  secretsKey: Uint8Array;
  log: Logger;
  /** Limits the process to one part of the duchy: `face` starts everything except mills, `mill` only mills. */
  only?: 'face' | 'mill' | undefined;
  /** The address that the HTTP server listens on. Undefined in a process with only mills. */
  listen: Listen | undefined;
  /** The listen address of the health and metrics endpoints. */
  operations: DuchyConfig['operations'];
}

export interface RunningDuchy {
  url: string | undefined;
  operationsUrl: string;
  /** Finishes the server's current requests, releases the stages that the mills work on, and closes everything. */
  stop(): Promise<void>;
}

const REMOVE_EVERY_MS = 10 * 60_000;
/**
 * The number of database connections for the HTTP server and the herald. Each mill needs two more: one to store data,
 * and one to renew the lease.
 */
const CONNECTIONS = 8;

export async function startDuchy(options: StartOptions): Promise<RunningDuchy> {
  const { config, log, only } = options;
  const owner = `${hostname()} ${process.pid}`;
  await using opened = new AsyncDisposableStack();
  const db = await openDatabase(options, owner);
  opened.defer(() => db.close());
  await requireUsable(db, options);
  opened.defer(keepThreads(db));
  const metrics = new Metrics();
  if (telemetry !== undefined) opened.defer(telemetry.exportMetrics(() => metrics.values()));
  metrics.watchDatabase(db);
  const duchy = await contextOf(options, db, metrics);

  const draining = new AbortController();
  const isReady = async () => !draining.signal.aborted && db.isReachable();
  const operations = await listenOperations({ ...options.operations, isReady, metrics });
  opened.defer(() => operations.stop());

  const stopping = new AbortController();
  const jobs = startJobs(duchy, options, owner, stopping.signal);
  opened.defer(async () => {
    stopping.abort();
    await Promise.all(jobs);
  });
  let url: string | undefined;
  if (options.listen !== undefined) {
    const { trustedProxies } = options.listen;
    const face = await listenAt(options.listen, (tls) =>
      createFace({ duchy, limits: config.limits, tls, trustedProxies }),
    );
    opened.defer(() => face.stop());
    url = face.url;
  }
  log.info({ duchy: duchy.name, url, operationsUrl: operations.url, only: only ?? 'all' }, 'running');
  const running = opened.move();
  return {
    url,
    operationsUrl: operations.url,
    stop() {
      draining.abort();
      return running.disposeAsync();
    },
  };
}

async function openDatabase(options: StartOptions, owner: string): Promise<Database> {
  const { config, connection, log } = options;
  const applied = await migrate(connection);
  if (applied.length > 0) log.info({ applied }, 'migrated');
  return new Database({
    connection,
    secrets: new Secrets(options.secretsKey),
    applicationName: `mex duchy ${owner}`,
    maxConnections: CONNECTIONS + 2 * config.mills.count,
    onIdleError: (error) => log.warn({ component: 'postgres', reason: error.message }, 'connection lost'),
  });
}

async function requireUsable(db: Database, { config, credentials }: StartOptions): Promise<void> {
  if (config.mode === 'production') {
    const problems = await durabilityProblems(db);
    if (problems.length > 0) throw new DuchyConfigError(problems);
  }
  await requireOwnDatabase(db, credentials.name);
}

async function contextOf(options: StartOptions, db: Database, metrics: Metrics): Promise<Duchy> {
  const { config, credentials, client, trust, log } = options;
  return {
    name: credentials.name,
    certificate: credentials.certificate,
    signer: await createSigner(credentials.privateKeyPem),
    client: sharedClient(client, metrics),
    db,
    mills: new Waker(),
    trust,
    noiseMechanisms: config.noiseMechanisms,
    keepsBlobs: config.keepBlobsForHours > 0,
    peers: config.peers,
    requiresPublicPeers: config.mode === 'production',
    fetch: globalThis.fetch,
    log,
    metrics,
  };
}

function startJobs(duchy: Duchy, { config, only }: StartOptions, owner: string, signal: AbortSignal) {
  const { db, log } = duchy;
  const jobs: Promise<void>[] = [];
  if (only !== 'face') {
    const leaseMs = config.mills.leaseSeconds * 1000;
    for (let n = 1; n <= config.mills.count; n++) {
      jobs.push(new Mill(duchy, { owner: `${owner} mill ${n}`, leaseMs }).run(signal));
    }
  }
  if (only !== 'mill') {
    jobs.push(new Herald(duchy, { pollMs: config.pollSeconds * 1000 }).run(signal));
    const remove = async () => {
      await removeBlobs(db, config.keepBlobsForHours, config.limits.uploadSeconds);
      const removed = await removeComputations(db, config.keepComputationsForDays);
      if (removed > 0) log.info({ removed }, 'ended computations removed');
    };
    jobs.push(repeat('removal', remove, { everyMs: REMOVE_EVERY_MS, signal, log }));
  }
  return jobs;
}
