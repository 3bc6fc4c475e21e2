/** The composition root: config, database, schema, operations, face; and the way back. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { ExchangeError, PATTERNS, timestampOf } from '@measurement-exchange/contract';
import type pg from 'pg';
import { type Logger, pino } from 'pino';
import { createPrincipalResolver } from './auth/principals.ts';
import { createTokenVerifier, type TokenVerifier } from './auth/tokens.ts';
import type { Config } from './config.ts';
import { countExpiring } from './database/certificates.ts';
import { Database, type DatabaseOptions } from './database/db.ts';
import { migrate } from './database/migrate.ts';
import { findPrincipal } from './database/principals.ts';
import { countCascades } from './database/revocationCascades.ts';
import { ensureRole } from './database/roles.ts';
import { putFirstSetting } from './database/settings.ts';
import { type Development, startDevelopment } from './dev/index.ts';
import { PARTY_KINDS } from './domain/access.ts';
import { EXPIRING_DAYS } from './domain/certificate.ts';
import { catchUp } from './http/afterwards.ts';
import { registerDocs } from './http/docs.ts';
import { createLog } from './http/log.ts';
import { Metrics } from './http/metrics.ts';
import { createServer } from './http/server.ts';
import { newId } from './ids.ts';
import { startJobs } from './jobs.ts';
import type { Exchange } from './operations/index.ts';
import { PageTokens } from './operations/paging.ts';
import { announcePlantedBug } from './planted.ts';
import { acquireDataDirLock, DataDirInUse, startPostgres } from './postgres/index.ts';
import { requireProductionConfig, requireProductionDatabase } from './production.ts';

export interface Running {
  url: string;
  /** Development mode only. */
  development: Development | undefined;
  /** Readiness goes false, what is in flight is answered, then everything closes. */
  stop(): Promise<void>;
}

/** In-flight requests have this long; then their connections are closed. */
const DRAIN_MS = 8_000;

export async function start(config: Config, log: Logger = createLog(config.logLevel)): Promise<Running> {
  const undo: (() => Promise<unknown>)[] = [];
  const stopAll = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return await startAll(config, log, undo, stopAll);
  } catch (error) {
    await stopAll();
    throw error;
  }
}

async function startAll(
  config: Config,
  log: Logger,
  undo: (() => Promise<unknown>)[],
  stopAll: () => Promise<void>,
): Promise<Running> {
  const production = config.mode === 'production';
  if (production) requireProductionConfig(config, process);
  announcePlantedBug((message) => log.warn(message));
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });

  const connections = await openDatabase(config, log, undo);
  if (production) {
    for (const warning of await requireProductionDatabase(connections, config)) log.warn(warning);
  } else {
    const applied = await migrate({ connection: connections.owner, appRole: connections.appRole });
    if (applied.length > 0) log.info({ applied }, 'migrated');
  }

  const metrics = new Metrics();
  undo.push(async () => catchUp());
  const db = new Database(databaseOptions(connections.app, metrics, log));
  metrics.watchPool(db.pool);
  undo.push(() => db.close());

  const clock = () => timestampOf(performance.timeOrigin + performance.now());
  const exchange: Exchange = {
    db,
    clock,
    newId,
    checks: config.checks,
    protocols: new Set(config.protocols),
    pageTokens: new PageTokens(await pageTokenKey(config, db)),
    principalsChanged: () => principals.forget(),
    wake: () => jobs.wake(),
  };

  watchCertificates(metrics, exchange);

  const principals = createPrincipalResolver({ lookup: (query) => findPrincipal(db, query) });
  const jobs = startJobs(exchange, config, log);
  undo.push(() => jobs.stop());

  let draining = false;
  let tokens: TokenVerifier | undefined;
  let development: Development | undefined;
  const app = createServer({
    exchange,
    // In development the issuer's address is known only once the server listens.
    tokens: { verify: (token) => (tokens ? tokens.verify(token) : Promise.reject(starting())) },
    principals,
    metrics,
    rateOf: (principal) => config.rates[principal] ?? config.rate,
    log,
    bodyLimit: config.bodyLimitBytes,
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    tls: config.tls && { cert: await readFile(config.tls.certFile), key: await readFile(config.tls.keyFile) },
    headers: production ? {} : { 'x-mex-mode': 'development' },
    ready: async () => !draining && tokens !== undefined && (await db.isReachable()),
    pages: (pages) => {
      registerDocs(pages);
      if (production) return;
      pages.get('/dev/.well-known/openid-configuration', () => development?.issuer.discovery);
      pages.get('/dev/jwks', () => development?.issuer.jwks);
    },
  });
  undo.push(async () => {
    draining = true;
    const force = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
    await app.close();
    clearTimeout(force);
  });
  await app.listen({ host: config.host, port: config.port });
  const { port } = app.server.address() as { port: number };
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const url = `${config.tls ? 'https' : 'http'}://${host}:${port}`;

  if (!production) {
    development = await startDevelopment({ dataDir: config.dataDir, baseUrl: url, db, clock, newId, log });
    undo.push(async () => development?.stop());
  }
  tokens = createTokenVerifier({ issuers: development ? [development.issuer.issuerConfig] : config.issuers });
  log.info({ url, mode: config.mode, checks: config.checks }, 'listening');
  log.flush();
  return { url, development, stop: stopAll };
}

