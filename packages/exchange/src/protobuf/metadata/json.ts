/**
 * Checks a message in JSON before the protobuf runtime reads it, because the runtime stops at the first error and
 * reports no path.
 */
import { type DescEnum, type DescField, type DescMessage, fromJson } from '@bufbuild/protobuf';
import {
  JsonDecimal,
  type JsonObject,
  type JsonValue,
  join,
  parseTimestamp,
  REQUIRED,
} from '@measurement-exchange/contract';
import { isObject } from '../descriptor/json.ts';
import { cached, quote, type Report } from '../descriptor/model.ts';
import { Fault, readMapKey, readScalar } from './scalars.ts';
import { findAnyType, isRequired, type MetadataSchema } from './schema.ts';

export const ANY = 'google.protobuf.Any';
const WRAPPER = /^google\.protobuf\.(?:Double|Float|U?Int(?:64|32)|Bool|String|Bytes)Value$/;
const SPECIAL = /^google\.protobuf\.(?:Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/;
const DURATION = /^-?\d{1,12}(?:\.\d{1,9})?s$/;

/** Returns whether proto3 JSON has a special form for the type. A Timestamp, for example, is a string. */
export function hasOwnForm({ typeName }: DescMessage): boolean {
  return typeName === ANY || SPECIAL.test(typeName) || WRAPPER.test(typeName);
}

/** Checks a message, and returns JSON that the runtime can read. Violations use the field names of the request. */
export function readMessageJson(
  schema: MetadataSchema,
  type: DescMessage,
  json: JsonObject,
  report: Report,
): object {
  return new JsonReader(schema, report).fields(type, json, '');
}

class JsonReader {
  private readonly schema: MetadataSchema;
  private readonly report: Report;
  private readonly shapes = new Map<DescMessage, Shape>();
  private readonly enums = new Map<DescEnum, Map<string | number, number>>();

  constructor(schema: MetadataSchema, report: Report) {
    this.schema = schema;
    this.report = report;
  }

  fields(type: DescMessage, json: JsonObject, path: string): Record<string, unknown> {
    const { members, required } = this.shapeOf(type);
    const result: Record<string, unknown> = {};
    const given = new Map<DescField | DescField['oneof'], string>();
    for (const [key, value] of Object.entries(json)) {
      if (this.report.full) return result;
      const at = join(path, key);
      const field = members.get(key);
      if (field === undefined) {
        this.report.add(at, '', 'is not a known field');
        continue;
      }
      if (given.has(field)) this.report.add(at, '', `is given twice, as ${given.get(field)} and as ${key}`);
      given.set(field, key);
      if (value === null && !takesNull(field)) continue;
      if (field.oneof) {
        const other = given.get(field.oneof);
        if (other !== undefined) this.report.add(at, '', `excludes ${other}: only one of them can be set`);
        given.set(field.oneof, key);
      }
      result[field.jsonName] = this.field(field, value, at);
    }
    for (const field of required) {
      if (result[field.jsonName] === undefined) this.report.add(path, field.jsonName, REQUIRED);
    }
    return result;
  }

  private field(field: DescField, json: JsonValue, at: string): unknown {
    if (field.fieldKind === 'list') return this.list(field, json, at);
    if (field.fieldKind === 'map') return this.map(field, json, at);
    return this.value(field, json, () => at);
  }

  private list(field: DescField, json: JsonValue, at: string): unknown {
    if (!Array.isArray(json)) return this.fault(at, 'must be an array');
    return json.map((item, i) => this.report.full || this.value(field, item, () => `${at}[${i}]`));
  }

  private map(field: DescField & { fieldKind: 'map' }, json: JsonValue, at: string): unknown {
    if (!isObject(json)) return this.fault(at, 'must be an object');
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(json)) {
      if (this.report.full) break;
      const here = () => `${at}[${key}]`;
      const read = readMapKey(field.mapKey, key);
      if (read instanceof Fault) this.fault(here(), `the key ${read.message}`);
      else if (Object.hasOwn(result, String(read))) this.fault(here(), 'is the key of another entry too');
      else result[String(read)] = this.value(field, item, here);
    }
    return result;
  }

  /**
   * Reads a singular field, a list item, or a map value. `at` returns the path's text, and is called only if the text
   * is needed.
   */
  private value(field: DescField, json: JsonValue, at: () => string): unknown {
    if (json === null && !takesNull(field)) return this.fault(at(), 'must not be null');
    if (field.message) return this.message(field.message, json, at());
    const read = field.enum ? this.enum(field.enum, json) : readScalar(field.scalar!, json);
    return read instanceof Fault ? this.fault(at(), read.message) : read;
  }

  private enum(type: DescEnum, json: JsonValue): number | Fault {
    const pairs = () =>
      type.values.flatMap((v) => [v.name, v.jsonName, v.number].map((key) => [key, v.number] as const));
    const values = cached(this.enums, type, () => new Map(pairs()));
    // Replace null with 0, which is the number of NullValue's only value.
    const known = json === null ? 0 : values.get(json as string | number);
    const isNumber = typeof json === 'number' && json === (json | 0);
    if (known !== undefined) return known;
    if (isNumber && !this.schema.isClosed(type)) return json;
    const shown = typeof json === 'string' ? quote(json) : isNumber ? json : 'this';
    return new Fault(`${shown} is not a value of ${type.typeName}`);
  }

  private message(type: DescMessage, json: JsonValue, at: string): unknown {
    if (type.typeName === ANY) return this.any(json, at);
    if (WRAPPER.test(type.typeName)) {
      const read = readScalar(type.fields[0]!.scalar!, json);
      return read instanceof Fault ? this.fault(at, read.message) : read;
    }
    if (SPECIAL.test(type.typeName)) return this.special(type, json, at);
    return isObject(json) ? this.fields(type, json, at) : this.fault(at, 'must be an object');
  }

  private any(json: JsonValue, at: string): unknown {
    if (!isObject(json)) return this.fault(at, 'must be an object');
    const { '@type': typeUrl, ...fields } = json;
    if (typeUrl === undefined && Object.keys(fields).length === 0) return {};
    const type = typeof typeUrl === 'string' ? findAnyType(this.schema, typeUrl) : undefined;
    if (type === undefined) {
      return this.fault(`${at}.@type`, typeUrl === undefined ? REQUIRED : 'is not a known type');
    }
    if (!hasOwnForm(type)) return { '@type': typeUrl, ...this.fields(type, fields, at) };
    const { value, ...others } = fields;
    for (const key of Object.keys(others)) this.fault(join(at, key), 'is not a known field');
    if (value === undefined) return this.fault(`${at}.value`, REQUIRED);
    return { '@type': typeUrl, value: this.message(type, value, `${at}.value`) };
  }

  /**
   * Checks a value of a type with a special JSON form. Also rejects values that the runtime would wrongly accept, such
   * as February 30, or text after the `s` of a duration.
   */
  private special(type: DescMessage, json: JsonValue, at: string): unknown {
    const plain = plainValue(json);
    const isWrong =
      (type.name === 'Timestamp' && (typeof json !== 'string' || parseTimestamp(json) === undefined)) ||
      (type.name === 'Duration' && (typeof json !== 'string' || !DURATION.test(json)));
    try {
      if (!isWrong) {
        fromJson(type, plain as never);
        return plain;
      }
    } catch {
      // The runtime itself rejects some values, such as a duration of a million years. Report them below.
    }
    return this.fault(at, `is not the JSON of a ${type.typeName}`);
  }

  private fault(at: string, description: string): undefined {
    this.report.add(at, '', description);
  }

  private shapeOf(type: DescMessage): Shape {
    return cached(this.shapes, type, () => {
      const names = type.fields.map((field) => [this.schema.nameOf(field), field] as const);
      return {
        members: new Map([...names, ...type.fields.map((field) => [field.jsonName, field] as const)]),
        required: type.fields.filter(isRequired),
      };
    });
  }
}

interface Shape {
  /** The fields of the message. Each field is listed under both names that proto3 JSON allows. */
  members: Map<string, DescField>;
  required: DescField[];
}

/**
 * Returns whether null is a valid value of the field's type. For all other types, a null field counts as absent, and a
 * null list item or map value is rejected.
 */
function takesNull({ message, enum: type }: DescField): boolean {
  return message?.typeName === 'google.protobuf.Value' || type?.typeName === 'google.protobuf.NullValue';
}

/** Converts JSON to plain JavaScript. Numbers become doubles. */
function plainValue(json: JsonValue): unknown {
  if (typeof json === 'bigint') return Number(json);
  if (json instanceof JsonDecimal) return Number(json.text);
  if (Array.isArray(json)) return json.map(plainValue);
  if (!isObject(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, plainValue(value)]));
}
