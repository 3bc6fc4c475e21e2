/**
 * Checks the descriptor set of an EventGroupMetadataDescriptor. A valid set links without other files (except
 * well-known files), and it converts to JSON together with the custom options that it declares.
 */
import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import {
  cut,
  isWellKnownFile,
  REQUIRED,
  readWire,
  toPlainJson,
  type Violation,
  type WireLimits,
} from '@measurement-exchange/contract';
import { resolveImports } from './imports.ts';
import { checkSetJson, inspectJson, type JsonOption, jsonText } from './json.ts';
import { linkSymbols } from './linker.ts';
import { type FileProto, fullName, Report } from './model.ts';
import { type OptionSchema, optionSchemaOf } from './options.ts';
import { declareSymbols } from './symbols.ts';
import { checkChains } from './typeChains.ts';

export const MAX_SET_BYTES = 1024 * 1024;
const MAX_SET_FILES = 256;

/**
 * `maxMessages` limits the messages that a set encodes: its files, fields, options, and so on. In an ordinary set, a
 * message takes at least 8 bytes on average. A malicious set could contain many more messages, because an empty message
 * takes only 2 bytes. `maxDepth` is just below the protobuf runtime's limit of 100 levels.
 */
const LIMITS: WireLimits = { maxMessages: MAX_SET_BYTES / 8, maxDepth: 99 };

/**
 * The maximum size of a set as JSON, in bytes. A list page has the same limit. JSON needs its own limit, because an
 * enum value that takes one byte in an option may have a long name in JSON.
 */
const MAX_SET_JSON = 8 * 1024 * 1024;

export interface DescriptorSet {
  /** The request's bytes, or the serialized set if the request contained JSON. */
  bytes: Uint8Array;
  files: number;
  /** The full names of the top-level messages, except those in google/protobuf and google/type. */
  messageTypes: string[];
  /** Messages without a package. Their names may collide with messages of other providers. */
  messagesWithoutPackage: string[];
  json: string;
}

export type DescriptorSetResult = DescriptorSet | { violations: Violation[] };

/**
 * Reads and checks a descriptor set. Field paths in violations are relative to the set. The empty path means the set
 * itself.
 */
export function readDescriptorSet(input: { json: unknown } | { bytes: Uint8Array }): DescriptorSetResult {
  return Report.of((report) =>
    'bytes' in input ? printed(link(input.bytes, report), report) : fromPlainJson(input.json, report),
  );
}

/**
 * Converts a set to JSON. Returns undefined if the set cannot be converted. Only an earlier version of the exchange
 * accepted such sets.
 */
export function printDescriptorSet(bytes: Uint8Array): string | undefined {
  try {
    return jsonText(
      print(bytes, optionSchemaOf(fromBinary(FileDescriptorSetSchema, bytes).file)),
      MAX_SET_JSON,
    );
  } catch {
    // Some sets cannot be converted. For example, a long chain of message types overflows the protobuf runtime's stack.
    return undefined;
  }
}

/** Returns the set's files, except those in google/protobuf and google/type. */
export function ownFiles(bytes: Uint8Array): FileProto[] {
  const wire = readWire(FileDescriptorSetSchema, bytes, LIMITS);
  if ('reason' in wire) throw new Error(`${wire.field} ${wire.reason}`);
  const { file = [] } = wire.message as { file?: FileProto[] };
  return withoutWellKnown(file);
}

export function messageTypesOf(bytes: Uint8Array): string[] {
  return ownFiles(bytes).flatMap(messageNames);
}

function print(bytes: Uint8Array, options: OptionSchema | undefined): unknown {
  if (options === undefined)
    return toJson(FileDescriptorSetSchema, fromBinary(FileDescriptorSetSchema, bytes));
  const { schema, registry } = options;
  return toJson(schema, fromBinary(schema, bytes), { registry });
}

type Linked = { set: Omit<DescriptorSet, 'json'>; options: OptionSchema | undefined };

