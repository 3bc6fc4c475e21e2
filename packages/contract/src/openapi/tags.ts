/** The document's tags. Each tag groups the operations whose paths have the same last collection. */
import type { Route } from '../routes/route.ts';
import type { Routes } from '../routes.ts';
import { wordsOf } from '../values/names.ts';

type CollectionOf<Path extends string> = Path extends `${string}/{${string}}/${infer Rest}`
  ? CollectionOf<Rest>
  : Path extends `${infer Collection}/{${string}}`
    ? Collection
    : Path;
type Collection = CollectionOf<Routes['path']>;

/**
 * Descriptions of all collections. A route with a new collection does not compile until the collection is described
 * here.
 */
const DESCRIPTIONS: Record<Collection, string> = {
  measurements: 'What a measurement consumer asks of one or more data providers, and the encrypted results.',
  requisitions: 'The part of a measurement that one data provider fulfills or refuses.',
  reports:
    'One question of a measurement consumer that several measurements answer; the exchange cannot read sealed parts.',
  computations: 'What a duchy sees of a measurement that it computes together with others.',
  changes: 'What changed for a party, in order and without a gap: to follow instead of polling.',
  eventGroupMetadataDescriptors:
    'Protobuf schemas in which data providers describe the metadata of their event groups.',
  certificates: 'X.509 certificates with which the parties check each other’s signatures.',
  eventGroups: 'Groups of events that a data provider describes to a measurement consumer.',
  measurementConsumers: 'Parties that ask for measurements.',
  dataProviders: 'Parties that hold event data.',
  duchies: 'Parties that compute across data providers.',
  populations: 'The virtual people that measurements can count across data providers.',
  apiKeys: 'Keys with which programs of a measurement consumer call by gRPC.',
  webhooks:
    'Endpoints to which the exchange sends what changes for a party, signed as Standard Webhooks say.',
  deliveries: 'What was sent to a webhook, how that went, and when it is tried again.',
  principals: 'Which subject of which token issuer speaks for which party, or for the operator.',
  trustedRoots: 'Root certificates against which the exchange checks those of the parties.',
  partyHealth: 'How the parties do, for the operator: times and counts only.',
  doctor: 'What `mex doctor` checks, run by the exchange itself.',
  exchangeStatus: 'Replicas, migrations and counts, for the operator.',
  auditEntries: 'Every mutation outside the transition log.',
  whoami: 'Who the exchange takes the caller for.',
};

const NAMES: { [C in Collection]?: string } = {
  apiKeys: 'API keys',
  deliveries: 'Webhook deliveries',
  auditEntries: 'Audit',
  whoami: 'Caller',
};

export const TAGS = Object.entries(DESCRIPTIONS).map(([collection, description]) => ({
  name: nameOf(collection),
  description,
}));

export function tagOf({ path }: Route): string {
  const collection = path
    .split('/')
    .filter((_, i) => i % 2 === 0)
    .at(-1)!;
  return nameOf(collection);
}

function nameOf(collection: string): string {
  const words = wordsOf(collection);
  return NAMES[collection as Collection] ?? words[0]!.toUpperCase() + words.slice(1);
}
