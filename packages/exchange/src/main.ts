/** What an exchange is put together from, and the way back. */
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { ExchangeError, timestampOf } from '@measurement-exchange/contract';
import { Secrets } from '@measurement-exchange/server';
import { telemetry } from '@measurement-exchange/server/telemetry';
import type { Logger } from 'pino';
import { registerApiReference } from './apiReference/index.ts';
import { createPrincipalResolver } from './auth/principals.ts';
import { createTokenVerifier, type TokenVerifier } from './auth/tokens.ts';
import type { Config } from './config/config.ts';
import { demoProtocols, requireDuchies } from './config/duchies.ts';
import { requireProductionConfig, requireProductionDatabase } from './config/production.ts';
import { ringWarnings } from './config/protocols.ts';
import { openDatabase } from './connections.ts';
import { Database } from './database/db.ts';
import { LastSeen } from './database/lastSeen.ts';
import { migrate, RESTORED } from './database/migrate.ts';
import { OpenMeasurements } from './database/openMeasurements.ts';
import { findPrincipal } from './database/principals.ts';
import { type Development, devKeys, startDevelopment } from './dev/index.ts';
import { Feed } from './feed/feed.ts';
import { Waking } from './feed/waking.ts';
import { listen } from './http/listen.ts';
import { newId } from './ids.ts';
import { startJobs } from './jobs/index.ts';
import { flush } from './observability/deferred.ts';
import { watchDatabase } from './observability/gauges.ts';
import { createLog } from './observability/log.ts';
import { Metrics } from './observability/metrics.ts';
import type { Exchange } from './operations/index.ts';
import { PageTokens } from './operations/paging.ts';
import { Pipeline } from './serving/pipeline.ts';

export interface Running {
  url: string;
  /** Development mode only. */
  development: Development | undefined;
  /** Readiness goes false, requests in flight get their responses, then everything closes. */
  stop(): Promise<void>;
}

export async function start(config: Config, log: Logger = createLog(config.logLevel)): Promise<Running> {
  await using opened = new AsyncDisposableStack();
  const production = config.mode === 'production';
  if (production) requireProductionConfig(config, process);
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });

  const connections = await openDatabase(config, log, opened);
  if (production) {
    const warnings = await requireProductionDatabase(connections, config);
    for (const warning of [...warnings, ...ringWarnings(config.protocols)]) log.warn(warning);
  } else {
    const { owner, appRole } = connections;
    const { applied, restored } = await migrate({ connection: owner, appRole, mode: 'development' });
    if (applied.length > 0) log.info({ applied }, 'migrated');
    if (restored) log.warn(RESTORED);
  }

  const metrics = new Metrics();
  if (telemetry !== undefined) opened.defer(telemetry.exportMetrics(() => metrics.values()));
  opened.defer(flush);
  const db = new Database({
    connection: connections.app,
    applicationName: `mex ${hostname()} ${process.pid}`,
    observer: metrics,
    onIdleError: (error) => log.warn({ component: 'postgres', reason: error.message }, 'connection lost'),
  });
  opened.defer(() => db.close());

  const feed = new Feed(db);
  const waking = new Waking(db, connections.app, log, (parties) => feed.wake(parties));
  opened.defer(() => waking.stop());
  void waking.start();

  const clock = () => timestampOf(performance.timeOrigin + performance.now());
  const keys = production ? config : await devKeys(db);
  const demo = demoProtocols(config);
  const protocols = demo ?? config.protocols;
  const exchange: Exchange = {
    db,
    clock,
    newId,
    checks: config.checks,
    protocols,
    duchyOperators: config.duchyOperators,
    openMeasurements: new OpenMeasurements(db, config.maxOpenMeasurements),
    deadlines: {
      ...config.computations,
      cancelPendingAfterDays: config.retention?.cancelPendingAfterDays,
    },
    lastSeen: new LastSeen(),
    duchyEndpoints: production ? { privateHosts: config.allowedPrivateHosts } : 'anywhere',
    allowsHttp: !production,
    feed,
    pageTokens: new PageTokens(Buffer.from(keys.pageTokenKey!, 'base64')),
    secrets: new Secrets(Buffer.from(keys.secretsKey!, 'base64')),
    principalsChanged: () => principals.invalidate(),
    wake: () => jobs.wake(),
  };
  opened.defer(() => exchange.lastSeen.store(db).catch(() => {}));
  watchDatabase(metrics, exchange);

  const principals = createPrincipalResolver({ lookup: (query) => findPrincipal(db, query) });
  const jobs = startJobs(exchange, config, log, metrics);
  feed.onWake = (parties) => jobs.changed(parties);
  opened.defer(() => jobs.stop());

  let tokens: TokenVerifier | undefined;
  const pipeline = new Pipeline({
    exchange,
    // In development the issuer's address is known only once the server listens.
    tokens: {
      verify: (token, permit) => tokens?.verify(token, permit) ?? Promise.reject(starting()),
      recall: (token) => tokens?.recall(token),
    },
    principals,
    metrics,
    log,
    rateOf: (principal) => config.rates[principal] ?? config.rate,
    strangerRate: config.rate,
  });

  opened.defer(() => pipeline.stop());

  let development: Development | undefined;
  const { url, stop } = await listen({
    ...config,
    pipeline,
    metrics,
    headers: production ? {} : { 'x-mex-mode': 'development' },
    ready: async () => tokens !== undefined && (await db.isReachable()),
    pages: (pages) => {
      registerApiReference(pages, () => development?.parties);
      if (production) return;
      pages.get('/dev/.well-known/openid-configuration', () => development?.issuer.discovery);
      pages.get('/dev/jwks', () => development?.issuer.jwks);
    },
  });
  opened.defer(stop);
  // First of all: those who wait get their responses.
  opened.defer(() => feed.stop());

  if (!production) {
    const duchies = demo !== undefined;
    development = await startDevelopment({
      dataDir: config.dataDir,
      baseUrl: url,
      db,
      clock,
      duchies,
      newId,
      log,
    });
    opened.defer(() => development?.stop());
  }
  // Demo duchies exist only now; until the tokens are known below, every request is told to retry.
  await requireDuchies(db, protocols);
  tokens = createTokenVerifier({ issuers: development ? [development.issuer.issuerConfig] : config.issuers });
  log.info({ url, mode: config.mode, checks: config.checks }, 'listening');
  log.flush();
  const running = opened.move();
  return { url, development, stop: () => running.disposeAsync() };
}

function starting(): ExchangeError {
  return new ExchangeError('UNAVAILABLE', 'The exchange is starting: retry.', { retryAfterSeconds: 1 });
}