function fromPlainJson(given: unknown, report: Report): DescriptorSet {
  const { exceeds, exact } = inspectJson(given, LIMITS);
  if (given === undefined || given === null) report.reject('', '', REQUIRED);
  if (exceeds) report.reject('', '', 'has too many elements, or nests them too deep');
  const json = (exact ? toPlainJson(given as never) : given) as JsonValue;
  const customOptions = checkSetJson(json, report);
  report.requireNone();

  // The set declares the schema of its own custom options. So read the set without options first, and then read the
  // options with this schema.
  const hasOptions = customOptions.length > 0;
  const linked = link(encode(json, { schema: FileDescriptorSetSchema }, hasOptions, report), report);
  if (!hasOptions) return printed(linked, report);
  const bytes = encodeOptions(json, customOptions, linked.options, report);
  return printed({ ...linked, set: { ...linked.set, bytes } }, report);
}

function encodeOptions(
  json: JsonValue,
  customOptions: JsonOption[],
  options: OptionSchema | undefined,
  report: Report,
): Uint8Array {
  for (const { path, member, extendee, name } of customOptions) {
    if (options?.optionsOf.get(extendee)?.has(name)) continue;
    report.add(path, member, `is not an option that the set declares for ${extendee}`);
  }
  report.requireNone();
  return requireSize(encode(json, options!, false, report), report);
}

function encode(
  json: JsonValue,
  { schema, registry }: Pick<OptionSchema, 'schema'> & Partial<OptionSchema>,
  ignoreUnknownFields: boolean,
  report: Report,
): Uint8Array {
  try {
    return toBinary(schema, fromJson(schema, json, { ignoreUnknownFields, ...(registry && { registry }) }));
  } catch (error) {
    // Keep only the first part of the message, such as "cannot decode field … from JSON". The rest contains the invalid
    // value.
    const [reason = ''] = error instanceof Error ? error.message.split(': ') : [];
    return report.reject('', '', cut(reason, 300));
  }
}

function requireSize(bytes: Uint8Array, report: Report): Uint8Array {
  return bytes.length > MAX_SET_BYTES
    ? report.reject('', '', `is larger than ${MAX_SET_BYTES} bytes`)
    : bytes;
}

function wireOf(schema: DescMessage, bytes: Uint8Array, report: Report): unknown {
  const wire = readWire(schema, bytes, LIMITS);
  return 'reason' in wire ? report.reject(wire.field, '', wire.reason) : wire.message;
}

function link(bytes: Uint8Array, report: Report): Linked {
  requireSize(bytes, report);
  const { file: protos = [] } = wireOf(FileDescriptorSetSchema, bytes, report) as { file?: FileProto[] };
  if (protos.length === 0) report.reject('', 'file', REQUIRED);
  if (protos.length > MAX_SET_FILES) report.reject('', 'file', `has more than ${MAX_SET_FILES} files`);

  const files = resolveImports(protos, report);
  const symbols = declareSymbols(files, report);
  linkSymbols(files, symbols, report);
  report.requireNone();
  checkChains(symbols, report);

  const own = withoutWellKnown(protos);
  const set = {
    bytes,
    files: protos.length,
    messageTypes: own.flatMap(messageNames),
    messagesWithoutPackage: own.filter((file) => !file.package).flatMap(messageNames),
  };
  // A set without extensions has no custom options, so the protobuf runtime does not have to read it.
  if (symbols.extensions.length === 0) return { set, options: undefined };
  try {
    return { set, options: optionSchemaOf(fromBinary(FileDescriptorSetSchema, bytes).file) };
  } catch {
    // Linking may fail, because the set may contain its own version of a well-known file, without types that other
    // well-known files use.
    return report.reject('', '', 'declares extensions that do not link with its well-known files');
  }
}

function withoutWellKnown(files: FileProto[]): FileProto[] {
  return files.filter(({ name }) => !isWellKnownFile(name!));
}

function messageNames(file: FileProto): string[] {
  return (file.messageType ?? []).map(({ name }) => fullName(file.package ?? '', name!));
}

function printed({ set, options }: Linked, report: Report): DescriptorSet {
  if (options) wireOf(options.schema, set.bytes, report);
  let json: string | undefined;
  try {
    json = jsonText(print(set.bytes, options), MAX_SET_JSON);
  } catch {
    // The conversion may fail. For example, an Any in an option may contain a type that the set does not declare.
    report.reject('', '', 'has a custom option that cannot be written as JSON');
  }
  if (json === undefined) report.reject('', '', `takes more than ${MAX_SET_JSON} bytes as JSON`);
  return { ...set, json };
}
