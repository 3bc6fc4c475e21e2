/** `mex descriptors`: manages the schemas of event group metadata. */
import { type EventGroupMetadataDescriptor, type JsonValue, toBase64 } from '@measurement-exchange/contract';
import type { Command } from 'commander';
import * as calls from '../calls/caller.ts';
import { type CallOptions, given, group, remote, showResource } from '../calls/command.ts';
import { readBytes, readJson } from '../files/input.ts';
import { inFull } from '../files/names.ts';
import { Failed, paint, print, printFacts, printJson, visible } from '../terminal/output.ts';

const COLLECTION = 'eventGroupMetadataDescriptors';
const SET = 'a FileDescriptorSet: buf build -o schema.binpb, or protoc --include_imports -o schema.binpb';

export function descriptorsCommand(): Command {
  return group('descriptors', 'schemas of event group metadata: list, get, create, update, diff, decode', [
    list(),
    calls.ownCommand(
      'get <descriptor>',
      'show its message types and their fields',
      COLLECTION,
      async ({ client, name }, options) =>
        showResource(options, await client.getEventGroupMetadataDescriptor({ name }), describe),
    ),
    create(),
    update(),
    diff(),
    decode(),
  ]);
}

function list(): Command {
  return calls
    .listCommand('list', 'list your schemas; as a consumer those of all providers')
    .option('--provider <provider>', 'only those of this one')
    .action(async (options: calls.ListOptions & { provider?: string }) => {
      const { client, principal } = await calls.callerOf(options);
      const everybody = calls.isOf('measurementConsumers', principal) ? 'dataProviders/-' : principal;
      const parent = options.provider === undefined ? everybody : inFull('dataProviders')(options.provider);
      const listing = client.listEventGroupMetadataDescriptors({ parent, ...calls.pageSizeOf(options) });
      await calls.showPages(options, listing.pages(), (page) => page.eventGroupMetadataDescriptors, {
        headings: ['NAME', 'FILES', 'MESSAGES'],
        row: (d) => [
          d.name,
          String(filesOf(d).length),
          typesOf(d)
            .map((type) => type.name)
            .join(', '),
        ],
        none: `${parent} has no schema: a provider registers one with mex descriptors create.`,
      });
    });
}

interface WriteOptions extends CallOptions {
  requestId?: string;
  validateOnly?: boolean;
}

const VALIDATE_ONLY = [
  '--validate-only',
  'only print the findings of the exchange; register nothing',
] as const;

function create(): Command {
  return remote('create <file>', 'register a schema: a FileDescriptorSet, binary or JSON')
    .option(
      '--request-id <id>',
      'makes repeating it find the one it made (advice: the type URL of the message)',
    )
    .option(...VALIDATE_ONLY)
    .addHelpText('after', `\nThe file is ${SET}.`)
    .action(async (file: string, options: WriteOptions) => {
      const descriptorSet = await readSet(file);
      const caller = await calls.callerOf(options);
      calls.requireKind('dataProviders', caller, 'mex descriptors create');
      const created = await caller.client.createEventGroupMetadataDescriptor({
        parent: caller.principal,
        body: { descriptorSet },
        ...given({ requestId: options.requestId, validateOnly: options.validateOnly }),
      });
      showResource(options, created, (d) => written(d, options, 'is registered'));
    });
}

function update(): Command {
  return remote(
    'update <descriptor> <file>',
    'replace a schema; mex descriptors diff shows before what it breaks',
  )
    .option(...VALIDATE_ONLY)
    .action(async (text: string, file: string, options: WriteOptions) => {
      const descriptorSet = await readSet(file);
      const { client, principal } = await calls.callerOf(options);
      const updated = await client.updateEventGroupMetadataDescriptor({
        name: calls.nameBelow(principal, COLLECTION, text),
        body: { descriptorSet },
        ...given({ validateOnly: options.validateOnly }),
      });
      showResource(options, updated, (d) => written(d, options, 'is replaced'));
    });
}

function written(descriptor: EventGroupMetadataDescriptor, options: WriteOptions, done: string): void {
  const types = typesOf(descriptor).map(({ name }) => name);
  print(options.validateOnly ? 'Nothing was written.' : `${descriptor.name} ${done}: ${types.join(', ')}.`);
  const findings = descriptor.findings ?? [];
  if (options.validateOnly && findings.length === 0) print('The exchange finds nothing wrong with it.');
  for (const { code, message, remedy } of findings)
    print(`${code}: ${visible(message)}\n  ${visible(remedy)}`);
}

