/** Starts and stops a complete exchange. */
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { ExchangeError } from '@measurement-exchange/contract';
import { listenAt, Secrets } from '@measurement-exchange/server';
import { telemetry } from '@measurement-exchange/server/telemetry';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import manifest from '../package.json' with { type: 'json' };
import { registerApiReference } from './apiReference/index.ts';
import { createApiKeyVerifier } from './auth/apiKeys.ts';
import { createClientCertificateVerifier } from './auth/clientCertificates.ts';
import { createPrincipalResolver } from './auth/principals.ts';
import { createTokenVerifier, type TokenVerifier } from './auth/tokens.ts';
import { createClock } from './clock.ts';
import type { Config } from './config/config.ts';
import { demoProtocols, requireDuchies } from './config/duchies.ts';
import { requireProductionConfig, requireProductionDatabase } from './config/production.ts';
import { ringWarnings } from './config/protocols.ts';
import { type Connections, openDatabase } from './connections.ts';
import { findApiKey } from './database/apiKeys.ts';
import { clientCertificateLookup } from './database/clientCertificates.ts';
import { Database } from './database/db.ts';
import { LastSeen } from './database/lastSeen.ts';
import { migrate, RESTORED } from './database/migrate.ts';
import { OpenMeasurements } from './database/openMeasurements.ts';
import { findPrincipal } from './database/principals.ts';
import { removeReplica } from './database/replicas.ts';
import { type Development, devKeys, devServerTls, startDevelopment, withDevRoot } from './dev/index.ts';
import { registerDevIssuer } from './dev/issuerPages.ts';
import { ChangeBus } from './feed/changeBus.ts';
import { Feed } from './feed/feed.ts';
import { ChangeNotifier } from './feed/notifier.ts';
import { createServer } from './http/server.ts';
import { newId } from './ids.ts';
import { DoctorRuns } from './jobs/doctor.ts';
import { Jobs } from './jobs/index.ts';
import { flush } from './observability/deferred.ts';
import { watchDatabase } from './observability/gauges.ts';
import { createLog } from './observability/log.ts';
import { Metrics } from './observability/metrics.ts';
import type { Exchange } from './operations/index.ts';
import { PageTokens } from './operations/paging.ts';
import { type RpcServer, startRpc } from './rpc/start.ts';
import { credentialsIn } from './serving/credentials.ts';
import { Pipeline } from './serving/pipeline.ts';

export interface Running {
  url: string;
  /** Undefined in production mode. */
  development: Development | undefined;
  stop(): Promise<void>;
}

/** Adds pages that this package does not contain, such as the console at `/`. */
export type AddPages = (app: FastifyInstance, context: PageContext) => void;

export interface PageContext {
  callerOf(request: FastifyRequest): Promise<string>;
  /** Undefined in production mode. In development mode, undefined until the demo parties exist. */
  development(): Development | undefined;
}

export async function start(
  config: Config,
  log: Logger = createLog(config.logLevel),
  addPages?: AddPages,
): Promise<Running> {
  await using opened = new AsyncDisposableStack();
  const production = config.mode === 'production';
  const connections = await openStorage(config, log, opened);
  const metrics = new Metrics();
  if (telemetry !== undefined) opened.defer(telemetry.exportMetrics(() => metrics.values()));
  opened.defer(flush);

  const bus = new ChangeBus();
  const db = connect(connections, { metrics, log, bus }, opened);
  const callers = await identifyCallers(db, config);
  const demo = demoProtocols(config);
  const protocols = demo ?? config.protocols;
  const clock = createClock();
  const doctor = new DoctorRuns({ db, clock, connection: connections.app, log });
  opened.defer(() => doctor.stop());
  const principalsChanged = () => {
    for (const cached of Object.values(callers)) cached.invalidate();
  };
  const exchange = await createExchange(config, { db, bus, clock, protocols, doctor, principalsChanged });
  const { feed } = exchange;
  opened.defer(() => exchange.lastSeen.store(db).catch(() => {}));
  opened.defer(() => removeReplica(db, exchange.replica.id).catch(() => {}));
  watchDatabase(metrics, exchange);
  const jobs = new Jobs(exchange, config, log, metrics);
  opened.defer(() => jobs.stop());

  let tokens: TokenVerifier | undefined;
  const pipeline = new Pipeline({
    exchange,
    // `tokens` is set later, because in development mode the issuer's address is known only when the server is
    // listening. Until then, every request with a token gets an error that asks the caller to retry.
    tokens: {
      verify: (token, permit) => tokens?.verify(token, permit) ?? Promise.reject(starting()),
      recall: (token) => tokens?.recall(token),
    },
    ...callers,
    metrics,
    log,
    rateOf: (principal) => config.rates[principal] ?? config.rate,
    strangerRate: config.rate,
  });
  opened.defer(() => pipeline.stop());

  if (production) await requireDuchies(db, protocols);
  let development: Development | undefined;
  const ready = async () => tokens !== undefined && (await db.isReachable());
  const { url, stop } = await listenAt(config, (tls) =>
    createServer({
      ...{ ...config, tls, pipeline, metrics, ready },
      headers: production ? {} : { 'x-mex-mode': 'development' },
      pages: (pages) => {
        registerPages(pages, production, () => development, addPages === undefined);
        addPages?.(pages, {
          development: () => development,
          callerOf: (request) => callerOf(pipeline, request),
        });
      },
    }),
  );
  let rpc: RpcServer | undefined;
  opened.defer(async () => void (await Promise.all([stop(), rpc?.stop()])));
  const developmentTls = () => devServerTls(config.dataDir, Date.now());
  rpc = await startRpc(config, { pipeline, isReady: ready, developmentTls });
  const addresses = { ...(rpc && { grpc: rpc.address }) };
  // Stop the feed before the server, so that waiting requests get their responses.
  opened.defer(() => feed.stop());

  if (!production) {
    const duchies = demo !== undefined;
    const { dataDir, demoAgents: publishers } = config;
    const at = { dataDir, baseUrl: url, addresses };
    development = await startDevelopment({ ...at, db, clock, duchies, publishers, newId, log });
    opened.defer(() => development?.stop());
    // Check `protocols` only now, because it may name the demo duchies, which startDevelopment creates.
    await requireDuchies(db, protocols);
  }
  const devIssuers = development ? [development.issuer.issuerConfig] : [];
  tokens = createTokenVerifier({ issuers: [...devIssuers, ...config.issuers] });
  log.info({ url, ...addresses, mode: config.mode, checks: config.checks }, 'listening');
  log.flush();
  const running = opened.move();
  return { url, development, stop: () => running.disposeAsync() };
}

