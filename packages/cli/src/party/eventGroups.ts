/** `mex event-groups`: providers describe their events to consumers, and consumers read these descriptions. */
import { type EventGroup, MEDIA_TYPES, type MediaType } from '@measurement-exchange/contract';
import { type DescribedEventGroup, MetadataUnreadable } from '@measurement-exchange/sdk';
import { type Command, Option } from 'commander';
import * as calls from '../calls/caller.ts';
import { given, group, showResource } from '../calls/command.ts';
import { type ActingOptions, consumerOf, hasKeys, withKeys } from '../calls/keys.ts';
import { inFull } from '../files/names.ts';
import { print, printFacts, printJson, printTable, visible } from '../terminal/output.ts';
import { shortInterval, timeFacts } from '../terminal/times.ts';
import { type DecodedEventGroup, decoded, decodedPages, metadataKind } from './eventGroupMetadata.ts';
import { create, update } from './eventGroupWrites.ts';

const COLLECTION = 'eventGroups';

export function eventGroupsCommand(): Command {
  return group('event-groups', 'what can be measured: list, get, create, update, delete', [
    list(),
    get(),
    create(),
    update(),
    calls.ownCommand(
      'delete <event-group>',
      'delete it: it stays readable as DELETED, without its metadata',
      COLLECTION,
      async ({ client, name }, options) =>
        showResource(options, await client.deleteEventGroup({ name }), (g) => `${g.name} is ${g.state}.`),
    ),
  ]);
}

interface Filters extends calls.ListOptions, ActingOptions {
  decode?: boolean;
  provider?: string[];
  consumer?: string[];
  mediaType?: MediaType[];
  search?: string;
  deleted?: boolean;
}

function list(): Command {
  const command = calls.listCommand(
    'list',
    'list yours: a provider those it described, a consumer those described to it',
  );
  return withKeys(command)
    .option('--provider <provider...>', 'a consumer: only those of these')
    .option('--consumer <consumer...>', 'a provider: only those for these')
    .addOption(new Option('--media-type <type...>', 'only with one of these').choices(MEDIA_TYPES))
    .option('--search <text>', 'only where each word begins a word of the brand or campaign')
    .option('--deleted', 'also those that are deleted')
    .option('--decode', 'a consumer: decrypt and decode their metadata, with its keys')
    .action(async (options: Filters) => {
      const { client, principal } = await calls.callerOf(options);
      const filters = {
        ...given({
          'filter.dataProviders': options.provider?.map(inFull('dataProviders')),
          'filter.measurementConsumers': options.consumer?.map(inFull('measurementConsumers')),
          'filter.mediaTypes': options.mediaType,
          'filter.metadataSearchQuery': options.search,
          showDeleted: options.deleted,
        }),
        ...calls.pageSizeOf(options),
      };
      const pages = options.decode
        ? decodedPages((await consumerOf(options)).consumer.listEventGroups(filters))
        : client.listEventGroups({ parent: principal, ...filters }).pages();
      const whose = calls.isOf('dataProviders', principal) ? 'CONSUMER' : 'PROVIDER';
      await calls.showPages(options, pages, (page): DecodedEventGroup[] => page.eventGroups, {
        headings: ['NAME', whose, 'REFERENCE', 'STATE', 'MEDIA', 'AVAILABLE', 'CAMPAIGN', 'METADATA'],
        row: (g) => [
          calls.idIn(g.name!),
          calls.idIn((whose === 'PROVIDER' ? g.dataProvider : g.measurementConsumer)!),
          g.eventGroupReferenceId,
          g.state,
          g.mediaTypes?.join(', '),
          shortInterval(g.dataAvailabilityInterval),
          campaignOf(g),
          metadataKind(g),
        ],
        none: calls.isOf('dataProviders', principal)
          ? `${principal} has described none: mex event-groups create describes one to a consumer.`
          : `No provider has described one to ${principal}: ask a provider to (mex event-groups create).`,
      });
    });
}

function campaignOf({ eventGroupMetadata }: EventGroup): string | undefined {
  const { brandName, campaignName } = eventGroupMetadata?.adMetadata.campaignMetadata ?? {};
  return [brandName, campaignName].filter(Boolean).join(': ') || undefined;
}

function get(): Command {
  return withKeys(
    calls.ownCommand(
      'get <event-group>',
      'show one; a consumer with its keys also reads encrypted metadata',
      COLLECTION,
      async ({ client, principal, name }, options: ActingOptions) => {
        const described: DescribedEventGroup =
          calls.isOf('measurementConsumers', principal) && (await hasKeys(options))
            ? await decrypted(name, options)
            : { eventGroup: await client.getEventGroup({ name }) };
        showResource(options, decoded(described), () => describe(described));
      },
    ),
  ).alias('show');
}

async function decrypted(name: string, options: ActingOptions): Promise<DescribedEventGroup> {
  const { client, consumer } = await consumerOf(options);
  try {
    return await consumer.readEventGroup(name);
  } catch (error) {
    if (!(error instanceof MetadataUnreadable)) throw error;
    return { eventGroup: await client.getEventGroup({ name }), error };
  }
}

function describe({ eventGroup: g, metadata, error }: DescribedEventGroup): void {
  const readable = g.encryptedMetadata?.metadata;
  printFacts(g.name!, {
    state: g.state,
    provider: g.dataProvider,
    consumer: g.measurementConsumer,
    reference: g.eventGroupReferenceId && visible(g.eventGroupReferenceId),
    media: g.mediaTypes?.join(', '),
    available: shortInterval(g.dataAvailabilityInterval),
    campaign: campaignOf(g) && visible(campaignOf(g)!),
    metadata: error
      ? visible(`cannot be read: ${error.message} (${error.code})`)
      : metadata
        ? visible(metadata.typeUrl)
        : g.encryptedMetadata?.ciphertext && 'encrypted for the consumer',
    schema: metadata ? visible(metadata.descriptor) : readable?.eventGroupMetadataDescriptor,
    filters: filterFact(g),
    ...timeFacts(g),
  });
  if (metadata) printJson(metadata.json);
  else if (readable) printJson(readable.metadata);
  describeAttributes(g);
}

function filterFact({ attributes, state }: EventGroup): string | undefined {
  if (state === 'DELETED' || (attributes !== undefined && attributes.length > 0)) return undefined;
  return attributes === undefined ? 'the provider does not say what they can use' : 'can use no attributes';
}

function describeAttributes({ attributes = [] }: EventGroup): void {
  if (attributes.length === 0) return;
  print('\nFilters can use:');
  printTable(
    ['ATTRIBUTE', 'TYPE', 'DESCRIPTION', 'SUCH AS'],
    attributes.map(({ name, type, description, exampleValues }) => [
      ...[name, type, description, exampleValues?.join(', ')],
    ]),
  );
}
