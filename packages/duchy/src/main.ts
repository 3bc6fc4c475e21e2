/** What one process of a duchy is put together from, and the way back. */
import { hostname } from 'node:os';
import { createSigner, type TrustStore } from '@measurement-exchange/consent';
import type { ExchangeClient } from '@measurement-exchange/sdk/client';
import { repeat } from '@measurement-exchange/server';
import { telemetry } from '@measurement-exchange/server/telemetry';
import type pg from 'pg';
import type { Logger } from 'pino';
import { sharedClient } from './client.ts';
import type { Duchy } from './computations/context.ts';
import { type DuchyConfig, DuchyConfigError, type Listen } from './config/config.ts';
import {
  Database,
  durabilityProblems,
  hasMovingRing,
  migrate,
  removeBlobs,
  removeComputations,
  requireOwnDatabase,
  Secrets,
} from './database/index.ts';
import { listen } from './face/listen.ts';
import { listenOperations } from './face/operations.ts';
import { Herald } from './herald/herald.ts';
import { Mill } from './mills/mill.ts';
import { Metrics } from './observability/metrics.ts';
import { POOL } from './threads/pool.ts';

export interface StartOptions {
  config: DuchyConfig;
  credentials: { name: string; certificate: string; privateKeyPem: string };
  client: ExchangeClient;
  trust: TrustStore;
  connection: pg.ClientConfig;
  secretsKey: Uint8Array;
  log: Logger;
  /** `face`: no mills; `mill`: nothing but mills. */
  only?: 'face' | 'mill' | undefined;
  /** Where the face listens; absent with mills alone. */
  listen: Listen | undefined;
  /** Where health and metrics are. */
  operations: DuchyConfig['operations'];
}

export interface RunningDuchy {
  /** Where the face listens. */
  url: string | undefined;
  /** Where health and metrics are. */
  operationsUrl: string;
  /** Requests in flight get their responses, stages are given back, then everything closes. */
  stop(): Promise<void>;
}

const REMOVE_EVERY_MS = 10 * 60_000;
/** For the face, the herald, and each mill that stores while it keeps its lease. */
const CONNECTIONS = 8;

export async function startDuchy(options: StartOptions): Promise<RunningDuchy> {
  const { config, credentials, client, trust, connection, log, only } = options;
  await using opened = new AsyncDisposableStack();
  const applied = await migrate(connection);
  if (applied.length > 0) log.info({ applied }, 'migrated');
  const owner = `${hostname()} ${process.pid}`;
  const db = new Database({
    connection,
    secrets: new Secrets(options.secretsKey),
    applicationName: `mex duchy ${owner}`,
    maxConnections: CONNECTIONS + 2 * config.mills.count,
    onIdleError: (error) => log.warn({ component: 'postgres', reason: error.message }, 'connection lost'),
  });
  opened.defer(() => db.close());
  if (config.mode === 'production') {
    const problems = await durabilityProblems(db);
    if (problems.length > 0) throw new DuchyConfigError(problems);
  }
  await requireOwnDatabase(db, credentials.name);
  opened.defer(POOL.keepWhile(() => hasMovingRing(db)));
  const metrics = new Metrics();
  if (telemetry !== undefined) opened.defer(telemetry.exportMetrics(() => metrics.values()));
  metrics.watchDatabase(db);
  const duchy: Duchy = {
    name: credentials.name,
    certificate: credentials.certificate,
    signer: await createSigner(credentials.privateKeyPem),
    client: sharedClient(client, metrics),
    db,
    trust,
    noiseMechanisms: config.noiseMechanisms,
    keepsBlobs: config.keepBlobsForHours > 0,
    peers: config.peers,
    requiresPublicPeers: config.mode === 'production',
    fetch: globalThis.fetch,
    log,
    metrics,
  };

  const draining = new AbortController();
  const operations = await listenOperations({ ...options.operations, duchy, stopping: draining.signal });
  opened.defer(() => operations.stop());

  const stopping = new AbortController();
  const { signal } = stopping;
  const jobs: Promise<void>[] = [];
  opened.defer(async () => {
    stopping.abort();
    await Promise.all(jobs);
  });
  if (only !== 'face') {
    const leaseMs = config.mills.leaseSeconds * 1000;
    for (let n = 1; n <= config.mills.count; n++) {
      jobs.push(new Mill(duchy, { owner: `${owner} mill ${n}`, leaseMs }).run(signal));
    }
  }
  if (only !== 'mill') {
    jobs.push(new Herald(duchy, { pollMs: config.pollSeconds * 1000 }).run(signal));
    const remove = async () => {
      await removeBlobs(db, config.keepBlobsForHours);
      const removed = await removeComputations(db, config.keepComputationsForDays);
      if (removed > 0) log.info({ removed }, 'ended computations removed');
    };
    jobs.push(repeat('removal', remove, { everyMs: REMOVE_EVERY_MS, signal, log }));
  }
  let url: string | undefined;
  if (options.listen !== undefined) {
    const face = await listen({ ...options.listen, duchy, limits: config.limits });
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
