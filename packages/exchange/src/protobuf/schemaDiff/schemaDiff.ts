/** Lists the changes in an updated metadata schema, and tells which changes break readers. */
import { Edition } from '@bufbuild/protobuf/wkt';
import type { SchemaChange } from '@measurement-exchange/contract';
import { ownFiles } from '../descriptor/descriptorSet.ts';
import { type FileProto, fullName } from '../descriptor/model.ts';
import { type ChangeKind, Changes, short } from './changes.ts';
import { compareEnum } from './enums.ts';
import { type Comparison, compareField } from './fields.ts';
import { compareMessage } from './messages.ts';
import { type Declared, readSchema } from './schema.ts';

export interface SetDiff {
  changes: SchemaChange[];
  /** The number of breaking changes, including those that are not listed. */
  breaking: number;
  omitted: number;
}

/**
 * Compares two descriptor sets. Ignores well-known files, declaration order, comments, and options other than
 * `packed` and `features`.
 */
export function diffDescriptorSets(before: Uint8Array, after: Uint8Array): SetDiff {
  const changes = new Changes();
  const comparison = { was: readSchema(ownFiles(before)), is: readSchema(ownFiles(after)), changes };
  compareFiles(comparison);
  const ofMessages = ['MESSAGE_REMOVED', 'MESSAGE_MOVED', 'MESSAGE_ADDED'] as const;
  compareTypes('messages', ofMessages, compareMessage, comparison);
  compareTypes('enums', ['ENUM_REMOVED', 'ENUM_MOVED', 'ENUM_ADDED'], compareEnum, comparison);
  compareExtensions(comparison);
  compareServices(comparison);
  const { list, breaking, omitted } = changes;
  return { changes: list, breaking, omitted };
}

function compareFiles({ was, is, changes }: Comparison): void {
  const language = ({ syntax, edition }: FileProto) =>
    syntax === 'editions' ? (Edition[edition!] ?? String(edition)) : syntax || 'proto2';
  for (const [name, file] of was.files) {
    const now = is.files.get(name);
    if (now) changes.differs('SYNTAX_CHANGED', name, 'syntax', language(file), language(now));
  }
}

/**
 * Compares the types that are in both sets, and reports types that were removed, moved, or added. Skips types inside a
 * message that was itself removed or added.
 */
function compareTypes(
  which: 'messages' | 'enums',
  [removed, moved, added]: readonly [ChangeKind, ChangeKind, ChangeKind],
  compare: (name: string, comparison: Comparison) => void,
  comparison: Comparison,
): void {
  const { was, is, changes } = comparison;
  const before: ReadonlyMap<string, Declared> = was[which];
  const after: ReadonlyMap<string, Declared> = is[which];
  for (const [name, { file, parent }] of before) {
    const now = after.get(name);
    if (now !== undefined) {
      if (parent === '') changes.differs(moved, name, 'file', file, now.file);
      compare(name, comparison);
    } else if (parent === '' || is.messages.has(parent)) {
      changes.add(removed, name, `was removed${newName(name, file, after, comparison)}`);
    }
  }
  for (const [name, { parent }] of after) {
    const isTold = before.has(name) || (parent !== '' && !was.messages.has(parent));
    if (!isTold) changes.add(added, name, 'was added');
  }
}

/** Returns an explanation if a type was removed because the package of its file was renamed, else an empty string. */
function newName(
  name: string,
  file: string,
  after: ReadonlyMap<string, Declared>,
  { was, is }: Comparison,
): string {
  const oldPackage = was.files.get(file)!.package ?? '';
  const newPackage = is.files.get(file)?.package ?? '';
  const renamed = fullName(newPackage, oldPackage === '' ? name : name.slice(oldPackage.length + 1));
  return after.has(renamed) ? `: the package of its file is now ${short(newPackage)}` : '';
}

function compareExtensions(comparison: Comparison): void {
  const { was, is, changes } = comparison;
  for (const [path, before] of was.extensions) {
    const after = is.extensions.get(path);
    if (after?.extendee !== before.extendee) {
      const what = `(${before.number}) no longer extends ${short(before.extendee)}`;
      changes.add('EXTENSION_REMOVED', path, what);
      continue;
    }
    if (after.number !== before.number) {
      changes.add('FIELD_RENUMBERED', path, `changed its number from ${before.number} to ${after.number}`);
    }
    compareField({ path, before, after }, comparison);
  }
  for (const [path, { number, extendee }] of is.extensions) {
    if (was.extensions.get(path)?.extendee === extendee) continue;
    changes.add('EXTENSION_ADDED', path, `(${number}) now extends ${short(extendee)}`);
  }
}

function compareServices({ was, is, changes }: Comparison): void {
  for (const [name, service] of was.services) {
    const now = is.services.get(name);
    if (now === undefined) changes.add('SERVICE_REMOVED', name, 'was removed');
    else if (JSON.stringify(service) !== JSON.stringify(now)) changes.add('SERVICE_CHANGED', name, 'changed');
  }
  for (const name of is.services.keys()) {
    if (!was.services.has(name)) changes.add('SERVICE_ADDED', name, 'was added');
  }
}
