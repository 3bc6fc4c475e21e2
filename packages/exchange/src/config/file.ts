/** The JSON file of MEX_CONFIG. A problem names its place and never quotes a value, which may be a secret. */
import { readFileSync } from 'node:fs';
import {
  frequencySketchMembers,
  type JsonValue,
  type LiquidLegionsV2Config,
  MPC_NOISE_MECHANISMS,
  parseJsonBytes,
  type ReachOnlyLiquidLegionsV2Config,
  sketchMembers,
  type Violation,
} from '@measurement-exchange/contract';
import { decode } from '@measurement-exchange/contract/codec';
import {
  array,
  boolean,
  enumOf,
  nameOf,
  number,
  object,
  optional,
  partial,
  recordOf,
  type TSchema,
  text,
} from '@measurement-exchange/contract/schema';
import type { IssuerConfig } from '../auth/tokens.ts';
import type { Deadlines } from '../domain/deadlines.ts';
import type { ShareShuffleSetting } from '../domain/shareShuffle.ts';
import type { WebhookSetting } from '../webhooks/destinations.ts';
import { LIQUID_LEGIONS_DEFAULTS, REACH_ONLY_DEFAULTS, SHARE_SHUFFLE_DEFAULTS } from './protocols.ts';
import { type Config, DEFAULTS } from './settings.ts';

const MAX_TEXT_LENGTH = 64 * 1024;
const string = () => text(MAX_TEXT_LENGTH);
const above0 = () => number({ exclusiveMinimum: 0 });

const issuer: { [K in keyof IssuerConfig]-?: TSchema } = {
  issuer: string(),
  audience: string(),
  jwksUri: optional(string()),
  jwksFile: optional(string()),
  algorithms: optional(array(string())),
  maxTokenAgeSeconds: optional(number()),
  principalClaim: optional(string()),
};
const shareShuffle: { [K in keyof ShareShuffleSetting]: TSchema } = {
  firstWorker: nameOf('duchy'),
  secondWorker: nameOf('duchy'),
  aggregator: nameOf('duchy'),
  ...partial({
    noiseMechanism: enumOf(MPC_NOISE_MECHANISMS),
    reachRingModulus: number(),
    reachAndFrequencyRingModulus: number(),
  }),
};
const { workers, aggregator, decayRate, maxSize, ...withDefault } = sketchMembers;
const reachOnly: { [K in keyof ReachOnlyLiquidLegionsV2Config]: TSchema } = {
  ...{ workers, aggregator, decayRate, maxSize },
  ...partial(withDefault),
};
const legions: { [K in keyof LiquidLegionsV2Config]: TSchema } = {
  ...reachOnly,
  ...partial(frequencySketchMembers),
};
const deadlines: { [K in keyof Deadlines]: TSchema } = {
  parametersWithinHours: above0(),
  fulfillWithinHours: above0(),
  confirmWithinHours: above0(),
  computeWithinHours: above0(),
};
const webhooks: { [K in keyof WebhookSetting]: TSchema } = {
  deniedNetworks: array(string()),
  perSecond: above0(),
  partyPerSecond: above0(),
};
const rate = object({ perSecond: number(), burst: number() });

const settings: { [K in keyof Config]: TSchema } = {
  mode: enumOf(['development', 'production']),
  host: string(),
  port: number(),
  dataDir: string(),
  databaseUrl: string(),
  databaseOwnerUrl: string(),
  databaseAppRole: string(),
  issuers: array(object(issuer)),
  allowedPrivateHosts: array(string()),
  pageTokenKey: string(),
  secretsKey: string(),
  checks: enumOf(['advisory', 'strict']),
  protocols: object(
    partial({
      honestMajorityShareShuffle: object(shareShuffle),
      reachOnlyLiquidLegionsV2: object(reachOnly),
      liquidLegionsV2: object(legions),
    }),
  ),
  duchyOperators: recordOf(array(nameOf('dataProvider'))),
  maxOpenMeasurements: above0(),
  demoDuchies: boolean(),
  bodyLimitBytes: number(),
  rate,
  rates: recordOf(rate),
  tls: object({ certFile: string(), keyFile: string() }),
  behindTlsProxy: boolean(),
  trustedProxies: array(string()),
  corsOrigins: array(string()),
  computations: object(partial(deadlines)),
  webhooks: object(partial(webhooks)),
  changes: object({ keepDays: above0() }),
  retention: object(partial({ cancelPendingAfterDays: above0(), removeTerminalAfterDays: above0() })),
  logLevel: enumOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
};
const SCHEMA = object(partial(settings));

/** The settings in the file; nothing of a file with a problem. */
export function readConfigFile(path: string | undefined, problems: string[]): Partial<Config> {
  if (path === undefined) return {};
  const report = (problem: string) => problems.push(`MEX_CONFIG ${path}${problem}`);
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    report(` cannot be read: ${(error as Error).message}.`);
    return {};
  }
  let file: JsonValue;
  try {
    file = parseJsonBytes(bytes);
  } catch (error) {
    report(` is not JSON. ${(error as Error).message}`);
    return {};
  }
  const violations: Violation[] = nullSettings(file);
  const config = decode(SCHEMA, file, violations);
  for (const { field, description } of violations) report(`: ${field || 'it'} ${description}.`);
  return withDefaults((config ?? {}) as Partial<Config>);
}

/** What a setting of several parts leaves out. */
function withDefaults(file: Partial<Config>): Partial<Config> {
  const { computations, protocols, webhooks } = file;
  const {
    honestMajorityShareShuffle: shuffle,
    reachOnlyLiquidLegionsV2: reachOnly,
    liquidLegionsV2: legions,
  } = protocols ?? {};
  return {
    ...file,
    ...(webhooks && { webhooks: { ...DEFAULTS.webhooks, ...webhooks } }),
    ...(computations && { computations: { ...DEFAULTS.computations, ...computations } }),
    ...(protocols && {
      protocols: {
        ...(shuffle && { honestMajorityShareShuffle: { ...SHARE_SHUFFLE_DEFAULTS, ...shuffle } }),
        ...(reachOnly && { reachOnlyLiquidLegionsV2: { ...REACH_ONLY_DEFAULTS, ...reachOnly } }),
        ...(legions && { liquidLegionsV2: { ...LIQUID_LEGIONS_DEFAULTS, ...legions } }),
      },
    }),
  };
}

/** Elsewhere null means absent; here it is more likely a value that somebody forgot to fill in. */
function nullSettings(file: JsonValue): Violation[] {
  return Object.entries(file ?? {})
    .filter(([, value]) => value === null)
    .map(([field]) => ({ field, description: 'must not be null' }));
}
