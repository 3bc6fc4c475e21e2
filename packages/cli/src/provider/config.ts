/** `provider.json`: the settings of `mex provider run`. */
import { dirname, resolve } from 'node:path';
import {
  ATTRIBUTE_TYPES,
  decode,
  fromBase64,
  type JsonObject,
  MPC_NOISE_MECHANISMS,
  mapRootPath,
  type Violation,
} from '@measurement-exchange/contract';
import * as s from '@measurement-exchange/contract/schema';
import { SignIn } from '@measurement-exchange/server/signIn';
import { readJsonObject } from '../files/input.ts';
import { eventContradictions, eventSettings } from './eventSettings.ts';

const text = () => s.text(64 * 1024, 1);
const texts = () => s.array(text());
const count = () => s.integer(1, Number.MAX_SAFE_INTEGER);
const amount = () => s.number({ minimum: 0 });
const above0 = () => s.number({ exclusiveMinimum: 0 });

const computation = (minDuchies: number) => ({
  duchies: s.mapOf('duchy', s.object({ rootFile: text(), endpoint: s.optional(text()) }), minDuchies),
  ...s.partial({
    noiseMechanisms: s.array(s.enumOf(MPC_NOISE_MECHANISMS)),
    folder: text(),
    allowHttp: s.boolean(),
    uploadTimeoutSeconds: above0(),
  }),
});
export type ComputationConfig = s.Static<s.TObject<ReturnType<typeof computation>>>;

const reference = {
  measurementConsumers: s.array(s.nameOf('measurementConsumer'), { minItems: 1 }),
  eventGroups: s.optional(s.array(s.nameOf('eventGroup'), { minItems: 1 })),
  served: s.optional(s.boolean()),
};

/** The contents of provider.json. Paths are relative to the folder that contains provider.json. */
const ProviderConfig = s.object(
  s.partial({
    /** The exchange's address. Defaults to MEX_URL, and then to the address in the chosen profile. */
    url: text(),
    /** Path of a file containing the bearer token. The file is reread on every call, so the token can be rotated. */
    tokenFile: text(),
    /**
     * How the agent gets its tokens from an OpenID issuer, instead of `tokenFile`. If neither is set, the token comes
     * from the environment, or from the chosen profile.
     */
    signIn: SignIn,
    /** The folder created by `mex identity`. */
    identity: text(),
    /** Folders of earlier identities, whose encryption keys decrypt data that was encrypted before the keys changed. */
    earlierIdentities: texts(),
    /**
     * Files with the consumers' roots, in PEM or DER. If an entry starts with the name of a party, as in
     * `measurementConsumers/acme=acme.pem`, the root is trusted for that party only.
     */
    roots: texts(),
    /** The file that stores the spent budget and the responses. */
    ledger: text(),
    /**
     * The privacy budget that all consumers together are allowed to spend on the events of one reference and one UTC
     * day.
     */
    budget: s.object({ epsilon: amount(), delta: amount(), rho: amount() }),
    events: s.object(eventSettings),
    /**
     * The consumers that are allowed to ask about each reference. Each key is a reference: a value in the `eventGroup`
     * column of the events.
     */
    references: s.recordOf(s.object(reference)),
    /** Describes the attributes to consumers. The descriptions must not contain values copied from the events. */
    attributes: s.recordOf(
      s.object(
        s.partial({
          /**
           * The type of the attribute. CSV values are converted to this type, and values in other files and in tables
           * must already have it.
           */
          type: s.enumOf(ATTRIBUTE_TYPES),
          description: s.text(500),
          exampleValues: s.array(s.text(100), { maxItems: 20 }),
        }),
      ),
    ),
    /** A JSON file with the virtual population. */
    population: text(),
    /**
     * The noise mechanism. Defaults to DISCRETE_GAUSSIAN if the consumer allows a delta above 0, and otherwise to
     * GEOMETRIC.
     */
    noise: s.enumOf(['DISCRETE_GAUSSIAN', 'GEOMETRIC']),
    /** The maximum number of impressions to count per person. The consumer's maximum applies if it is lower. */
    maximumFrequencyPerUser: count(),
    /** The agent refuses requisitions with a lower epsilon than this. Defaults to 0.0001. */
    minimumEpsilon: amount(),
    /**
     * The maximum number of hours that the agent waits for late events after the end of a requested interval. Defaults
     * to 168. The agent waits only if an event group's data availability interval ends earlier than the requested
     * interval ends.
     */
    graceHours: amount(),
    /** The multi-party protocols that the provider accepts. The agent registers them with the exchange. */
    protocols: s.object(
      s.partial({
        /**
         * `populations` lists the fingerprints of the accepted populations. Each is in base64, or in hexadecimal as in
         * `mex populations show`.
         */
        honestMajorityShareShuffle: s.object({
          ...computation(3),
          populations: s.array(text(), { minItems: 1 }),
        }),
        liquidLegions: s.object({
          ...computation(2),
          protocols: s.optional(s.array(s.enumOf(['reachOnlyLiquidLegionsV2', 'liquidLegionsV2']))),
        }),
      }),
    ),
    concurrency: count(),
    pollSeconds: above0(),
    /** The address of the health and metrics endpoints, for operators only. Port 0 means any free port. */
    operations: s.object(s.partial({ host: text(), port: s.integer(0, 65_535) })),
  }),
);
export type ProviderConfig = s.Static<typeof ProviderConfig>;

