/** The settings of a duchy, `duchy.json`. A problem names the setting and never quotes its value, which may be a secret. */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  decode,
  type JsonValue,
  MPC_NOISE_MECHANISMS,
  type MpcNoiseMechanism,
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
  type TSchema,
  text,
} from '@measurement-exchange/contract/schema';

/** Paths are absolute. */
export interface DuchyConfig {
  mode: 'development' | 'production';
  /** The exchange. */
  url: string | undefined;
  /** A file with the bearer token for the exchange, read again for every call, so that it may be renewed. */
  tokenFile: string | undefined;
  /** The folder that `mex identity` made. */
  identity: string | undefined;
  /** Files of roots, each for one party: `dataProviders/streamly=streamly.pem`. */
  roots: string[];
  /** The address at which providers and the other duchies reach this one, as the exchange tells them. */
  endpoint: string | undefined;
  /** Settings of other duchies, as their operators told them, by name. */
  peers: Record<string, PeerSettings> | undefined;
  listen: Listen;
  /** The address of health and metrics, for the operators of the duchy only; port 0: any free port. */
  operations: { host: string; port: number };
  /** Absent: an embedded PostgreSQL in the data directory. */
  databaseUrl: string | undefined;
  dataDir: string;
  /** A file with 32 bytes in base64 that seal stored data. All processes of the duchy need it; keep it out of the database. */
  secretsKeyFile: string;
  mills: { count: number; leaseSeconds: number };
  /** Between two polls of the exchange while its changes cannot be followed. */
  pollSeconds: number;
  /** Keeps uploads and messages of computations that ended, so that operators can examine them. */
  keepBlobsForHours: number;
  /** Keeps all other data of computations that ended. */
  keepComputationsForDays: number;
  /** The noise that this duchy accepts in computations. */
  noiseMechanisms: MpcNoiseMechanism[];
  limits: FaceLimits;
  logLevel: string;
}

export interface PeerSettings {
  /** The address to which messages are sent, whatever the exchange says. */
  endpoint: string;
}

export interface Listen {
  host: string;
  /** 0: any free port. */
  port: number;
  tls: { certFile: string; keyFile: string } | undefined;
  /** A proxy in front terminates TLS. */
  behindTlsProxy: boolean;
  /** Proxies whose X-Forwarded-For is believed, as CIDRs; in production, [] says that no proxy is in front. */
  trustedProxies: string[] | undefined;
}

export interface FaceLimits {
  /** Bodies that are received at the same time, in all and of one party. */
  uploads: number;
  uploadsPerParty: number;
  /** The time in which a whole request must arrive. */
  uploadSeconds: number;
  /** The largest message of another duchy. */
  maxDataBytes: number;
  /** After so many rejected requests, those of the same address are ignored for the rest of the minute. */
  rejectedPerMinute: number;
}

/** Settings are wrong; each line says how to correct one. */
export class DuchyConfigError extends Error {
  constructor(problems: string[]) {
    super(problems.join('\n'));
    this.name = 'DuchyConfigError';
  }
}

const string = () => text(64 * 1024, 1);
const listen: { [K in keyof Listen]: TSchema } = {
  host: string(),
  port: integer(0, 65_535),
  tls: object({ certFile: string(), keyFile: string() }),
  behindTlsProxy: boolean(),
  trustedProxies: array(string()),
};
const limits: { [K in keyof FaceLimits]: TSchema } = {
  uploads: integer(1, 1_000),
  uploadsPerParty: integer(1, 1_000),
  uploadSeconds: integer(1, 86_400),
  maxDataBytes: integer(1, 2 ** 33),
  rejectedPerMinute: integer(1, 1_000_000),
};
const settings: { [K in keyof DuchyConfig]: TSchema } = {
  mode: enumOf(['development', 'production']),
  url: string(),
  tokenFile: string(),
  identity: string(),
  roots: array(string()),
  endpoint: string(),
  peers: mapOf('duchy', object({ endpoint: string() })),
  listen: object(partial(listen)),
  operations: object(partial({ host: string(), port: integer(0, 65_535) })),
  databaseUrl: string(),
  dataDir: string(),
  secretsKeyFile: string(),
  mills: object(partial({ count: integer(1, 64), leaseSeconds: integer(3, 3_600) })),
  pollSeconds: number({ exclusiveMinimum: 0 }),
  keepBlobsForHours: integer(0, 24 * 365),
  keepComputationsForDays: integer(1, 3_650),
  noiseMechanisms: array(enumOf(MPC_NOISE_MECHANISMS), { minItems: 1 }),
  limits: object(partial(limits)),
  logLevel: enumOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
};
const SCHEMA = object(partial(settings));

const LIMITS: FaceLimits = {
  uploads: 32,
  uploadsPerParty: 4,
  uploadSeconds: 600,
  maxDataBytes: 2 ** 31,
  rejectedPerMinute: 600,
};

/** Reads the settings in the file, and fills in defaults. */
export function readDuchyConfig(path: string): DuchyConfig {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new DuchyConfigError([`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`]);
  }
  return duchyConfig(valueIn(path, bytes), dirname(resolve(path)), path);
}

/** Paths are relative to `folder`; `where` is for messages. */
export function duchyConfig(value: JsonValue, folder: string, where = 'the settings'): DuchyConfig {
  const violations: Violation[] = [];
  const file = decode(SCHEMA, value, violations) as Partial<DuchyConfig> | undefined;
  if (file === undefined) {
    throw new DuchyConfigError(violations.map((v) => `${where}: ${v.field || 'it'} ${v.description}.`));
  }
  const from = (given: string) => resolve(folder, given);
  const optionally = (given: string | undefined) => given && from(given);
  const dataDir = from(file.dataDir ?? '.duchy');
  const { tls } = file.listen ?? {};
  return {
    mode: file.mode ?? 'production',
    url: file.url,
    tokenFile: optionally(file.tokenFile),
    identity: optionally(file.identity),
    roots: (file.roots ?? []).map((root) => root.replace(/[^=]+$/, from)),
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
    limits: { ...LIMITS, ...file.limits },
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
