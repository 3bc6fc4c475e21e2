/** The groups of operations in the document: one for each collection that a path ends in. */
import type { Route } from '../routes/route.ts';
import type { Routes } from '../routes.ts';

type CollectionOf<Path extends string> = Path extends `${string}/{${string}}/${infer Rest}`
  ? CollectionOf<Rest>
  : Path extends `${infer Collection}/{${string}}`
    ? Collection
    : Path;

const tag = (name: string, description: string) => ({ name, description });

/** A row with a new collection does not compile until it is described here. */
export const TAGS: Record<CollectionOf<Routes['path']>, ReturnType<typeof tag>> = {
  measurements: tag(
    'Measurements',
    'What a measurement consumer asks of one or more data providers, and the encrypted results.',
  ),
  requisitions: tag('Requisitions', 'The part of a measurement that one data provider fulfills or refuses.'),
  computations: tag(
    'Computations',
    'What a duchy sees of a measurement that it computes together with others.',
  ),
  changes: tag(
    'Changes',
    'What changed for a party, in order and without a gap: to follow instead of polling.',
  ),
  eventGroupMetadataDescriptors: tag(
    'Event group metadata descriptors',
    'Protobuf schemas in which data providers describe the metadata of their event groups.',
  ),
  certificates: tag(
    'Certificates',
    'X.509 certificates with which the parties check each other’s signatures.',
  ),
  eventGroups: tag(
    'Event groups',
    'Groups of events that a data provider describes to a measurement consumer.',
  ),
  measurementConsumers: tag('Measurement consumers', 'Parties that ask for measurements.'),
  dataProviders: tag('Data providers', 'Parties that hold event data.'),
  duchies: tag('Duchies', 'Parties that compute across data providers.'),
  populations: tag('Populations', 'The virtual people that measurements can count across data providers.'),
  webhooks: tag(
    'Webhooks',
    'Endpoints to which the exchange sends what changes for a party, signed as Standard Webhooks say.',
  ),
  deliveries: tag(
    'Webhook deliveries',
    'What was sent to a webhook, how that went, and when it is tried again.',
  ),
  principals: tag(
    'Principals',
    'Which subject of which token issuer speaks for which party, or for the operator.',
  ),
  trustedRoots: tag(
    'Trusted roots',
    'Root certificates against which the exchange checks those of the parties.',
  ),
  auditEntries: tag('Audit', 'Every mutation outside the transition log.'),
  whoami: tag('Caller', 'Who the exchange takes the caller for.'),
};

export function tagOf({ path }: Route): string {
  const collection = path
    .split('/')
    .filter((_, i) => i % 2 === 0)
    .at(-1)!;
  return TAGS[collection as keyof typeof TAGS].name;
}
