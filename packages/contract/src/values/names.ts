/** Resource names: their patterns, and functions that parse and format them. */

export const PATTERNS = {
  measurementConsumer: 'measurementConsumers/{measurementConsumer}',
  dataProvider: 'dataProviders/{dataProvider}',
  duchy: 'duchies/{duchy}',
  measurement: 'measurementConsumers/{measurementConsumer}/measurements/{measurement}',
  measurementRequisition:
    'measurementConsumers/{measurementConsumer}/measurements/{measurement}/requisitions/{requisition}',
  requisition: 'dataProviders/{dataProvider}/requisitions/{requisition}',
  apiKey: 'measurementConsumers/{measurementConsumer}/apiKeys/{apiKey}',
  report: 'measurementConsumers/{measurementConsumer}/reports/{report}',
  eventGroupMetadataDescriptor:
    'dataProviders/{dataProvider}/eventGroupMetadataDescriptors/{eventGroupMetadataDescriptor}',
  measurementConsumerCertificate: 'measurementConsumers/{measurementConsumer}/certificates/{certificate}',
  dataProviderCertificate: 'dataProviders/{dataProvider}/certificates/{certificate}',
  duchyCertificate: 'duchies/{duchy}/certificates/{certificate}',
  eventGroup: 'dataProviders/{dataProvider}/eventGroups/{eventGroup}',
  measurementConsumerEventGroup: 'measurementConsumers/{measurementConsumer}/eventGroups/{eventGroup}',
  computation: 'duchies/{duchy}/computations/{computation}',
  population: 'populations/{population}',
  measurementConsumerWebhook: 'measurementConsumers/{measurementConsumer}/webhooks/{webhook}',
  dataProviderWebhook: 'dataProviders/{dataProvider}/webhooks/{webhook}',
  duchyWebhook: 'duchies/{duchy}/webhooks/{webhook}',
  principal: 'principals/{principal}',
  trustedRoot: 'trustedRoots/{trustedRoot}',
} as const;

export type PatternName = keyof typeof PATTERNS;

/** The variables in a pattern: `Vars<'a/{x}/b/{y}'>` is `'x' | 'y'`. */
export type Vars<P extends string> = P extends `${string}{${infer V}}${infer Rest}` ? V | Vars<Rest> : never;

type NameVars<K extends PatternName> = Record<Vars<(typeof PATTERNS)[K]>, string>;

/** The wildcard ID. Names may contain it, but no resource has this ID. */
export const WILDCARD = '-';
/**
 * An alias that replaces the ID in a certificate's path. It refers to the party's best certificate. The criteria, in
 * order of importance, are: the certificate is not revoked or on hold, it is valid now, and it expires last.
 */
export const PREFERRED = 'preferred';

const ID = '[A-Za-z0-9_-]{1,63}';
const WHOLE_ID = new RegExp(`^${ID}$`);

export function isId(text: string): boolean {
  return WHOLE_ID.test(text);
}

const NAMES = Object.fromEntries(
  Object.entries(PATTERNS).map(([key, pattern]) => [
    key,
    new RegExp(`^${pattern.replace(/\{(\w+)\}/g, `(?<$1>${ID})`)}$`),
  ]),
) as Record<PatternName, RegExp>;

export function isName(pattern: PatternName, text: string): boolean {
  return NAMES[pattern].test(text);
}

/** Returns the IDs in a name, or undefined if the name does not match the pattern. */
export function parseName<K extends PatternName>(pattern: K, name: string): NameVars<K> | undefined {
  return NAMES[pattern].exec(name)?.groups as NameVars<K> | undefined;
}

export function formatName<K extends PatternName>(pattern: K, vars: NameVars<K>): string {
  return fillIn(PATTERNS[pattern], vars);
}

const PARTY_KINDS = {
  measurementConsumers: 'measurementConsumer',
  dataProviders: 'dataProvider',
  duchies: 'duchy',
} as const;

/** The collections of parties. */
export type PartyCollection = keyof typeof PARTY_KINDS;
export const PARTY_COLLECTIONS = Object.keys(PARTY_KINDS) as PartyCollection[];

export interface PartyName {
  name: string;
  collection: PartyCollection;
  id: string;
  /** The query parameter that sets the ID of a new party, such as `dataProviderId`. */
  idParameter: string;
}

/** Returns the parts of a party's name, or undefined if the text is not the name of a party. */
export function parsePartyName(name: string): PartyName | undefined {
  const [collection, id = ''] = name.split('/') as [PartyCollection, string?];
  const kind = Object.hasOwn(PARTY_KINDS, collection) ? PARTY_KINDS[collection] : undefined;
  if (kind === undefined || id === WILDCARD || parseName(kind, name) === undefined) return undefined;
  return { name, collection, id, idParameter: `${kind}Id` };
}

/**
 * Splits the setting of a trusted root: the path of a certificate, or `<party>=<path>` for a root that is trusted for
 * this party only. Paths may contain `=`.
 */
export function splitRoot(setting: string): { party: string | undefined; path: string } {
  const end = setting.indexOf('=');
  const party = end < 0 ? undefined : parsePartyName(setting.slice(0, end))?.name;
  return { party, path: party === undefined ? setting : setting.slice(end + 1) };
}

/** Changes the path in the setting of a trusted root. */
export function mapRootPath(setting: string, change: (path: string) => string): string {
  const { party, path } = splitRoot(setting);
  return party === undefined ? change(path) : `${party}=${change(path)}`;
}

/** Caches the parts of each pattern: fixed text and variable names, alternating. */
const parts = new Map<string, string[]>();

export function fillIn(pattern: string, vars: Record<string, string>): string {
  let split = parts.get(pattern);
  if (split === undefined) {
    split = pattern.split(/\{(\w+)\}/);
    parts.set(pattern, split);
  }
  let filled = split[0]!;
  for (let i = 1; i < split.length; i += 2) filled += vars[split[i]!]! + split[i + 1]!;
  return filled;
}

/** Returns `data provider` for `dataProvider`. */
export function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
