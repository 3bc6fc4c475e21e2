/** `mex event-groups create` and `update`, for providers. */
import {
  ATTRIBUTE_TYPES,
  decode,
  type EventGroup,
  type EventGroupAttribute,
  EventGroupCreation,
  type EventGroupInput,
  invalid,
  isAttributeName,
  MEDIA_TYPES,
  type MediaType,
  type Violation,
} from '@measurement-exchange/contract';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Caller, callerOf, nameBelow, nextCommand, ownCommand, requireKind } from '../calls/caller.ts';
import { type CallOptions, given, remote, showResource, WHOLE_LIST } from '../calls/command.ts';
import { readJsonObject } from '../files/input.ts';
import { inFull } from '../files/names.ts';
import { paint, print, visible } from '../terminal/output.ts';
import { parseTime } from '../terminal/times.ts';

interface Described extends CallOptions {
  file?: string;
  consumer?: string;
  reference?: string;
  mediaType?: MediaType[];
  attribute?: EventGroupAttribute[];
  availableFrom?: string;
  availableUntil?: string;
  brand?: string;
  campaign?: string;
  descriptor?: string;
  metadata?: string;
  again?: boolean;
  requestId?: string;
  validateOnly?: boolean;
}

/** Adds options for an event group's fields. In an update without --file, fields without an option stay unchanged. */
function describing(command: Command): Command {
  return command
    .option('--file <file>', 'the event group as JSON, as the API has it; options below replace its fields')
    .option('--reference <text>', 'its name in your own systems')
    .addOption(new Option('--media-type <type...>', 'of its events').choices(MEDIA_TYPES))
    .option(
      '--attribute <name:type>',
      'what filters can use, such as age_group:STRING, repeated for several (descriptions and examples: --file)',
      parseAttribute,
    )
    .option('--available-from <time>', 'since when there is data', parseTime)
    .option('--available-until <time>', 'with --available-from: until when (else: open)', parseTime)
    .option('--brand <text>', 'whose brand it is about')
    .option('--campaign <text>', 'the campaign')
    .option('--descriptor <descriptor>', 'with --metadata: the schema that explains it')
    .option('--metadata <file>', 'readable metadata as JSON, with an @type that the schema defines')
    .option('--validate-only', 'only print the findings of the exchange; write nothing');
}

function parseAttribute(text: string, earlier: EventGroupAttribute[] = []): EventGroupAttribute[] {
  const [name, word = '', ...rest] = text.split(':');
  const type = ATTRIBUTE_TYPES.find((known) => known === word.toUpperCase());
  if (type !== undefined && isAttributeName(name!) && rest.length === 0)
    return [...earlier, { name: name!, type }];
  throw new InvalidArgumentError(
    `It must be a name that filters can use and a type, such as age_group:STRING; types: ${ATTRIBUTE_TYPES.join(', ')}.`,
  );
}

export function create(): Command {
  return describing(
    remote('create', 'describe a group of events to a measurement consumer').option(
      '--consumer <consumer>',
      'to whom: measurementConsumers/…',
    ),
  )
    .option('--again', 'also if the consumer already has an event group with this reference')
    .option('--request-id <id>', 'makes the command idempotent: a repetition returns the same event group')
    .action(async (options: Described) => {
      const caller = await callerOf(options);
      requireKind('dataProviders', caller, 'mex event-groups create');
      const body = await bodyOf(options, {}, caller.principal);
      // Skip the check if there is a request ID, because the exchange itself then recognizes a repeated command, and
      // returns the event group that the first request created.
      if (!options.again && options.requestId === undefined) await requireNewReference(caller, body, options);
      const created = await caller.client.createEventGroup({
        parent: caller.principal,
        body,
        ...given({ requestId: options.requestId, validateOnly: options.validateOnly }),
      });
      showResource(options, created, (g) => written(g, options, `is described to ${g.measurementConsumer}`));
    });
}

/**
 * Throws if the provider already has an event group with the same reference for the consumer. A command that is typed
 * twice should not create a second event group, because consumers measure all event groups by default.
 */
