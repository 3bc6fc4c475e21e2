/**
 * Combines command-line flags, environment variables, and the configuration file into one Config. production.ts has the
 * checks of production mode.
 */
import { networkList } from '../webhooks/destinations.ts';
import { readConfigFile } from './file.ts';
import { operatorProblems, protocolProblems } from './protocols.ts';
import { Host, Port } from './setting.ts';
import { type Config, DEFAULTS, eachSetting, settingsOf } from './settings.ts';

export type { Config } from './settings.ts';

export class ConfigError extends Error {
  readonly problems: string[];
  constructor(problems: string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

type Env = Record<string, string | undefined>;

/** Loads the configuration. `overrides` contains the command-line flags. */
export function loadConfig(env: Env, overrides: Partial<Config> = {}): Config {
  const problems: string[] = [];
  const config = {
    ...DEFAULTS,
    ...readConfigFile(nonEmpty(env, 'MEX_CONFIG', problems), problems),
    ...readEnv(env, problems),
    ...overrides,
  };
  for (const { variable, value: port } of settingsOf(Port, config)) {
    if (!Number.isInteger(port) || port < 0 || port > 65535) {
      problems.push(`${variable} must be a port number, not ${port}.`);
    }
  }
  problems.push(...operatorProblems(config.duchyOperators));
  problems.push(...protocolProblems(config.protocols), ...networkProblems(config.webhooks.deniedNetworks));
  for (const { variable, value: host } of settingsOf(Host, config)) {
    if (config.mode === 'production' || isLoopback(host)) continue;
    problems.push(
      `Development mode listens on loopback only: ${variable} ${host} is refused. Unset ${variable}.`,
    );
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

const SCHEMAS = eachSetting('schema') as Record<keyof Config, { type?: string; enum?: string[] }>;

function readEnv(env: Env, problems: string[]): Partial<Config> {
  const settings = Object.entries(eachSetting('variable')).flatMap(([name, variable = '']) => {
    const text = nonEmpty(env, variable, problems);
    return text === undefined
      ? []
      : [[name, readVariable(variable, text, SCHEMAS[name as keyof Config], problems)]];
  });
  return Object.fromEntries(settings);
}

function nonEmpty(env: Env, variable: string, problems: string[]): string | undefined {
  if (env[variable] !== '') return env[variable];
  problems.push(`${variable} is empty: give it a value, or unset it.`);
  return undefined;
}

function readVariable(
  variable: string,
  text: string,
  { type, enum: words = type === 'boolean' ? ['on', 'off'] : undefined }: { type?: string; enum?: string[] },
  problems: string[],
): unknown {
  if (words && !words.includes(text))
    problems.push(`${variable} must be ${words.join(' or ')}, not ${text}.`);
  if (type === 'boolean') return text !== 'off';
  return type === 'number' && /^\d+$/.test(text) ? Number(text) : text;
}
