/** The groups of operations in the document: one for each collection that a path ends in. */
import type { Route } from '../routes/route.ts';
import type { Routes } from '../routes.ts';

/** A row with a new collection does not compile until it is described here. */
type CollectionOf<Path extends string> = Path extends `${string}/{${string}}/${infer Rest}`
  ? CollectionOf<Rest>
  : Path extends `${infer Collection}/{${string}}`
    ? Collection
    : Path;

export const TAGS: Record<CollectionOf<Routes['path']>, { name: string; description: string }> = {
  measurements: {
    name: 'Measurements',
    description: 'What a measurement consumer asks of one or more data providers, and the encrypted results.',
  },
  requisitions: {
    name: 'Requisitions',
    description: 'The part of a measurement that one data provider fulfills or refuses.',
  },
  computations: {
    name: 'Computations',
    description: 'What a duchy sees of a measurement that it computes together with others.',
  },
  changes: {
    name: 'Changes',
    description: 'What changed for a party, in order and without a gap: to follow instead of polling.',
  },
  eventGroupMetadataDescriptors: {
    name: 'Event group metadata descriptors',
    description: 'Protobuf schemas in which data providers describe the metadata of their event groups.',
  },
  certificates: {
    name: 'Certificates',
    description: 'X.509 certificates with which the parties check each other’s signatures.',
  },
  eventGroups: {
    name: 'Event groups',
    description: 'Groups of events that a data provider describes to a measurement consumer.',
  },
  measurementConsumers: { name: 'Measurement consumers', description: 'Parties that ask for measurements.' },
  dataProviders: { name: 'Data providers', description: 'Parties that hold event data.' },
  duchies: { name: 'Duchies', description: 'Parties that compute across data providers.' },
  populations: {
    name: 'Populations',
    description: 'The virtual people that measurements can count across data providers.',
  },
  webhooks: {
    name: 'Webhooks',
    description:
      'Endpoints to which the exchange sends what changes for a party, signed as Standard Webhooks say.',
  },
  deliveries: {
    name: 'Webhook deliveries',
    description: 'What was sent to a webhook, how that went, and when it is tried again.',
  },
  principals: {
    name: 'Principals',
    description: 'Which subject of which token issuer speaks for which party, or for the operator.',
  },
  trustedRoots: {
    name: 'Trusted roots',
    description: 'Root certificates against which the exchange checks those of the parties.',
  },
  auditEntries: { name: 'Audit', description: 'Every mutation outside the transition log.' },
  whoami: { name: 'Caller', description: 'Who the exchange takes the caller for.' },
};

export function tagOf({ path }: Route): string {
  const collection = path
    .split('/')
    .filter((_, i) => i % 2 === 0)
    .at(-1)!;
  return TAGS[collection as keyof typeof TAGS].name;
}
