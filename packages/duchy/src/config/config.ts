/**
 * Reads a duchy's settings from `duchy.json`. Error messages never include the value of a setting, because it may be a
 * secret.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  decode,
  type JsonValue,
  MPC_NOISE_MECHANISMS,
  mapRootPath,
  parseJsonBytes,
  type Violation,
} from '@measurement-exchange/contract';
import {
  array,
  boolean,
  enumOf,
  integer,
  mapOf,
  number,
  object,
  partial,
  type Static,
  text,
} from '@measurement-exchange/contract/schema';
import { SignIn } from '@measurement-exchange/server/signIn';

/**
 * Thrown if the settings are invalid, or if a file or database that they name is unusable. Each line of the message
 * describes one problem.
 */
export class DuchyConfigError extends Error {
  constructor(problems: string[]) {
    super(problems.join('\n'));
    this.name = 'DuchyConfigError';
  }
}

const string = () => text(64 * 1024, 1);
const tls = object({ certFile: string(), keyFile: string() });
const listen = object(
  partial({
    host: string(),
    /** Port 0 means any free port. */
    port: integer(0, 65_535),
    tls,
    /** True if a proxy in front of the duchy terminates TLS. */
    behindTlsProxy: boolean(),
    /**
     * CIDR ranges of proxies whose X-Forwarded-For header is trusted. In production, this setting is required if
     * `behindTlsProxy` is true. It is also required if the duchy listens on a loopback address, because such a duchy is
     * usually behind a proxy. An empty array states that there is no proxy, and is not allowed with `behindTlsProxy`.
     */
    trustedProxies: array(string()),
  }),
);
const limits = {
  /**
   * How many uploads may be received at the same time, in total and per party. The same limits apply to messages, which
   * are counted separately.
   */
  uploads: integer(1, 1_000),
  uploadsPerParty: integer(1, 1_000),
  /** The time limit for receiving a whole request. */
  uploadSeconds: integer(1, 86_400),
  /** The maximum size of a message from another duchy. */
  maxDataBytes: integer(1, 2 ** 33),
  /**
   * The maximum number of rejected requests per address and minute. When an address reaches this number, the duchy
   * rejects every request from the address until the minute ends.
   */
  rejectedPerMinute: integer(1, 1_000_000),
};
/**
 * Settings for another duchy. Messages to that duchy go to `endpoint` instead of the address that the exchange
 * provides.
 */
const peer = object({ endpoint: string() });
const SCHEMA = object(
  partial({
    mode: enumOf(['development', 'production']),
    url: string(),
    /** A file containing the bearer token for the exchange. It is reread on every call, so the token can be rotated. */
    tokenFile: string(),
    /** The OpenID issuer from which the duchy gets its tokens, instead of reading a token from `tokenFile`. */
    signIn: SignIn,
    /** The folder with this duchy's keys and certificates, which `mex identity` created. */
    identity: string(),
    /**
     * Root certificates of the other parties. An entry is a folder with files such as `dataProviders/streamly.pem`, or
     * a party and its file, such as `dataProviders/streamly=streamly.pem`.
     */
    roots: array(string()),
    /** The address at which providers and other duchies reach this duchy. The exchange tells them this address. */
    endpoint: string(),
    peers: mapOf('duchy', peer),
    listen,
    /** The address of the health and metrics endpoints, for operators only. Port 0 means any free port. */
    operations: object(partial({ host: string(), port: integer(0, 65_535) })),
    /** The database URL. By default, the duchy runs its own PostgreSQL in the data directory. */
    databaseUrl: string(),
    dataDir: string(),
    /**
     * A file with a base64-encoded 32-byte key that encrypts stored data. Every process of the duchy needs this file.
     */
    secretsKeyFile: string(),
    mills: object(partial({ count: integer(1, 64), leaseSeconds: integer(3, 3_600) })),
    /** The interval between polls of the exchange while its change feed is unavailable. */
    pollSeconds: number({ exclusiveMinimum: 0 }),
    /** How long to keep uploads and messages of ended computations, so that operators can examine them. */
    keepBlobsForHours: integer(0, 24 * 365),
    /** How long to keep all other data of ended computations. */
    keepComputationsForDays: integer(1, 3_650),
    noiseMechanisms: array(enumOf(MPC_NOISE_MECHANISMS), { minItems: 1 }),
    limits: object(partial(limits)),
    logLevel: enumOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  }),
);

