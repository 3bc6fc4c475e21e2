/**
 * Rules for the descriptor set of an EventGroupMetadataDescriptor. A set that passes links on its own, and
 * can be printed as JSON together with the custom options it defines.
 */
import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
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
 * An element usually takes 8 bytes or more; only a hostile set fills 1 MiB with empty ones. The protobuf
 * runtime reads 100 levels; 64 nested messages and the options of the innermost take about 70.
 */
const LIMITS: WireLimits = { maxMessages: MAX_SET_BYTES / 8, maxDepth: 99 };

/**
 * Bounds what is printed, too: a single byte of an option can print as a long name. The fields of a set take up to six
 * times their bytes as JSON, so that this much is a page of a list at most.
 */
const MAX_SET_JSON = 8 * 1024 * 1024;

export interface DescriptorSet {
  /** The bytes of the request, or serialized here when the set was sent as JSON. */
  bytes: Uint8Array;
  files: number;
  /** Full names of the top-level messages, except those of google/protobuf and google/type. */
  messageTypes: string[];
  /** Those of `messageTypes` without a package, whose names may collide with those of other providers. */
  messagesWithoutPackage: string[];
  /** proto3 JSON, as text. */
  json: string;
}

export type DescriptorSetResult = DescriptorSet | { violations: Violation[] };

/** Field paths in violations are relative to the set; the set itself is the empty path. */
export function readDescriptorSet(input: { json: unknown } | { bytes: Uint8Array }): DescriptorSetResult {
  const report = new Report();
  const set = 'bytes' in input ? fromBytes(input.bytes, report) : fromPlainJson(input.json, report);
  return set ?? { violations: report.violations };
}

/** proto3 JSON as text; undefined for a set of an earlier version that has none within the limits. */
export function printDescriptorSet(bytes: Uint8Array): string | undefined {
  try {
    return jsonText(
      print(bytes, optionSchemaOf(fromBinary(FileDescriptorSetSchema, bytes).file)),
      MAX_SET_JSON,
    );
  } catch {
    // Such as a chain of message types on which the protobuf runtime runs out of stack.
    return undefined;
  }
}

/** The files of an accepted set, without the well-known ones. */
export function ownFiles(bytes: Uint8Array): FileProto[] {
  const wire = readWire(FileDescriptorSetSchema, bytes, LIMITS);
  if ('reason' in wire) throw new Error(`${wire.field} ${wire.reason}`);
  const { file = [] } = wire.message as { file?: FileProto[] };
  return withoutWellKnown(file);
}

/** Full names of the top-level messages of a set that was accepted, well-known ones left out. */
export function messageTypesOf(bytes: Uint8Array): string[] {
  return ownFiles(bytes).flatMap(messageNames);
}

/** `options` is absent for a set without custom options. */
function print(bytes: Uint8Array, options: OptionSchema | undefined): unknown {
  if (options === undefined)
    return toJson(FileDescriptorSetSchema, fromBinary(FileDescriptorSetSchema, bytes));
  const { schema, registry } = options;
  return toJson(schema, fromBinary(schema, bytes), { registry });
}

interface Linked {
  set: Omit<DescriptorSet, 'json'>;
  /** Absent when the set declares no custom options. */
  options: OptionSchema | undefined;
}

function fromBytes(bytes: Uint8Array, report: Report): DescriptorSet | undefined {
  const linked = link(bytes, report);
  return linked && printed(linked, report);
}

function fromPlainJson(given: unknown, report: Report): DescriptorSet | undefined {
  const { exceeds, exact } = inspectJson(given, LIMITS);
  if (given === undefined || given === null) report.add('', '', REQUIRED);
  else if (exceeds) report.add('', '', 'has too many elements, or nests them too deep');
  if (report.violations.length > 0) return undefined;
  const json = (exact ? toPlainJson(given as never) : given) as JsonValue;
  const customOptions = checkSetJson(json, report);
  if (report.violations.length > 0) return undefined;

  // Custom options can be read only with the schema that the rest of the set declares, so that is read first.
  const hasOptions = customOptions.length > 0;
  const bytes = encode(json, { schema: FileDescriptorSetSchema }, hasOptions, report);
  const linked = bytes && link(bytes, report);
  if (!linked || !hasOptions) return linked && printed(linked, report);
  const { set, options } = linked;
  const complete = encodeOptions(json, customOptions, options, report);
  return complete && printed({ set: { ...set, bytes: complete }, options }, report);
}