async function requireNewReference(
  { client, principal: parent }: Caller,
  { measurementConsumer: consumer, eventGroupReferenceId: reference }: EventGroupInput,
  options: CallOptions,
): Promise<void> {
  if (reference === undefined) return;
  const filter = { 'filter.measurementConsumers': [consumer] };
  for await (const group of client.listEventGroups({ parent, ...filter, ...WHOLE_LIST })) {
    const { name, eventGroupReferenceId } = group;
    if (eventGroupReferenceId !== reference) continue;
    throw new Error(
      `${name} has the reference ${JSON.stringify(reference)} for ${consumer} already. Nothing was created.\n` +
        `  To change it: ${nextCommand(options, `event-groups update ${name}`)}\n  To add another one: --again`,
    );
  }
}

export function update(): Command {
  return describing(
    ownCommand(
      'update <event-group>',
      'change it; fields without an option stay',
      'eventGroups',
      async ({ name, ...caller }, options: Described) => {
        requireKind('dataProviders', caller, 'mex event-groups update');
        const current = await caller.client.getEventGroup({ name });
        const updated = await caller.client.updateEventGroup({
          name,
          body: await bodyOf(options, current, caller.principal),
          ...given({ validateOnly: options.validateOnly }),
        });
        showResource(options, updated, (g) => written(g, options, 'is changed'));
      },
    ),
  );
}

async function bodyOf(
  options: Described,
  current: Partial<EventGroup>,
  provider: string,
): Promise<EventGroupInput> {
  const { availableFrom: startTime, availableUntil: endTime, brand, campaign, mediaType } = options;
  if (endTime !== undefined && startTime === undefined)
    throw new Error('--available-until needs --available-from.');
  if ((options.metadata === undefined) !== (options.descriptor === undefined)) {
    throw new Error(
      '--metadata and --descriptor belong together: the message, and the schema that explains it.',
    );
  }
  const base = options.file === undefined ? current : await readEventGroup(options.file);
  const earlier = base.eventGroupMetadata?.adMetadata.campaignMetadata;
  const body = {
    ...base,
    ...given({
      measurementConsumer: options.consumer && inFull('measurementConsumers')(options.consumer),
      eventGroupReferenceId: options.reference,
      mediaTypes: mediaType,
      attributes: options.attribute,
    }),
    ...(startTime && { dataAvailabilityInterval: { startTime, ...(endTime && { endTime }) } }),
    ...((brand ?? campaign) !== undefined && {
      eventGroupMetadata: {
        ...base.eventGroupMetadata,
        adMetadata: {
          campaignMetadata: {
            ...earlier,
            ...given({ brandName: brand, campaignName: campaign }),
          },
        },
      },
    }),
    ...(options.metadata !== undefined && {
      encryptedMetadata: {
        metadata: {
          eventGroupMetadataDescriptor: nameBelow(
            provider,
            'eventGroupMetadataDescriptors',
            options.descriptor!,
          ),
          metadata: await readJsonObject(options.metadata, 'the message as JSON with an @type'),
        },
      },
    }),
  };
  if (body.measurementConsumer === undefined) {
    throw new Error('To whom? --consumer measurementConsumers/…, or measurementConsumer in the --file.');
  }
  return body as EventGroupInput;
}

/** Reads an event group from a file. Ignores output-only fields, and reports all violations at once. */
async function readEventGroup(file: string): Promise<Partial<EventGroup>> {
  const json = await readJsonObject(file, 'an event group as mex event-groups get --json prints it');
  const violations: Violation[] = [];
  const read = decode(EventGroupCreation.properties.eventGroup, json, violations);
  if (read === undefined) throw invalid(violations);
  return read;
}

function written(eventGroup: EventGroup, options: Described, done: string): void {
  print(options.validateOnly ? 'Nothing was written.' : `${paint('green', eventGroup.name!)} ${done}.`);
  for (const { code, message, remedy } of eventGroup.findings ?? []) {
    print(`${code}: ${visible(message)}\n  ${visible(remedy)}`);
  }
}