function starting(): ExchangeError {
  return new ExchangeError('UNAVAILABLE', 'The exchange is starting: retry.', { retryAfterSeconds: 1 });
}

export interface Connections {
  /** Owns the schema. */
  owner: pg.ClientConfig;
  /** Serves requests. */
  app: pg.ClientConfig;
  appRole: string | undefined;
  embedded: boolean;
}

/** Separate owner and app roles where we make them: the serving role cannot rewrite the logs. */
const EMBEDDED_APP_ROLE = 'mex_app';

export async function openDatabase(
  config: Config,
  log: Logger,
  undo: (() => Promise<unknown>)[],
): Promise<Connections> {
  if (config.databaseUrl !== undefined) {
    return {
      owner: { connectionString: config.databaseOwnerUrl ?? config.databaseUrl },
      app: { connectionString: config.databaseUrl },
      appRole: config.databaseAppRole,
      embedded: false,
    };
  }
  const lock = await acquireDataDirLock(config.dataDir, { url: `http://${config.host}:${config.port}` });
  undo.push(() => lock.release());
  const server = await startPostgres({
    dataDir: config.dataDir,
    log: (message) => log.info({ component: 'postgres' }, message),
  });
  undo.push(() => server.stop());
  await ensureRole(server.connection, EMBEDDED_APP_ROLE);
  return embeddedConnections(server.connection);
}

/** For commands: the database, with or without a running exchange, for as long as `work` takes. */
export async function withDatabase<T>(
  config: Config,
  work: (connections: Connections) => Promise<T>,
): Promise<T> {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    return await work(await openDatabase(config, pino({ level: 'warn' }), undo));
  } catch (error) {
    if (!(error instanceof DataDirInUse)) throw error;
    // The exchange that holds the data directory keeps its server running: use that one, leave it running.
    const { connection } = await startPostgres({ dataDir: config.dataDir });
    return work(embeddedConnections(connection));
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

function embeddedConnections(owner: Connections['owner']): Connections {
  return {
    owner,
    app: { ...owner, user: EMBEDDED_APP_ROLE },
    appRole: EMBEDDED_APP_ROLE,
    embedded: true,
  };
}

function watchCertificates(metrics: Metrics, { db, clock }: Exchange): void {
  const expiring = {
    name: 'mex_certificates_expiring',
    help: `Certificates in force that expire within ${EXPIRING_DAYS} days, by kind of party`,
    labelNames: ['kind'],
  };
  metrics.watch(expiring, 60_000, async () => {
    const counts = await countExpiring(db, clock(), EXPIRING_DAYS);
    return PARTY_KINDS.map((kind) => {
      const [collection] = PATTERNS[kind].split('/');
      return { labels: { kind }, value: counts.get(collection!) ?? 0 };
    });
  });
  const cascades = {
    name: 'mex_revocation_cascades_pending',
    help: 'Revoked certificates whose measurements are still being failed',
  };
  metrics.watch(cascades, 1_000, async () => [{ value: await countCascades(db) }]);
}

function databaseOptions(connection: pg.ClientConfig, metrics: Metrics, log: Logger): DatabaseOptions {
  return {
    connection,
    applicationName: `mex ${hostname()} ${process.pid}`,
    observer: metrics,
    onIdleError: (error) => log.warn({ component: 'postgres', reason: error.message }, 'connection lost'),
  };
}

/** In development the key lives in the database, so that replicas on one database share it. */
async function pageTokenKey(config: Config, db: Database): Promise<Uint8Array> {
  const key =
    config.mode === 'production'
      ? config.pageTokenKey!
      : await putFirstSetting(db, 'devPageTokenKey', randomBytes(32).toString('base64'));
  return Buffer.from(key, 'base64');
}