export async function readProviderConfig(path: string): Promise<ProviderConfig> {
  const file = await readJsonObject(path, 'the settings of a provider in JSON');
  const violations: Violation[] = [];
  const config = decode(ProviderConfig, withFileList(file), violations);
  const problems = [
    ...violations.map(({ field, description }) => `${field} ${description}.`),
    ...(config === undefined ? [] : contradictions(config)),
  ];
  if (problems.length > 0) throw new Error(`${path}: ${problems.join('\n  ')}`);
  return withPaths(config!, (file) => resolve(dirname(path), file));
}

/** Converts a single path in `events.files` to a list with this path. */
function withFileList(file: JsonObject): JsonObject {
  const given = file.events as JsonObject | undefined;
  return typeof given?.files === 'string' ? { ...file, events: { ...given, files: [given.files] } } : file;
}

function contradictions({ references = {}, protocols, tokenFile, signIn, events }: ProviderConfig): string[] {
  const names = Object.values(references).flatMap(({ eventGroups = [] }) => eventGroups);
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  const { populations = [] } = protocols?.honestMajorityShareShuffle ?? {};
  return [
    ...(repeated === undefined
      ? []
      : [`references lists ${repeated} twice: an event group has one reference.`]),
    ...(populations.every(readFingerprint)
      ? []
      : ['populations must be fingerprints of populations, as mex populations show prints them.']),
    ...(tokenFile && signIn ? ['tokenFile and signIn are both set: keep one of them.'] : []),
    ...(events ? eventContradictions(events) : []),
  ];
}

export function readFingerprint(text: string): Uint8Array | undefined {
  const digits = text.replaceAll(':', '');
  const isHex = /^[0-9a-f]{64}$/i.test(digits);
  const bytes = isHex ? new Uint8Array(Buffer.from(digits, 'hex')) : fromBase64(text);
  return bytes?.length === 32 ? bytes : undefined;
}

const PATHS = [
  ...'tokenFile clientSecretFile identity earlierIdentities ledger files population rootFile folder'.split(
    ' ',
  ),
  ...['passwordFile', 'secretFile', 'caFile', 'file'],
];

/** Makes the paths in a value absolute. `setting` is the name of the setting that has this value. */
function withPaths<T>(value: T, absolute: (path: string) => string, setting = ''): T {
  const converted = () => {
    // The keys of this setting are attributes, which may have the name of a setting.
    if (setting === 'absent') return value;
    if (Array.isArray(value)) return value.map((each) => withPaths(each, absolute, setting));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(
        Object.entries(value).map(([key, member]) => [key, withPaths(member, absolute, key)]),
      );
    }
    if (typeof value !== 'string') return value;
    if (setting === 'roots') return mapRootPath(value, absolute);
    return PATHS.includes(setting) && !value.includes('://') ? absolute(value) : value;
  };
  return converted() as T;
}
