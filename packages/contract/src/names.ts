/** Resource names: the patterns, and how a name is read and written. */

export const PATTERNS = {
  measurementConsumer: 'measurementConsumers/{measurementConsumer}',
  dataProvider: 'dataProviders/{dataProvider}',
  duchy: 'duchies/{duchy}',
  measurement: 'measurementConsumers/{measurementConsumer}/measurements/{measurement}',
  measurementRequisition:
    'measurementConsumers/{measurementConsumer}/measurements/{measurement}/requisitions/{requisition}',
  requisition: 'dataProviders/{dataProvider}/requisitions/{requisition}',
  eventGroupMetadataDescriptor:
    'dataProviders/{dataProvider}/eventGroupMetadataDescriptors/{eventGroupMetadataDescriptor}',
  measurementConsumerCertificate: 'measurementConsumers/{measurementConsumer}/certificates/{certificate}',
  dataProviderCertificate: 'dataProviders/{dataProvider}/certificates/{certificate}',
  duchyCertificate: 'duchies/{duchy}/certificates/{certificate}',
  eventGroup: 'dataProviders/{dataProvider}/eventGroups/{eventGroup}',
  measurementConsumerEventGroup: 'measurementConsumers/{measurementConsumer}/eventGroups/{eventGroup}',
  principal: 'principals/{principal}',
  trustedRoot: 'trustedRoots/{trustedRoot}',
} as const;

export type PatternName = keyof typeof PATTERNS;

/** The variables of a pattern: `Vars<'a/{x}/b/{y}'>` is `'x' | 'y'`. */
export type Vars<P extends string> = P extends `${string}{${infer V}}${infer Rest}` ? V | Vars<Rest> : never;

export type NameVars<K extends PatternName> = Record<Vars<(typeof PATTERNS)[K]>, string>;

/** The wildcard ID: it parses everywhere and belongs to nobody. */
export const WILDCARD = '-';
/** The alias in certificate paths that stands for a party's best certificate. */
export const PREFERRED = 'preferred';

const ID = /^[A-Za-z0-9_-]{1,63}$/;

export function isId(text: string): boolean {
  return ID.test(text);
}

/** Even segments are collections, odd ones are IDs: that holds for every pattern we have. */
const COLLECTIONS = Object.fromEntries(
  Object.entries(PATTERNS).map(([key, pattern]) => [key, pattern.split('/')]),
) as Record<PatternName, string[]>;

/** The IDs in a name, or undefined when it does not match the pattern. */
export function parseName<K extends PatternName>(pattern: K, name: string): NameVars<K> | undefined {
  const expected = COLLECTIONS[pattern];
  const segments = name.split('/');
  if (segments.length !== expected.length) return undefined;
  const vars: Record<string, string> = {};
  for (const [i, segment] of segments.entries()) {
    const want = expected[i]!;
    if (i % 2 === 0) {
      if (segment !== want) return undefined;
    } else {
      if (!isId(segment)) return undefined;
      vars[want.slice(1, -1)] = segment;
    }
  }
  return vars as NameVars<K>;
}

export function formatName<K extends PatternName>(pattern: K, vars: NameVars<K>): string {
  const values = vars as Record<string, string>;
  return COLLECTIONS[pattern].map((s, i) => (i % 2 === 0 ? s : values[s.slice(1, -1)])).join('/');
}
