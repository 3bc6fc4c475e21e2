/** Checks a decoded message. The wire format allows values that the type forbids or that JSON cannot represent. */
import { type DescField, fromBinary, toJson } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import type { Any } from '@bufbuild/protobuf/wkt';
import { join, REQUIRED, readWire } from '@measurement-exchange/contract';
import type { Report } from '../descriptor/model.ts';
import { ANY, hasOwnForm } from './json.ts';
import { findAnyType, isRequired, type MetadataSchema } from './schema.ts';

/**
 * The maximum depth of Anys in other Anys. Anys need their own limit, because the depth of messages is counted anew in
 * each Any.
 */
const MAX_NESTED_ANY = 8;

export function checkMessage(schema: MetadataSchema, root: ReflectMessage, report: Report): void {
  let messages = 0;

  function visit(message: ReflectMessage, path: string, anys: number): void {
    if (report.full) return;
    const { maxMessages } = schema.limits;
    messages++;
    if (messages === maxMessages + 1) report.add(path, '', `has more than ${maxMessages} messages`);
    if (messages > maxMessages) return;
    if (message.desc.typeName === ANY) checkAny(message.message as Any, path, anys);
    else if (hasOwnForm(message.desc)) requirePrintable(message, path);
    else for (const field of message.fields) checkField(message, field, path, anys);
  }

  function checkField(message: ReflectMessage, field: DescField, path: string, anys: number): void {
    if (!message.isSet(field)) {
      if (isRequired(field)) report.add(path, field.jsonName, REQUIRED);
      return;
    }
    if (!field.message && !(field.enum && schema.isClosed(field.enum))) return;
    const at = join(path, field.jsonName);
    if (field.fieldKind === 'list') {
      for (const [i, item] of message.get(field).entries()) checkValue(field, item, `${at}[${i}]`, anys);
    } else if (field.fieldKind === 'map') {
      for (const [key, item] of message.get(field)) checkValue(field, item, `${at}[${key}]`, anys);
    } else {
      checkValue(field, message.get(field), at, anys);
    }
  }

  function checkValue(field: DescField, value: unknown, at: string, anys: number): void {
    if (field.message) visit(value as ReflectMessage, at, anys);
    // Use a lookup instead of a search, because a malicious enum may list thousands of values.
    else if (!Object.hasOwn(field.enum!.value, value as number)) {
      report.add(at, '', `${value} is not a value of ${field.enum!.typeName}`);
    }
  }

  function checkAny({ typeUrl, value }: Any, at: string, anys: number): void {
    if (typeUrl === '' && value.length === 0) return;
    const type = findAnyType(schema, typeUrl);
    if (type === undefined) {
      report.add(at, '@type', 'is not a known type');
    } else if (anys >= MAX_NESTED_ANY) {
      report.add(at, '', `is an Any within ${MAX_NESTED_ANY} others`);
    } else {
      const wire = readWire(type, value, schema.limits);
      if ('reason' in wire) report.add(at, wire.field, wire.reason);
      else visit(reflect(type, fromBinary(type, value)), at, anys + 1);
    }
  }

  function requirePrintable({ desc, message }: ReflectMessage, at: string): void {
    try {
      toJson(desc, message);
    } catch {
      // Some valid messages have no JSON form: for example, a timestamp in the year 10000, or a Value that is empty or
      // NaN. Report them as violations.
      report.add(at, '', `is a ${desc.typeName} that JSON has no form for`);
    }
  }

  visit(root, '', 0);
}
