import { messageRanges } from '../descriptor/ranges.ts';
import { type Changes, short } from './changes.ts';
import { type Comparison, compareField, type FieldPair } from './fields.ts';
import { compareRanges, compareReserved } from './reserved.ts';
import type { Field, Message } from './schema.ts';

export function compareMessage(path: string, comparison: Comparison): void {
  const { was, is, changes } = comparison;
  const [before, after] = [was.messages.get(path)!, is.messages.get(path)!];
  const pairs = pairFields(path, before, after, changes);
  for (const pair of pairs) compareField(pair, comparison);
  compareOneofs(path, before, after, pairs, changes);
  compareReserved(path, before.proto, after.proto, changes);
  const ranges = [before.proto.extensionRange, after.proto.extensionRange] as const;
  compareRanges('EXTENSION_RANGE_REMOVED', path, 'no longer takes extensions numbered', ...ranges, changes);
}

/**
 * Pairs each old field with the new field of the same name. If no new field has this name, the old field is paired with
 * the new field of the same number and counts as renamed. However, a new field whose name also existed before is never
 * paired by number.
 */
function pairFields(path: string, before: Message, after: Message, changes: Changes): FieldPair[] {
  const was = index(before.fields);
  const is = index(after.fields);
  const ranges = messageRanges(after.proto);
  const pairs: FieldPair[] = [];
  const paired = new Set<Field>();
  for (const field of before.fields) {
    const at = `${path}.${field.name}`;
    const successor = is.byNumber.get(field.number);
    const same = is.byName.get(field.name);
    const renamed = successor && !was.byName.has(successor.name) ? successor : undefined;
    const now = same ?? renamed;
    if (now === undefined) {
      const isReserved = ranges.kindOf(field.number) === 'reserved';
      const fate = successor
        ? `, and its number given to ${short(successor.name)}`
        : isReserved
          ? ''
          : ', and its number not reserved';
      changes.add('FIELD_REMOVED', at, `(${field.number}) was removed${fate}`);
      continue;
    }
    if (now.number !== field.number) {
      changes.add('FIELD_RENUMBERED', at, `changed its number from ${field.number} to ${now.number}`);
    } else if (now.name !== field.name) {
      changes.add('FIELD_RENAMED', at, `(${field.number}) is now called ${short(now.name)}`);
    } else {
      changes.differs('JSON_NAME_CHANGED', at, 'JSON name', field.jsonName, now.jsonName);
    }
    paired.add(now);
    pairs.push({ path: at, before: field, after: now });
  }
  for (const field of after.fields) {
    if (paired.has(field)) continue;
    const kind = field.presence === 'required' ? 'REQUIRED_FIELD_ADDED' : 'FIELD_ADDED';
    changes.add(kind, `${path}.${field.name}`, `(${field.number}) was added`);
  }
  return pairs;
}

function index(fields: Field[]) {
  return {
    byName: new Map(fields.map((field) => [field.name, field])),
    byNumber: new Map(fields.map((field) => [field.number, field])),
  };
}

function compareOneofs(
  path: string,
  before: Message,
  after: Message,
  pairs: FieldPair[],
  changes: Changes,
): void {
  const renamed = renamedOneofs(before, after, pairs);
  for (const [name, now] of renamed) {
    changes.add('ONEOF_RENAMED', `${path}.${name}`, `is now called ${short(now)}`);
  }
  for (const { path: at, before: field, after: now } of pairs) {
    const was = field.oneof && (renamed.get(field.oneof) ?? field.oneof);
    if (was === now.oneof) continue;
    if (was) changes.add('FIELD_MOVED_OUT_OF_ONEOF', at, `left the oneof ${short(field.oneof!)}`);
    if (now.oneof) changes.add('FIELD_MOVED_INTO_ONEOF', at, `is now in the oneof ${short(now.oneof)}`);
  }
}

/**
 * Finds renamed oneofs. A oneof counts as renamed if its name was removed and all its remaining fields are in the same
 * new oneof.
 */
function renamedOneofs(before: Message, after: Message, pairs: FieldPair[]): Map<string, string> {
  const [was, is] = [before, after].map(({ fields }) => new Set(fields.map(({ oneof }) => oneof)));
  const renamed = new Map<string, string>();
  const split = new Set<string>();
  for (const { before: field, after: now } of pairs) {
    if (field.oneof === undefined || is!.has(field.oneof)) continue;
    const isNew = now.oneof !== undefined && !was!.has(now.oneof);
    const agrees = isNew && (renamed.get(field.oneof) ?? now.oneof) === now.oneof;
    if (agrees) renamed.set(field.oneof, now.oneof!);
    else split.add(field.oneof);
  }
  for (const name of split) renamed.delete(name);
  return renamed;
}
