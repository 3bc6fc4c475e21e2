/** Flags, environment and file to one Config. What it may not be in production is said in production.ts. */
import type { Protocol } from '@measurement-exchange/contract';
import type { IssuerConfig } from '../auth/tokens.ts';
import type { Checks } from '../domain/findings.ts';
import type { Retention } from '../jobs/retention.ts';
import type { Rate } from '../serving/rate.ts';
import { readConfigFile } from './file.ts';

export interface Config {
  mode: 'development' | 'production';
  host: string;
  port: number;
  dataDir: string;
  /** Absent: the embedded PostgreSQL in the data directory. */
  databaseUrl: string | undefined;
  /** Who owns the schema and runs migrations; default: the user of databaseUrl. */
  databaseOwnerUrl: string | undefined;
  /** The role that serves requests, granted what it needs by the migrations. */
  databaseAppRole: string | undefined;
  issuers: IssuerConfig[];
  /** JWKS hosts that may have a private address. */
  allowedPrivateHosts: string[];
  /** Base64, at least 32 bytes, the same on every replica. */
  pageTokenKey: string | undefined;
  checks: Checks;
  protocols: Protocol[];
  bodyLimitBytes: number;
  rate: Rate;
  /** Per principal, where it differs. */
  rates: Record<string, Rate>;
  tls: { certFile: string; keyFile: string } | undefined;
  behindTlsProxy: boolean;
  trustedProxies: string[];
  corsOrigins: string[];
  /** Absent: nothing is ever cancelled or removed by itself. */
  retention: Retention | undefined;
  logLevel: string;
}

const DEFAULTS: Config = {
  mode: 'production',
  host: '127.0.0.1',
  port: 8080,
  dataDir: '.mex',
  databaseUrl: undefined,
  databaseOwnerUrl: undefined,
  databaseAppRole: undefined,
  issuers: [],
  allowedPrivateHosts: [],
  pageTokenKey: undefined,
  checks: 'advisory',
  protocols: [],
  bodyLimitBytes: 4 * 1024 * 1024,
  rate: { perSecond: 500, burst: 1000 },
  rates: {},
  tls: undefined,
  behindTlsProxy: false,
  trustedProxies: [],
  corsOrigins: [],
  retention: undefined,
  logLevel: 'info',
};

/** Settings that cannot be read; each line says what to do. */
export class ConfigError extends Error {
  readonly problems: string[];
  constructor(problems: string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

type Env = Record<string, string | undefined>;

/** `overrides` are the flags of the command line. */
export function loadConfig(env: Env, overrides: Partial<Config> = {}): Config {
  const problems: string[] = [];
  const config = {
    ...DEFAULTS,
    ...readConfigFile(env.MEX_CONFIG, problems),
    ...readEnv(env, problems),
    ...overrides,
  };
  if (!Number.isInteger(config.port) || config.port < 0 || config.port > 65535) {
    problems.push(`PORT must be a port number, not ${config.port}.`);
  }
  if (config.checks !== 'advisory' && config.checks !== 'strict') {
    problems.push(`MEX_CHECKS must be advisory or strict, not ${config.checks}.`);
  }
  if (config.protocols.length > 0) {
    problems.push('protocols: no multi-party protocol can be enabled before the exchange has duchies.');
  }
  if (config.mode === 'development' && !isLoopback(config.host)) {
    problems.push(`Development mode listens on loopback only: HOST ${config.host} is refused. Unset HOST.`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function readEnv(env: Env, problems: string[]): Partial<Config> {
  const config: Partial<Config> = {};
  if (env.PORT !== undefined) {
    config.port = /^\d+$/.test(env.PORT) ? Number(env.PORT) : Number.NaN;
    if (Number.isNaN(config.port)) problems.push(`PORT must be a port number, not ${env.PORT}.`);
  }
  if (env.HOST !== undefined) config.host = env.HOST;
  if (env.MEX_DATA_DIR !== undefined) config.dataDir = env.MEX_DATA_DIR;
  if (env.DATABASE_URL !== undefined) config.databaseUrl = env.DATABASE_URL;
  if (env.DATABASE_OWNER_URL !== undefined) config.databaseOwnerUrl = env.DATABASE_OWNER_URL;
  if (env.MEX_CHECKS !== undefined) config.checks = env.MEX_CHECKS as Checks;
  if (env.MEX_LOG_LEVEL !== undefined) config.logLevel = env.MEX_LOG_LEVEL;
  return config;
}