function encodeOptions(
  json: JsonValue,
  customOptions: JsonOption[],
  options: OptionSchema | undefined,
  report: Report,
): Uint8Array | undefined {
  for (const { path, member, extendee, name } of customOptions) {
    if (options?.optionsOf.get(extendee)?.has(name)) continue;
    report.add(path ?? '', member, `is not an option that the set declares for ${extendee}`);
  }
  const bytes = options && report.violations.length === 0 ? encode(json, options, false, report) : undefined;
  return bytes === undefined || isTooLarge(bytes, report) ? undefined : bytes;
}

function encode(
  json: JsonValue,
  { schema, registry }: Pick<OptionSchema, 'schema'> & Partial<OptionSchema>,
  ignoreUnknownFields: boolean,
  report: Report,
): Uint8Array | undefined {
  try {
    return toBinary(schema, fromJson(schema, json, { ignoreUnknownFields, ...(registry && { registry }) }));
  } catch (error) {
    // "cannot decode field google.protobuf.FieldDescriptorProto.number from JSON", without the value read.
    const [reason = ''] = error instanceof Error ? error.message.split(': ') : [];
    report.add('', '', cut(reason, 300));
    return undefined;
  }
}

function isTooLarge(bytes: Uint8Array, report: Report): boolean {
  if (bytes.length > MAX_SET_BYTES) report.add('', '', `is larger than ${MAX_SET_BYTES} bytes`);
  return bytes.length > MAX_SET_BYTES;
}

function link(bytes: Uint8Array, report: Report): Linked | undefined {
  if (isTooLarge(bytes, report)) return undefined;
  const wire = readWire(FileDescriptorSetSchema, bytes, LIMITS);
  if ('reason' in wire) {
    report.add(wire.field, '', wire.reason);
    return undefined;
  }
  const { file: protos = [] } = wire.message as { file?: FileProto[] };
  if (protos.length === 0) report.add('', 'file', REQUIRED);
  if (protos.length > MAX_SET_FILES) report.add('', 'file', `has more than ${MAX_SET_FILES} files`);
  if (report.violations.length > 0) return undefined;

  const files = resolveImports(protos, report);
  const symbols = files && declareSymbols(files, report);
  if (symbols) linkSymbols(files, symbols, report);
  if (symbols && report.violations.length === 0) checkChains(symbols, report);
  if (!symbols || report.violations.length > 0) return undefined;

  const own = withoutWellKnown(protos);
  const set = {
    bytes,
    files: protos.length,
    messageTypes: own.flatMap(messageNames),
    messagesWithoutPackage: own.filter((file) => !file.package).flatMap(messageNames),
  };
  // Without extensions there are no custom options, and no need to have the runtime read the set as well.
  if (symbols.extensions.length === 0) return { set, options: undefined };
  try {
    return { set, options: optionSchemaOf(fromBinary(FileDescriptorSetSchema, bytes).file) };
  } catch {
    // The set may contain its own version of a well-known file, without what other well-known files import from it.
    report.add('', '', 'declares extensions that the well-known files it carries do not link with');
    return undefined;
  }
}

function withoutWellKnown(files: FileProto[]): FileProto[] {
  return files.filter(({ name }) => !isWellKnownFile(name!));
}

function messageNames(file: FileProto): string[] {
  return (file.messageType ?? []).map(({ name }) => fullName(file.package ?? '', name!));
}

/** The set with its JSON, if it has one within the limits. Custom options are read with the schema that the set declares. */
function printed({ set, options }: Linked, report: Report): DescriptorSet | undefined {
  const wire = options && readWire(options.schema, set.bytes, LIMITS);
  if (wire && 'reason' in wire) {
    report.add(wire.field, '', wire.reason);
    return undefined;
  }
  try {
    const json = jsonText(print(set.bytes, options), MAX_SET_JSON);
    if (json !== undefined) return { ...set, json };
    report.add('', '', `takes more than ${MAX_SET_JSON} bytes as JSON`);
  } catch {
    // Such as an Any of a type that the set does not declare.
    report.add('', '', 'has a custom option that cannot be written as JSON');
  }
  return undefined;
}
