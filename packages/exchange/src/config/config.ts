/** Flags, environment and file to one Config. What it may not be in production is said in production.ts. */
import type { Checks } from '../domain/findings.ts';
import { networkList } from '../webhooks/destinations.ts';
import { readConfigFile } from './file.ts';
import { operatorProblems, protocolProblems } from './protocols.ts';
import { type Config, DEFAULTS } from './settings.ts';

export type { Config } from './settings.ts';

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
  problems.push(...operatorProblems(config.duchyOperators));
  problems.push(...protocolProblems(config.protocols), ...networkProblems(config.webhooks.deniedNetworks));
  if (config.mode === 'development' && !isLoopback(config.host)) {
    problems.push(`Development mode listens on loopback only: HOST ${config.host} is refused. Unset HOST.`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

function networkProblems(networks: string[]): string[] {
  return networks.flatMap((network, i) => {
    try {
      networkList([network]);
      return [];
    } catch {
      return [`webhooks.deniedNetworks[${i}] must be a network such as 192.0.2.0/24 or 2001:db8::/32.`];
    }
  });
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
  if (env.MEX_DUCHIES !== undefined) {
    config.demoDuchies = env.MEX_DUCHIES !== 'off';
    if (!['on', 'off'].includes(env.MEX_DUCHIES)) {
      problems.push(`MEX_DUCHIES must be on or off, not ${env.MEX_DUCHIES}.`);
    }
  }
  if (env.MEX_LOG_LEVEL !== undefined) config.logLevel = env.MEX_LOG_LEVEL;
  return config;
}
