/**
 * Parses resource names that can match several patterns. For example, each kind of party has its own pattern for
 * certificates.
 */
import { type PatternName, parseName } from '@measurement-exchange/contract';
import { malformedName } from './api.ts';

const PARTIES = ['measurementConsumer', 'dataProvider', 'duchy'] as const;
const CERTIFICATES = [
  'measurementConsumerCertificate',
  'dataProviderCertificate',
  'duchyCertificate',
] as const;
const EVENT_GROUPS = ['eventGroup', 'measurementConsumerEventGroup'] as const;
const EVENT_GROUP_PARENTS = ['dataProvider', 'measurementConsumer'] as const;

export const partyIdsIn = oneOf(PARTIES);
export const certificateIdsIn = oneOf(CERTIFICATES);
export const eventGroupIdsIn = oneOf(EVENT_GROUPS);
export const eventGroupParentIn = oneOf(EVENT_GROUP_PARENTS);

type Ids<K extends PatternName> = K extends PatternName
  ? NonNullable<ReturnType<typeof parseName<K>>>
  : never;

function oneOf<const K extends PatternName>(patterns: readonly K[]) {
  /** Returns the IDs in a name. `field` is the field of the request message that contains the name. */
  return (name: string, field = 'name'): Ids<K> => {
    for (const pattern of patterns) {
      const ids = parseName(pattern, name);
      if (ids !== undefined) return ids as Ids<K>;
    }
    throw malformedName([...patterns], name, field);
  };
}