function diff(): Command {
  return remote(
    'diff <descriptor> <file>',
    'what a new schema would change, and what of it would break readers',
  )
    .addHelpText('after', '\nEnds with 0 when it breaks nothing, and with 2 when it does.')
    .action(async (text: string, file: string, options: CallOptions) => {
      const descriptorSet = await readSet(file);
      const { client, principal } = await calls.callerOf(options);
      const name = calls.nameBelow(principal, COLLECTION, text);
      const { compatible, changes } = await client.diffEventGroupMetadataDescriptor({
        name,
        body: { descriptorSet },
      });
      if (options.json) printJson({ compatible, changes });
      else {
        const width = Math.max(...changes.map(({ kind }) => kind.length));
        for (const { breaking, kind, message } of changes) {
          const mark = breaking ? paint('red', 'breaks') : paint('green', 'fine  ');
          print(`${mark}  ${kind.padEnd(width)}  ${visible(message)}`);
        }
        if (changes.length === 0) print('Nothing changes.');
      }
      if (!compatible) {
        throw new Failed(
          2,
          'It breaks readers: register it beside the old one (mex descriptors create) and move the event groups.',
        );
      }
    });
}

function decode(): Command {
  return remote('decode <descriptor> <type> <file>', 'print a serialized metadata message as JSON')
    .addHelpText(
      'after',
      `
The type is a message of the schema, the file its bytes (- for standard input).

  mex descriptors decode dataProviders/x/${COLLECTION}/y shows.Episode episode.binpb`,
    )
    .action(async (text: string, type: string, file: string, options: CallOptions) => {
      const value = await readBytes(file, 'a serialized message');
      const { client, principal } = await calls.callerOf(options);
      const typeUrl = type.includes('/') ? type : `type.googleapis.com/${type}`;
      const name = calls.nameBelow(principal, COLLECTION, text);
      const decoded = await client.decodeMetadata({ name, body: { typeUrl, value } });
      printJson(options.json ? decoded : decoded.message);
    });
}

/** The first byte of every binary FileDescriptorSet: the tag of its only field. */
const FIRST_TAG = 0x0a;

/**
 * Reads a FileDescriptorSet in JSON or in binary. JSON starts with a brace. A binary set starts with FIRST_TAG and the
 * length of its first file. FIRST_TAG is also a line feed, and a length of 123 is also a brace. If a file starts with
 * these two bytes and is not valid JSON, it is therefore read as a binary set.
 */
async function readSet(file: string): Promise<JsonValue> {
  const bytes = await readBytes(file, SET);
  if (bytes.length === 0) throw new Error(`${file} is empty: give ${SET}.`);
  const beginning = bytes.toString('latin1', 0, 100);
  if (/^[ \t\r\n]*\{/.test(beginning)) {
    try {
      return await readJson(file, SET);
    } catch (error) {
      if (!beginning.startsWith('\n{')) throw error;
    }
  }
  if (bytes[0] !== FIRST_TAG) throw new Error(`${file} is not a schema: give ${SET}.`);
  return toBase64(bytes);
}

interface FileJson {
  name?: string;
  package?: string;
  messageType?: MessageJson[];
}
interface MessageJson {
  name: string;
  field?: { name: string; number: number; type: string; typeName?: string; label?: string }[];
  nestedType?: MessageJson[];
}

function filesOf({ descriptorSet }: EventGroupMetadataDescriptor): FileJson[] {
  return (descriptorSet as { file?: FileJson[] }).file ?? [];
}

/** Lists message types by full name, except protobuf's own. Each nested type follows the type that contains it. */
function typesOf(descriptor: EventGroupMetadataDescriptor): { name: string; message: MessageJson }[] {
  const below = (message: MessageJson, prefix: string): { name: string; message: MessageJson }[] => {
    const name = prefix === '' ? message.name : `${prefix}.${message.name}`;
    return [{ name, message }, ...(message.nestedType ?? []).flatMap((nested) => below(nested, name))];
  };
  return filesOf(descriptor)
    .filter(({ name }) => !name?.startsWith('google/'))
    .flatMap((file) => (file.messageType ?? []).flatMap((message) => below(message, file.package ?? '')));
}

function describe(descriptor: EventGroupMetadataDescriptor): void {
  printFacts(descriptor.name!, {
    files: filesOf(descriptor)
      .map(({ name }) => visible(name ?? ''))
      .join(', '),
  });
  for (const { name, message } of typesOf(descriptor)) {
    print(`\n${paint('bold', `message ${visible(name)}`)}`);
    for (const field of message.field ?? []) {
      const type = field.typeName?.replace(/^\./, '') ?? field.type.replace('TYPE_', '').toLowerCase();
      const many = field.label === 'LABEL_REPEATED' ? 'repeated ' : '';
      print(visible(`  ${String(field.number).padStart(3)}  ${field.name}: ${many}${type}`));
    }
  }
}