export type DuchyConfig = ReturnType<typeof withDefaults>;
export type Listen = DuchyConfig['listen'];
export type FaceLimits = DuchyConfig['limits'];
export type PeerSettings = Static<typeof peer>;

/**
 * Reads the settings from a file. Returns the valid settings, the defaults of all others, and a list of problems with
 * the invalid settings. Throws if the file cannot be read or is not JSON.
 */
export function readDuchyConfig(path: string): Examined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new DuchyConfigError([
      `${path} cannot be read (${(error as NodeJS.ErrnoException).code}): mex duchy init makes it.`,
    ]);
  }
  return examineDuchyConfig(valueIn(path, bytes), dirname(resolve(path)));
}

export interface Examined {
  config: DuchyConfig;
  /**
   * Each problem starts with the path of a setting, such as `listen.port`. A problem with the file as a whole starts
   * with "The file".
   */
  problems: string[];
  /**
   * The names of the top-level settings that are invalid: if `listen.port` is invalid, this set contains `listen`. For
   * these settings, `config` has the default values.
   */
  invalid: Set<string>;
}

/**
 * Checks the settings. Returns the problems with invalid settings, and replaces these settings with their defaults.
 * Paths are relative to `folder`.
 */
export function examineDuchyConfig(value: JsonValue, folder: string): Examined {
  const violations: Violation[] = [];
  const file = decode(SCHEMA, value, violations);
  const problems = violations.map(({ field, description }) => `${field || 'The file'} ${description}.`);
  const invalid = new Set(violations.map(({ field }) => /^[^.[]*/.exec(field)![0]));
  const valid = Object.entries(value ?? {}).filter(([name]) => !invalid.has(name));
  const usable = file ?? decode(SCHEMA, Object.fromEntries(valid), []) ?? {};
  return { config: withDefaults(usable, folder), problems, invalid };
}

export function duchyConfig(value: JsonValue, folder: string): DuchyConfig {
  const { config, problems } = examineDuchyConfig(value, folder);
  if (problems.length > 0) throw new DuchyConfigError(problems);
  return config;
}

function withDefaults(file: Static<typeof SCHEMA>, folder: string) {
  const from = (given: string) => resolve(folder, given);
  const optionally = (given: string | undefined) => given && from(given);
  const dataDir = from(file.dataDir ?? '.duchy');
  const { tls } = file.listen ?? {};
  return {
    mode: file.mode ?? 'production',
    url: file.url,
    tokenFile: optionally(file.tokenFile),
    signIn: file.signIn && { ...file.signIn, clientSecretFile: from(file.signIn.clientSecretFile) },
    identity: optionally(file.identity),
    roots: (file.roots ?? []).map((root) => mapRootPath(root, from)),
    endpoint: file.endpoint,
    peers: file.peers,
    listen: {
      host: file.listen?.host ?? '127.0.0.1',
      port: file.listen?.port ?? 8090,
      tls: tls && { certFile: from(tls.certFile), keyFile: from(tls.keyFile) },
      behindTlsProxy: file.listen?.behindTlsProxy ?? false,
      trustedProxies: file.listen?.trustedProxies,
    },
    operations: { host: '127.0.0.1', port: 0, ...file.operations },
    databaseUrl: file.databaseUrl,
    dataDir,
    secretsKeyFile: optionally(file.secretsKeyFile) ?? join(dataDir, 'secrets.key'),
    mills: { count: 1, leaseSeconds: 60, ...file.mills },
    pollSeconds: file.pollSeconds ?? 1,
    keepBlobsForHours: file.keepBlobsForHours ?? 0,
    keepComputationsForDays: file.keepComputationsForDays ?? 30,
    noiseMechanisms: file.noiseMechanisms ?? ['DISCRETE_GAUSSIAN', 'GEOMETRIC'],
    limits: {
      ...{ uploads: 32, uploadsPerParty: 4, uploadSeconds: 600 },
      ...{ maxDataBytes: 2 ** 31, rejectedPerMinute: 600 },
      ...file.limits,
    },
    logLevel: file.logLevel ?? 'info',
  };
}

function valueIn(path: string, bytes: Buffer): JsonValue {
  try {
    return parseJsonBytes(bytes);
  } catch (error) {
    throw new DuchyConfigError([`${path} is not JSON. ${(error as Error).message}`]);
  }
}