async function identifyCallers(db: Database, { mode, dataDir }: Config) {
  const stored = clientCertificateLookup(db);
  const lookup = mode === 'production' ? stored : await withDevRoot(stored, dataDir, Date.now());
  return {
    principals: createPrincipalResolver({ lookup: (query) => findPrincipal(db, query) }),
    apiKeys: createApiKeyVerifier({ lookup: (keyHash) => findApiKey(db, keyHash) }),
    clientCertificates: createClientCertificateVerifier({ lookup }),
  };
}

interface Watchers {
  metrics: Metrics;
  log: Logger;
  bus: ChangeBus;
}

function connect(
  { app: connection }: Connections,
  { metrics, log, bus }: Watchers,
  opened: AsyncDisposableStack,
): Database {
  const db = new Database({
    connection,
    applicationName: `mex ${hostname()} ${process.pid}`,
    observer: metrics,
    onIdleError: (error) => log.warn({ component: 'postgres', reason: error.message }, 'connection lost'),
    onChanges: (parties) => bus.committed(parties),
  });
  opened.defer(() => db.close());
  const notifier = new ChangeNotifier(db, connection, log, bus);
  opened.defer(() => notifier.stop());
  void notifier.start();
  return db;
}

async function openStorage(config: Config, log: Logger, opened: AsyncDisposableStack): Promise<Connections> {
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
  return connections;
}

type Parts = Pick<Exchange, 'db' | 'bus' | 'clock' | 'protocols' | 'doctor' | 'principalsChanged'>;

async function createExchange(config: Config, parts: Parts): Promise<Exchange> {
  const { db, bus, clock } = parts;
  const production = config.mode === 'production';
  const keys = production ? config : await devKeys(db);
  return {
    ...parts,
    feed: new Feed(db, bus),
    newId,
    mode: config.mode,
    replica: { id: newId(), host: hostname(), version: manifest.version, startTime: clock() },
    checks: config.checks,
    duchyOperators: config.duchyOperators,
    openMeasurements: new OpenMeasurements(db, config.maxOpenMeasurements),
    deadlines: { ...config.computations, cancelPendingAfterDays: config.retention?.cancelPendingAfterDays },
    lastSeen: new LastSeen(),
    duchyEndpoints: production ? { privateHosts: config.allowedPrivateHosts } : 'anywhere',
    allowsHttp: !production,
    pageTokens: new PageTokens(Buffer.from(keys.pageTokenKey!, 'base64')),
    secrets: new Secrets(Buffer.from(keys.secretsKey!, 'base64')),
  };
}

function registerPages(
  pages: FastifyInstance,
  production: boolean,
  development: () => Development | undefined,
  isHome: boolean,
): void {
  registerApiReference(pages, () => development()?.parties, isHome);
  if (!production) registerDevIssuer(pages, development);
}

async function callerOf(pipeline: Pipeline, { headers, ip, progress }: FastifyRequest): Promise<string> {
  const { principal } = await pipeline.authenticate(credentialsIn(headers.authorization, ip), progress);
  return principal.name;
}

function starting(): ExchangeError {
  return new ExchangeError('UNAVAILABLE', 'The exchange is starting: retry.', { retryAfterSeconds: 1 });
}
