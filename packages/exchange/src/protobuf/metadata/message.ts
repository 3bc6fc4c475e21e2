/** Checks a decoded message: the wire format allows values that its type forbids or that JSON cannot express. */
import { type DescField, fromBinary, toJson } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import type { Any } from '@bufbuild/protobuf/wkt';
import { join, REQUIRED, readWire } from '@measurement-exchange/contract';
import type { Report } from '../descriptor/model.ts';
import { ANY, hasOwnForm } from './json.ts';
import { findAnyType, isRequired, type MetadataSchema } from './schema.ts';

export function checkMessage(schema: MetadataSchema, message: ReflectMessage, report: Report): void {
  new MessageWalk(schema, report).message(message, '', 0);
}

/** Anys have a separate limit, since the depth of messages starts again at 1 in each Any. */
const MAX_NESTED_ANY = 8;

class MessageWalk {
  private readonly schema: MetadataSchema;
  private readonly report: Report;
  private messages = 0;

  constructor(schema: MetadataSchema, report: Report) {
    this.schema = schema;
    this.report = report;
  }

  message(message: ReflectMessage, path: string, anys: number): void {
    if (this.report.full) return;
    const { maxMessages } = this.schema.limits;
    if (++this.messages === maxMessages) this.report.add(path, '', `has more than ${maxMessages} messages`);
    if (this.messages >= maxMessages) return;
    if (message.desc.typeName === ANY) this.any(message.message as Any, path, anys);
    else if (hasOwnForm(message.desc)) this.printable(message, path);
    else for (const field of message.fields) this.field(message, field, path, anys);
  }

  private field(message: ReflectMessage, field: DescField, path: string, anys: number): void {
    if (!message.isSet(field)) {
      if (isRequired(field)) this.report.add(path, field.jsonName, REQUIRED);
      return;
    }
    // Only messages and closed enums need a check.
    if (!field.message && !(field.enum && this.schema.isClosed(field.enum))) return;
    const at = join(path, field.jsonName);
    if (field.fieldKind === 'list') {
      for (const [i, item] of message.get(field).entries()) this.value(field, item, `${at}[${i}]`, anys);
    } else if (field.fieldKind === 'map') {
      for (const [key, item] of message.get(field)) this.value(field, item, `${at}[${key}]`, anys);
    } else {
      this.value(field, message.get(field), at, anys);
    }
  }

  private value(field: DescField, value: unknown, at: string, anys: number): void {
    if (field.message) this.message(value as ReflectMessage, at, anys);
    // A lookup instead of a search, since a hostile enum may list thousands of values.
    else if (!Object.hasOwn(field.enum!.value, value as number)) {
      this.report.add(at, '', `${value} is not a value of ${field.enum!.typeName}`);
    }
  }

  private any({ typeUrl, value }: Any, at: string, anys: number): void {
    if (typeUrl === '' && value.length === 0) return;
    const type = findAnyType(this.schema, typeUrl);
    if (type === undefined) {
      this.report.add(at, '@type', 'names a type that is not known here');
    } else if (anys >= MAX_NESTED_ANY) {
      this.report.add(at, '', `is an Any within ${MAX_NESTED_ANY} others`);
    } else {
      const wire = readWire(type, value, this.schema.limits);
      if ('reason' in wire) this.report.add(at, wire.field, wire.reason);
      else this.message(reflect(type, fromBinary(type, value)), at, anys + 1);
    }
  }

  private printable({ desc, message }: ReflectMessage, at: string): void {
    try {
      toJson(desc, message);
    } catch {
      // For example, a timestamp in the year 10000, a Value without a kind, or a Value with NaN.
      this.report.add(at, '', `is a ${desc.typeName} that JSON has no form for`);
    }
  }
}
