/**
 * Checks a FileDescriptorSet in JSON before the protobuf runtime reads it, because the runtime's errors have no path.
 */
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { JsonDecimal, type JsonObject, type WireLimits } from '@measurement-exchange/contract';
import { cached, Path, quote, type Report } from './model.ts';

/** A custom option is a member such as `"[my.pkg.option]"` in the JSON of an options message. */
export interface JsonOption {
  path: Path | undefined;
  member: string;
  extendee: string;
  name: string;
}

export function checkSetJson(set: unknown, report: Report): JsonOption[] {
  const options: JsonOption[] = [];
  /** The fields of each message type. Each field is listed under both names that proto3 JSON allows. */
  const fieldMaps = new Map<DescMessage, Map<string, DescField>>();

  function checkMessage(schema: DescMessage, json: unknown, path: Path | undefined, member: string): void {
    if (!isObject(json)) {
      report.add(path, member, 'must be an object');
      return;
    }
    const fields = cached(
      fieldMaps,
      schema,
      () => new Map(schema.fields.flatMap((f) => [[f.jsonName, f] as const, [f.name, f] as const])),
    );
    for (const [key, value] of Object.entries(json)) {
      if (report.full) return;
      const at = member === '' ? key : `${member}.${key}`;
      const field = fields.get(key);
      if (field !== undefined) checkField(field, value, path, at);
      else if (!/^\[.*\]$/.test(key)) report.add(path, at, 'is not a known field');
      else options.push({ path, member: at, extendee: schema.typeName, name: key.slice(1, -1) });
    }
  }

  function checkField(field: DescField, value: unknown, path: Path | undefined, at: string): void {
    if (value === null) return;
    if (field.fieldKind !== 'list') {
      checkValue(field, value, path, at);
    } else if (!Array.isArray(value)) {
      report.add(path, at, 'must be an array');
    } else if (field.message) {
      for (const [i, item] of value.entries()) checkMessage(field.message, item, new Path(at, i, path), '');
    } else {
      for (const [i, item] of value.entries()) checkValue(field, item, path, `${at}[${i}]`);
    }
  }

  function checkValue(field: DescField, value: unknown, path: Path | undefined, at: string): void {
    const kinds = kindsOf(field.scalar);
    if (field.message) {
      checkMessage(field.message, value, path, at);
    } else if (!kinds.includes(typeof value)) {
      report.add(path, at, `must be a ${kinds.join(' or a ')}`);
    } else if (field.enum?.values.every(({ name, number }) => name !== value && number !== value)) {
      report.add(path, at, `${quote(String(value))} is not a value of ${field.enum.name}`);
    }
  }

  checkMessage(FileDescriptorSetSchema, set, undefined, '');
  return options;
}

/**
 * Returns the allowed JSON types. A number is also allowed as a string. For an enum, `scalar` is undefined, and the
 * value is a name or a number.
 */
function kindsOf(scalar: ScalarType | undefined): string[] {
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return ['string'];
  if (scalar === ScalarType.BOOL) return ['boolean'];
  return ['number', 'string'];
}

export function isObject(json: unknown): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json) && !(json instanceof JsonDecimal);
}

/**
 * Checks JSON before the protobuf runtime reads it. `exceeds` is true if the value has too many objects or nests too
 * deeply. `exact` is true if the value contains a bigint or a JsonDecimal, which the runtime cannot read.
 */
export function inspectJson(json: unknown, limits: WireLimits): { exceeds: boolean; exact: boolean } {
  let objects = 0;
  let exact = false;
  const visit = (value: unknown, depth: number): boolean => {
    if (typeof value === 'bigint' || value instanceof JsonDecimal) exact = true;
    else if (typeof value === 'object' && value !== null) {
      if (depth > 2 * limits.maxDepth) return true;
      if (!Array.isArray(value) && ++objects > limits.maxMessages) return true;
      for (const inner of Object.values(value)) if (visit(inner, depth + 1)) return true;
    }
    return false;
  };
  return { exceeds: visit(json, 1), exact };
}

export function jsonText(json: unknown, limit: number): string | undefined {
  if (stringsExceed(json, limit)) return undefined;
  const text = JSON.stringify(json);
  return Buffer.byteLength(text) > limit ? undefined : text;
}

/**
 * Returns whether the strings alone exceed the limit. In that case, the caller does not build the JSON text, which
 * could use up the memory.
 */
function stringsExceed(json: unknown, limit: number): boolean {
  let length = 0;
  const visit = (value: unknown): boolean => {
    if (typeof value === 'string') length += value.length;
    if (typeof value !== 'object' || value === null) return length > limit;
    if (Array.isArray(value)) return value.some(visit);
    for (const key of Object.keys(value)) {
      length += key.length;
      if (visit((value as Record<string, unknown>)[key])) return true;
    }
    return length > limit;
  };
  return visit(json);
}
