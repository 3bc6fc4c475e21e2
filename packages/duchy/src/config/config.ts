/** The settings of a duchy, `duchy.json`. Messages about problems never include a value, which may be a secret. */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  decode,
  type JsonValue,
  MPC_NOISE_MECHANISMS,
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

/** Thrown for wrong settings. Each line says how to correct one. */
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
    /** The proxies whose X-Forwarded-For is trusted, as CIDRs. In production, [] states that there is no proxy. */
    trustedProxies: array(string()),
  }),
);
const limits = {
  /** The number of bodies that are received at the same time, in total and from one party. */
  uploads: integer(1, 1_000),
  uploadsPerParty: integer(1, 1_000),
  /** The time in which a whole request must arrive. */
  uploadSeconds: integer(1, 86_400),
  /** The largest message of another duchy. */
  maxDataBytes: integer(1, 2 ** 33),
  /** After this many rejected requests, further requests from the same address are rejected for the rest of the minute. */
  rejectedPerMinute: integer(1, 1_000_000),
};
/** Settings of another duchy, from its operator: the address for messages, which overrides that of the exchange. */
const peer = object({ endpoint: string() });
const SCHEMA = object(
  partial({
    mode: enumOf(['development', 'production']),
    /** The address of the exchange. */
    url: string(),
    /** A file with the bearer token for the exchange. It is read for every call, so that the token can be renewed. */
    tokenFile: string(),
    /** The folder that `mex identity` created. */
    identity: string(),
    /** Files with roots, each for one party: `dataProviders/streamly=streamly.pem`. */
    roots: array(string()),
    /** The address for providers and other duchies, which the exchange tells them. */
    endpoint: string(),
    peers: mapOf('duchy', peer),
    listen,
    /** The address of health and metrics, for operators only. Port 0 means any free port. */
    operations: object(partial({ host: string(), port: integer(0, 65_535) })),
    /** The address of the database. By default, the duchy runs PostgreSQL in the data directory. */
    databaseUrl: string(),
    dataDir: string(),
    /** A file with 32 bytes in base64 that encrypt stored data. All processes of the duchy need this file. */
    secretsKeyFile: string(),
    mills: object(partial({ count: integer(1, 64), leaseSeconds: integer(3, 3_600) })),
    /** The time between two polls of the exchange while its feed of changes is not available. */
    pollSeconds: number({ exclusiveMinimum: 0 }),
    /** How long uploads and messages of ended computations are kept, so that operators can examine them. */
    keepBlobsForHours: integer(0, 24 * 365),
    /** How long all other data of ended computations is kept. */
    keepComputationsForDays: integer(1, 3_650),
    /** The noise that this duchy accepts in computations. */
    noiseMechanisms: array(enumOf(MPC_NOISE_MECHANISMS), { minItems: 1 }),
    limits: object(partial(limits)),
    logLevel: enumOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  }),
);

/** The settings with defaults and absolute paths. */
export type DuchyConfig = ReturnType<typeof duchyConfig>;
export type Listen = DuchyConfig['listen'];
export type FaceLimits = DuchyConfig['limits'];
export type PeerSettings = Static<typeof peer>;

/** Reads the settings from a file, and adds defaults. */
export function readDuchyConfig(path: string): DuchyConfig {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new DuchyConfigError([`${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`]);
  }
  return duchyConfig(valueIn(path, bytes), dirname(resolve(path)), path);
}

/** Paths are relative to `folder`; messages refer to the settings as `where`. */
export function duchyConfig(value: JsonValue, folder: string, where = 'the settings') {
  const violations: Violation[] = [];
  const file = decode(SCHEMA, value, violations);
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
