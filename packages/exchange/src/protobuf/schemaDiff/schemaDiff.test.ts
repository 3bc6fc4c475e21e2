import { create, createFileRegistry, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  Edition,
  FeatureSet_FieldPresence as FieldPresence,
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  FeatureSet_MessageEncoding as MessageEncoding,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import { SchemaChange, WELL_KNOWN_FILES } from '@measurement-exchange/contract';
import { isMutationRun } from '@measurement-exchange/testkit/rounds';
import { describe, expect, it } from 'vitest';
import { asInPair, type Judged, judgeByBuf } from '../../../test/descriptors/schemaChanges/buf.ts';
import { EXPLAINED } from '../../../test/descriptors/schemaChanges/explained.ts';
import { SCHEMA_CHANGES } from '../../../test/descriptors/schemaChanges/index.ts';
import { stopwatch } from '../../compute/stopwatch.ts';
import { ownFiles, readDescriptorSet } from '../descriptor/descriptorSet.ts';
import { CHANGE_KINDS } from './changes.ts';
import { type Field, readSchema } from './schema.ts';
import { diffDescriptorSets } from './schemaDiff.ts';

type FileInit = NonNullable<MessageInitShape<typeof FileDescriptorSetSchema>['file']>[number];

const encode = (...file: FileInit[]) =>
  toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));

/**
 * The verdicts of buf for all test cases. Computing them takes half a second, so they are computed when a test first
 * needs them.
 */
let verdicts: Judged[] | undefined;
const judged = () => {
  verdicts ??= judgeByBuf(SCHEMA_CHANGES);
  return verdicts;
};

const allChanges = () => judged().flatMap(({ before, after }) => diffDescriptorSets(before, after).changes);

describe('a change of a schema', () => {
  it.each(SCHEMA_CHANGES)('has the expected kinds and breaking flag: $title', (pair) => {
    const { before, after } = judged()[SCHEMA_CHANGES.indexOf(pair)]!;
    const { changes } = diffDescriptorSets(before, after);
    for (const bytes of [before, after]) expect(readDescriptorSet({ bytes })).toHaveProperty('bytes');
    const reported = changes.map(({ kind, path }) => `${kind} ${asInPair(path)}`);
    expect(reported.sort()).toEqual(pair.changes.toSorted());
    expect(changes.some((change) => change.breaking)).toBe(pair.breaking);
  });

  it('occurs in every kind in these tests', () => {
    const kinds = new Set(allChanges().map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(Object.keys(CHANGE_KINDS).sort());
  });

  it('has a sentence as its message, which begins with the path', () => {
    for (const { path, message } of allChanges()) {
      expect(message.startsWith(`${path} `)).toBe(true);
      expect(message).toMatch(/^[^.\s]+(\.\w+)* .*\.$/);
    }
  });

  it('is not reported between a schema and itself', () => {
    for (const { before, after } of judged()) {
      expect(diffDescriptorSets(before, before).changes).toEqual([]);
      expect(diffDescriptorSets(after, after).changes).toEqual([]);
    }
  });
});

describe('buf breaking', () => {
  it('agrees on which changes are breaking, except for the explained differences', () => {
    const differing = judged().filter(({ pair, broken }) => pair.breaking !== broken.length > 0);
    expect(differing.map(({ pair }) => pair.title).sort()).toEqual(Object.keys(EXPLAINED).sort());
  });

  it('is compared on at least 40 schema pairs with unique titles', () => {
    expect(new Set(SCHEMA_CHANGES.map(({ title }) => title)).size).toBe(SCHEMA_CHANGES.length);
    expect(SCHEMA_CHANGES.length).toBeGreaterThanOrEqual(40);
  });
});

describe('inherited features of a field', () => {
  const PRESENCE = {
    [FieldPresence.EXPLICIT]: 'explicit',
    [FieldPresence.IMPLICIT]: 'implicit',
    [FieldPresence.LEGACY_REQUIRED]: 'required',
  } as Record<number, string>;

  it('match those of the protobuf runtime', () => {
    let fields = 0;
    for (const bytes of judged().flatMap(({ before, after }) => [before, after])) {
      const registry = runtimeRegistry(bytes);
      const { messages, enums } = readSchema(ownFiles(bytes));
      for (const [name, { open }] of enums) expect(open, name).toBe(registry.getEnum(name)!.open);
      for (const [name, message] of messages) {
        for (const field of message.fields) {
          const theirs = registry.getMessage(name)!.fields.find(({ number }) => number === field.number)!;
          const singular = theirs.fieldKind !== 'list' && theirs.fieldKind !== 'map';
          expect(field, `${name}.${field.name}`).toMatchObject({
            jsonName: theirs.jsonName,
            cardinality: singular ? 'singular' : theirs.fieldKind === 'map' ? 'map' : 'repeated',
            presence: singular ? PRESENCE[theirs.presence] : undefined,
            packed: theirs.fieldKind === 'list' && theirs.packed,
            delimited: 'delimitedEncoding' in theirs && theirs.delimitedEncoding === true,
            oneof: theirs.oneof?.name,
          } satisfies Partial<Record<keyof Field, unknown>>);
          fields++;
        }
      }
    }
    expect(fields).toBeGreaterThan(200);
  });
});

/** Links a set together with the well-known files that it imports, because buf leaves these files out of the set. */
function runtimeRegistry(bytes: Uint8Array) {
  const set = fromBinary(FileDescriptorSetSchema, bytes);
  const imports = new Set(set.file.flatMap(({ dependency }) => dependency));
  const wellKnown = [...imports].flatMap((name) => WELL_KNOWN_FILES.get(name)?.proto ?? []);
  const byImports = set.file.toSorted((a, b) => Number(imports.has(b.name)) - Number(imports.has(a.name)));
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [...wellKnown, ...byImports] }));
}

