/** `provider.json`: the settings of `mex provider run`. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fromBase64, MPC_NOISE_MECHANISMS } from '@measurement-exchange/contract';
import type { NoiseMechanism } from '@measurement-exchange/sdk';
import type {
  ComputationSettings,
  EventsConfig,
  LiquidLegionsSettings,
  PrivacyAmount,
  ReferenceAccess,
  References,
} from '@measurement-exchange/sdk/provider';

/** Paths are relative to the folder of the file. */
export interface ProviderConfig {
  /** The exchange; else MEX_URL. */
  url?: string;
  /** A file with the bearer token, read again for every call, so that it may be renewed; else MEX_TOKEN. */
  tokenFile?: string;
  /** The folder that `mex identity` made. */
  identity?: string;
  /** Folders of earlier identities, whose encryption keys open what was encrypted before a renewal. */
  earlierIdentities?: string[];
  /** Files of the roots of consumers, PEM or DER; `measurementConsumers/acme=acme.pem` for that party only. */
  roots?: string[];
  /** The file of the spent budget and the responses. */
  ledger?: string;
  /** What may be spent on the events of one reference on one UTC day, by all consumers together. */
  budget?: PrivacyAmount;
  events?: Omit<EventsConfig, 'onWarning'>;
  /** Who may ask about which events, by the value that selects them in the column `eventGroup`. */
  references?: References;
  /** A JSON file with the virtual population. */
  population?: string;
  /** Default: DISCRETE_GAUSSIAN where the consumer allows a delta above 0, else GEOMETRIC. */
  noise?: NoiseMechanism;
  /** A lower cap on the impressions of one person than the consumer's. */
  maximumFrequencyPerUser?: number;
  /** The smallest epsilon that is answered; 0.0001 by default. */
  minimumEpsilon?: number;
  /** How many hours after the end of an interval events may still be recorded; 168 by default. */
  graceHours?: number;
  /** Multi-party protocols that the provider takes part in, which the agent tells the exchange. */
  protocols?: { honestMajorityShareShuffle?: ShareShuffleConfig; liquidLegions?: LiquidLegionsConfig };
  concurrency?: number;
  pollSeconds?: number;
}

/** What all protocols of duchies have in common. */
export interface ComputationConfig extends Partial<Omit<ComputationSettings, 'duchies'>> {
  /** The duchies that may take part, by resource name. */
  duchies: Record<string, { rootFile: string; endpoint?: string }>;
}

/** `protocols.honestMajorityShareShuffle` of `provider.json`. */
export interface ShareShuffleConfig extends ComputationConfig {
  /** Fingerprints of populations: in hexadecimal, as `mex populations show` prints them, or in base64, as the API does. */
  populations: string[];
}

/** `protocols.liquidLegions` of `provider.json`, for both protocols. */
export interface LiquidLegionsConfig extends ComputationConfig, Pick<LiquidLegionsSettings, 'protocols'> {}

export async function readProviderConfig(path: string): Promise<ProviderConfig> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${path} cannot be read (${error.code}).`);
  });
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not JSON: ${(error as Error).message}.`);
  }
  const problems = check(file, '');
  if (problems.length > 0) throw new Error(`${path}: ${problems.join('\n  ')}`);
  return withPaths(file as ProviderConfig, dirname(path));
}

/** The same settings with paths from where the command runs. */
function withPaths(config: ProviderConfig, folder: string): ProviderConfig {
  const from = (path: string) => resolve(folder, path);
  const rooted = (root: string) => root.replace(/[^=]+$/, from);
  const { tokenFile, identity, earlierIdentities, roots, ledger, events, population, protocols } = config;
  const { honestMajorityShareShuffle: shareShuffle, liquidLegions } = protocols ?? {};
  return {
    ...config,
    ...(tokenFile && { tokenFile: from(tokenFile) }),
    ...(identity && { identity: from(identity) }),
    ...(earlierIdentities && { earlierIdentities: earlierIdentities.map(from) }),
    ...(roots && { roots: roots.map(rooted) }),
    ...(ledger && { ledger: from(ledger) }),
    ...(events && { events: { ...events, files: [events.files].flat().map(from) } }),
    ...(population && { population: from(population) }),
    ...(protocols && {
      protocols: {
        ...(shareShuffle && { honestMajorityShareShuffle: withDuchyPaths(shareShuffle, from) }),
        ...(liquidLegions && { liquidLegions: withDuchyPaths(liquidLegions, from) }),
      },
    }),
  };
}

function withDuchyPaths<C extends ComputationConfig>(config: C, from: (path: string) => string): C {
  const { folder } = config;
  const duchies = Object.entries(config.duchies).map(([name, duchy]) => [
    name,
    { ...duchy, rootFile: from(duchy.rootFile) },
  ]);
  return { ...config, duchies: Object.fromEntries(duchies), ...(folder && { folder: from(folder) }) };
}

/** What is wrong with a value. */
type Check = (value: unknown, path: string) => string[];

const is =
  (what: string, test: (value: unknown) => boolean): Check =>
  (value, path) =>
    test(value) ? [] : [`${path} must be ${what}.`];
const isText = (value: unknown) => typeof value === 'string' && value !== '';
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text = is('a text', isText);
const texts = is('a list of texts', isTexts);
const amount = is('a number, 0 or more', (value) => typeof value === 'number' && value >= 0);
const above = is('a number above 0', (value) => typeof value === 'number' && value > 0);
const count = is('a whole number above 0', (value) => Number.isInteger(value) && (value as number) > 0);
const oneOf = (...choices: string[]) =>
  is(`one of ${choices.join(', ')}`, (value) => choices.includes(value as string));

const objectOf =
  (members: Record<string, Check>, required: string[] = []): Check =>
  (value, path) => {
    if (!isObject(value)) return [`${path || 'the file'} must be an object.`];
    const inside = path === '' ? '' : `${path}.`;
    return [
      ...required.filter((key) => !Object.hasOwn(value, key)).map((key) => `${inside}${key} is missing.`),
      ...Object.entries(value).flatMap(([key, member]) =>
        Object.hasOwn(members, key)
          ? members[key]!(member, `${inside}${key}`)
          : [`there is no setting named ${inside}${key}.`],
      ),
    ];
  };

const namesOf = (what: string, pattern: RegExp) =>
  is(
    `a list of names of ${what}`,
    (value) => isTexts(value) && value.length > 0 && value.every((name) => pattern.test(name)),
  );

const access: Record<keyof ReferenceAccess, Check> = {
  measurementConsumers: namesOf('consumers: measurementConsumers/…', /^measurementConsumers\/[^/]+$/),
  eventGroups: namesOf(
    'event groups: dataProviders/…/eventGroups/…',
    /^dataProviders\/[^/]+\/eventGroups\/[^/]+$/,
  ),
  served: is('true or false', (value) => typeof value === 'boolean'),
};
const references: Check = (value, path) => {
  if (!isObject(value)) return [`${path} must be an object, with a member for each reference.`];
  const each = objectOf(access, ['measurementConsumers']);
  const faults = Object.entries(value).flatMap(([reference, member]) => each(member, `${path}.${reference}`));
  if (faults.length > 0) return faults;
  const names = Object.values(value as References).flatMap(({ eventGroups = [] }) => eventGroups);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  return twice === undefined ? [] : [`${path} lists ${twice} twice: an event group has one reference.`];
};

const duchies =
  (least: number, inWords: string): Check =>
  (value, path) => {
    const each = objectOf({ rootFile: text, endpoint: text }, ['rootFile']);
    if (!isObject(value) || Object.keys(value).length < least) {
      return [`${path} must be an object with ${inWords} duchies or more, by name: duchies/….`];
    }
    return Object.entries(value).flatMap(([name, duchy]) =>
      /^duchies\/[^/]+$/.test(name)
        ? each(duchy, `${path}.${name}`)
        : [`${path}.${name} must be named as the duchy: duchies/….`],
    );
  };
/** Undefined where it is not one. */
export function readFingerprint(text: string): Uint8Array | undefined {
  const digits = text.replaceAll(':', '');
  const isHex = /^[0-9a-f]{64}$/i.test(digits);
  const bytes = isHex ? new Uint8Array(Buffer.from(digits, 'hex')) : fromBase64(text);
  return bytes?.length === 32 ? bytes : undefined;
}
const listOf = (names: readonly string[]) =>
  is(
    `a list of ${names.join(', ')}`,
    (value) => isTexts(value) && value.every((name) => names.includes(name)),
  );
const computation: Record<keyof Omit<ComputationConfig, 'duchies'>, Check> = {
  noiseMechanisms: listOf(MPC_NOISE_MECHANISMS),
  folder: text,
  allowHttp: is('true or false', (value) => typeof value === 'boolean'),
  uploadTimeoutSeconds: above,
};
const shareShuffle: Record<keyof ShareShuffleConfig, Check> = {
  ...computation,
  duchies: duchies(3, 'three'),
  populations: is(
    'a list of fingerprints of populations, as mex populations show prints them',
    (value) => isTexts(value) && value.length > 0 && value.every((each) => readFingerprint(each)),
  ),
};
const liquidLegions: Record<keyof LiquidLegionsConfig, Check> = {
  ...computation,
  duchies: duchies(2, 'two'),
  protocols: listOf(['reachOnlyLiquidLegionsV2', 'liquidLegionsV2']),
};

const columns: Record<keyof NonNullable<EventsConfig['columns']>, Check> = {
  vid: text,
  timestamp: text,
  timestampUnit: oneOf('s', 'ms', 'us', 'ns'),
  eventGroup: text,
  duration: text,
  attributes: texts,
};
const events: Record<keyof NonNullable<ProviderConfig['events']>, Check> = {
  files: is('a path, or a list of them', (value) => isText(value) || (isTexts(value) && value.length > 0)),
  format: oneOf('parquet', 'csv'),
  columns: objectOf(columns),
  memoryLimit: text,
  threads: count,
  maximumCombinations: count,
  timeoutSeconds: above,
};
const settings: Record<keyof ProviderConfig, Check> = {
  url: text,
  tokenFile: text,
  identity: text,
  earlierIdentities: texts,
  roots: texts,
  ledger: text,
  budget: objectOf({ epsilon: amount, delta: amount, rho: amount }, ['epsilon', 'delta', 'rho']),
  events: objectOf(events, ['files']),
  references,
  population: text,
  noise: oneOf('DISCRETE_GAUSSIAN', 'GEOMETRIC'),
  maximumFrequencyPerUser: count,
  minimumEpsilon: amount,
  graceHours: amount,
  protocols: objectOf({
    honestMajorityShareShuffle: objectOf(shareShuffle, ['duchies', 'populations']),
    liquidLegions: objectOf(liquidLegions, ['duchies']),
  }),
  concurrency: count,
  pollSeconds: above,
};
const check = objectOf(settings);