describe('the diff of two schemas', () => {
  /** Encodes a descriptor set whose only message has one field. `members` are members of the field's descriptor. */
  const field = (members: object) =>
    encode({
      name: 'a.proto',
      package: 'a',
      messageType: [
        { name: 'M', field: [{ name: 'total_budget', number: 1, type: Type.INT32, ...members }] },
      ],
    });

  it('ignores well-known files, even if a set omits or redefines them', () => {
    const duration = WELL_KNOWN_FILES.get('google/protobuf/duration.proto')!.proto;
    const date = { name: 'google/type/date.proto', package: 'google.type', messageType: [{ name: 'Date' }] };
    const own = { name: 'a.proto', package: 'a', messageType: [{ name: 'M' }] };
    expect(diffDescriptorSets(encode(own, duration, date), encode(own)).changes).toEqual([]);
    expect(diffDescriptorSets(encode(own), encode(own, { name: duration.name })).changes).toEqual([]);
  });

  it('ignores a JSON name that one compiler writes and another omits', () => {
    expect(diffDescriptorSets(field({}), field({ jsonName: 'totalBudget' })).changes).toEqual([]);
  });

  it('ignores the delimited message encoding for a field that is not a message', () => {
    const edition = (features: object) =>
      encode({
        name: 'a.proto',
        package: 'a',
        syntax: 'editions',
        edition: Edition.EDITION_2023,
        options: { features },
        messageType: [{ name: 'M', field: [{ name: 'f', number: 1, type: Type.INT32 }] }],
      });
    const delimited = { messageEncoding: MessageEncoding.DELIMITED };
    expect(diffDescriptorSets(edition({}), edition(delimited)).changes).toEqual([]);
  });

  it('ignores a label that one compiler writes and another omits', () => {
    expect(diffDescriptorSets(field({}), field({ label: Label.OPTIONAL })).changes).toEqual([]);
  });
});

describe('a hostile descriptor set', () => {
  it('has changes whose path and message do not exceed the length limits', () => {
    const [long, longer] = ['m', 'f'].map((letter) => letter.repeat(510)) as [string, string];
    const set = (type: Type) =>
      encode({
        name: 'a.proto',
        messageType: [{ name: long, field: [{ name: longer, number: 1, type }] }],
      });
    const [change] = diffDescriptorSets(set(Type.INT32), set(Type.STRING)).changes;
    const { path, message } = SchemaChange.properties as Record<string, { maxLength?: number }>;
    expect(change!.path.length).toBeLessThanOrEqual(path!.maxLength!);
    expect(change!.message.length).toBeLessThanOrEqual(message!.maxLength!);
    expect(change!.path.endsWith(`.${longer}`)).toBe(true);
  });

  it('may name a message like a scalar type, and a change between the two is reported', () => {
    const set = (type: object) =>
      encode({
        name: 'a.proto',
        messageType: [{ name: 'int32' }, { name: 'M', field: [{ name: 'f', number: 1, ...type }] }],
      });
    const { changes } = diffDescriptorSets(
      set({ type: Type.MESSAGE, typeName: '.int32' }),
      set({ type: Type.INT32 }),
    );
    expect(changes).toMatchObject([{ kind: 'FIELD_TYPE_CHANGED', path: 'M.f' }]);
  });

  it.skipIf(isMutationRun)('of more than 800 KB is compared in less than 5 s', () => {
    const values = Array.from({ length: 35_000 }, (_, i) => ({ name: `v${i}`, number: i }));
    const field = Array.from({ length: 15_000 }, (_, i) => ({
      name: `f${i}`,
      number: i + 1,
      type: Type.ENUM,
      typeName: '.a.E',
      defaultValue: `v${34_999 - i}`,
    }));
    const set = (value: typeof values) =>
      encode({
        name: 'a.proto',
        package: 'a',
        messageType: [{ name: 'M', field }],
        enumType: [{ name: 'E', value }],
      });
    const [before, after] = [set(values), set(values.map((v) => ({ ...v, number: 35_000 - v.number })))];
    expect(before.length).toBeGreaterThan(800_000);
    const elapsed = stopwatch();
    const { changes, breaking, omitted } = diffDescriptorSets(before, after);
    const taken = elapsed();
    expect(breaking).toBeGreaterThan(49_000);
    expect(changes).toHaveLength(1_000);
    expect(omitted).toBe(breaking - 1_000);
    // The diff takes 0.15 s of processor time. Quadratic work would take a minute.
    expect(taken).toBeLessThan(5_000);
  });
});
