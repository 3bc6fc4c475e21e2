/**
 * Tests the sentence that describes each kind of change, and the sentences for each pair of scalar types and of
 * defaults.
 */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { diffDescriptorSets } from './schemaDiff.ts';

type FileInit = NonNullable<MessageInitShape<typeof FileDescriptorSetSchema>['file']>[number];

const encode = (file: FileInit[]) =>
  toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
const diff = (before: FileInit[], after: FileInit[]) =>
  diffDescriptorSets(encode(before), encode(after)).changes;
const file = (members: object, name = 'a.proto'): FileInit => ({ name, package: 'a', ...members });
const message = (members: object, more: object = {}) =>
  file({ messageType: [{ name: 'M', ...members }], ...more });
const f = { name: 'f', number: 1, type: Type.INT32 };
const field = (members: object, more: object = {}) => message({ field: [{ ...f, ...members }] }, more);
const enums = (...value: [string, number][]) => ({
  enumType: [{ name: 'E', value: value.map(([name, number]) => ({ name, number })) }],
});
/** Returns the kind and the first sentence of each change. The second sentence, which gives the reason, is left out. */
const descriptions = (before: FileInit | FileInit[], after: FileInit | FileInit[]) =>
  diff([before].flat(), [after].flat()).map(
    ({ kind, message }) => `${kind} ${message.split(/\.(?: |$)/)[0]}`,
  );

describe('the message of a change', () => {
  const g = { name: 'g', number: 1, type: Type.INT32 };
  const removed = 'FIELD_REMOVED a.M.f (1) was removed';
  const other = { name: 'h', number: 2, type: Type.INT32 };
  const service = (input: string) => ({
    service: [{ name: 'S', method: [{ name: 'm', inputType: input, outputType: '.a.M' }] }],
  });
  const x = { name: 'x', number: 100, type: Type.INT32, extendee: '.a.M' };
  const open = { extensionRange: [{ start: 100, end: 200 }] };

  test.each<[string, FileInit | FileInit[], FileInit | FileInit[], string[]]>([
    ['an added field', message({}), field({}), ['FIELD_ADDED a.M.f (1) was added']],
    ['a removed field', field({}), message({}), [`${removed}, and its number not reserved`]],
    [
      'a removed field whose number is reserved',
      field({}),
      message({ reservedRange: [{ start: 1, end: 2 }] }),
      [removed],
    ],
    [
      'a removed field whose number is now for extensions',
      field({}),
      message({ extensionRange: [{ start: 1, end: 2 }] }),
      [`${removed}, and its number not reserved`],
    ],
    [
      'a removed field whose number is now that of another field',
      message({ field: [f, other] }),
      message({ field: [{ ...other, number: 1 }] }),
      [`${removed}, and its number given to h`, 'FIELD_RENUMBERED a.M.h changed its number from 2 to 1'],
    ],
    ['a renamed field', field({}), message({ field: [g] }), ['FIELD_RENAMED a.M.f (1) is now called g']],
    [
      'a changed JSON name',
      field({}),
      field({ jsonName: 'j' }),
      ['JSON_NAME_CHANGED a.M.f changed its JSON name from f to j'],
    ],
    [
      'a field that became repeated',
      field({}),
      field({ label: Label.REPEATED }),
      ['FIELD_CARDINALITY_CHANGED a.M.f changed its cardinality from singular to repeated'],
    ],
    [
      'a field that became required',
      field({}),
      field({ label: Label.REQUIRED }),
      ['FIELD_CARDINALITY_CHANGED a.M.f changed its presence from explicit to required'],
    ],
    [
      'a field that is no longer required',
      field({ label: Label.REQUIRED }),
      field({}),
      ['FIELD_CARDINALITY_CHANGED a.M.f changed its presence from required to explicit'],
    ],
    [
      'a repeated field that became packed',
      field({ label: Label.REPEATED }),
      field({ label: Label.REPEATED, options: { packed: true } }),
      ['FIELD_PACKING_CHANGED a.M.f changed its encoding from expanded to packed'],
    ],
    [
      'a message field that became a group',
      field({ type: Type.MESSAGE, typeName: '.a.M' }),
      field({ type: Type.GROUP, typeName: '.a.M' }),
      ['FIELD_ENCODING_CHANGED a.M.f changed its encoding from length-prefixed to delimited'],
    ],
    [
      'a changed default value',
      field({}),
      field({ defaultValue: '7' }),
      ['FIELD_DEFAULT_CHANGED a.M.f changed its default from 0 to 7'],
    ],
    [
      'a changed syntax',
      field({ type: Type.STRING }),
      field({ type: Type.STRING }, { syntax: 'proto3' }),
      [
        'SYNTAX_CHANGED a.proto changed its syntax from proto2 to proto3',
        'FIELD_UTF8_VALIDATION_CHANGED a.M.f changed its check for UTF-8 from none to verified',
        'FIELD_PRESENCE_CHANGED a.M.f changed its presence from explicit to implicit',
      ],
    ],
    [
      'a changed syntax of a file with an extension',
      file({ extension: [x] }),
      file({ extension: [x], syntax: 'proto3' }),
      ['SYNTAX_CHANGED a.proto changed its syntax from proto2 to proto3'],
    ],
    [
      'a syntax that changed to an edition',
      message({}, { syntax: 'proto3' }),
      message({}, { syntax: 'editions', edition: 1000 }),
      ['SYNTAX_CHANGED a.proto changed its syntax from proto3 to EDITION_2023'],
    ],
    ['an added message', file({}), message({}), ['MESSAGE_ADDED a.M was added']],
    ['a removed message', message({}), file({}), ['MESSAGE_REMOVED a.M was removed']],
    [
      'an added nested message',
      message({}),
      message({ nestedType: [{ name: 'N' }] }),
      ['MESSAGE_ADDED a.M.N was added'],
    ],
    [
      'a removed nested message',
      message({ nestedType: [{ name: 'N' }] }),
      message({}),
      ['MESSAGE_REMOVED a.M.N was removed'],
    ],
    [
      'an added message with nested types, as one change',
      file({}),
      message({ nestedType: [{ name: 'N' }], ...enums(['V', 0]) }),
      ['MESSAGE_ADDED a.M was added'],
    ],
    [
      'a removed message with nested types, as one change',
      message({ nestedType: [{ name: 'N' }], ...enums(['V', 0]) }),
      file({}),
      ['MESSAGE_REMOVED a.M was removed'],
    ],
    [
      'a changed package',
      message({}),
      message({}, { package: 'b' }),
      ['MESSAGE_REMOVED a.M was removed: the package of its file is now b', 'MESSAGE_ADDED b.M was added'],
    ],
    [
      'an added package',
      message({}, { package: undefined }),
      message({}, { package: 'b.c' }),
      ['MESSAGE_REMOVED M was removed: the package of its file is now b.c', 'MESSAGE_ADDED b.c.M was added'],
    ],
    [
      'a removed package',
      message({}, { package: 'a.b' }),
      message({}, { package: undefined }),
      ['MESSAGE_REMOVED a.b.M was removed: the package of its file is now ', 'MESSAGE_ADDED M was added'],
    ],
    [
      'a message that moved to another file',
      [message({}), file({}, 'b.proto')],
      [file({}), { ...message({}), name: 'b.proto' }],
      ['MESSAGE_MOVED a.M changed its file from a.proto to b.proto'],
    ],
    [
      'a message with a nested type that moved to another file, as one change',
      [message({ nestedType: [{ name: 'N' }] }), file({}, 'b.proto')],
      [file({}), { ...message({ nestedType: [{ name: 'N' }] }), name: 'b.proto' }],
      ['MESSAGE_MOVED a.M changed its file from a.proto to b.proto'],
    ],
    [
      'a removed file with a message',
      [message({}), file({}, 'b.proto')],
      [file({}, 'b.proto')],
      ['MESSAGE_REMOVED a.M was removed'],
    ],
    [
      'a changed field type',
      field({ type: Type.MESSAGE, typeName: '.a.M' }),
      field({}),
      ['FIELD_TYPE_CHANGED a.M.f changed its type from a.M to int32'],
    ],
    [
      'a field that moved into a oneof of other fields',
      message({ field: [f, { ...other, oneofIndex: 0 }], oneofDecl: [{ name: 'o' }, { name: 'p' }] }),
      message({
        field: [
          { ...f, oneofIndex: 1 },
          { ...other, oneofIndex: 0 },
        ],
        oneofDecl: [{ name: 'o' }, { name: 'p' }],
      }),
      ['FIELD_MOVED_INTO_ONEOF a.M.f is now in the oneof p'],
    ],
    ['an added enum', file({}), file(enums(['V', 0])), ['ENUM_ADDED a.E was added']],
    ['a removed enum', file(enums(['V', 0])), file({}), ['ENUM_REMOVED a.E was removed']],
    [
      'an added enum value',
      file(enums(['V', 0])),
      file(enums(['V', 0], ['W', 1])),
      ['ENUM_VALUE_ADDED a.E.W (1) was added'],
    ],
    [
      'a removed enum value',
      file(enums(['V', 0], ['W', 1])),
      file(enums(['V', 0])),
      ['ENUM_VALUE_REMOVED a.E.W (1) was removed'],
    ],
    [
      'a renamed enum value',
      file(enums(['V', 0])),
      file(enums(['W', 0])),
      ['ENUM_VALUE_RENAMED a.E.V is now called W'],
    ],
    [
      'a renumbered enum value',
      file(enums(['V', 0], ['W', 1])),
      file(enums(['V', 0], ['W', 2])),
      ['ENUM_VALUE_RENUMBERED a.E.W changed its number from 1 to 2'],
    ],
    [
      'an enum that became open',
      file(enums(['V', 0])),
      file({ ...enums(['V', 0]), syntax: 'proto3' }),
      [
        'SYNTAX_CHANGED a.proto changed its syntax from proto2 to proto3',
        'ENUM_TYPE_CHANGED a.E changed its type from closed to open',
      ],
    ],
    [
      'an added extension',
      message(open),
      message(open, { extension: [x] }),
      ['EXTENSION_ADDED a.x (100) now extends a.M'],
    ],
    [
      'a removed extension',
      message(open, { extension: [x] }),
      message(open),
      ['EXTENSION_REMOVED a.x (100) no longer extends a.M'],
    ],
    [
      'a renumbered extension',
      message(open, { extension: [x] }),
      message(open, { extension: [{ ...x, number: 101 }] }),
      ['FIELD_RENUMBERED a.x changed its number from 100 to 101'],
    ],
    [
      'a removed extension range',
      message(open),
      message({}),
      ['EXTENSION_RANGE_REMOVED a.M no longer takes extensions numbered 100 to 199'],
    ],
    ['an added service', message({}), message({}, service('.a.M')), ['SERVICE_ADDED a.S was added']],
    ['a removed service', message({}, service('.a.M')), message({}), ['SERVICE_REMOVED a.S was removed']],
    [
      'a changed service',
      message({}, service('.a.M')),
      message({}, service('.a.N')),
      ['SERVICE_CHANGED a.S changed'],
    ],
  ])('describes %s', (_title, before, after, expected) => {
    expect(descriptions(before, after)).toEqual(expected);
  });

  test('describes a renamed oneof, and a field that moved into or out of a oneof', () => {
    const inOneof = (name: string) => message({ field: [{ ...f, oneofIndex: 0 }], oneofDecl: [{ name }] });
    expect(descriptions(inOneof('o'), inOneof('p'))).toEqual(['ONEOF_RENAMED a.M.o is now called p']);
    expect(descriptions(inOneof('o'), field({}))).toEqual([
      'FIELD_MOVED_OUT_OF_ONEOF a.M.f left the oneof o',
    ]);
    expect(descriptions(field({}), inOneof('o'))).toEqual([
      'FIELD_MOVED_INTO_ONEOF a.M.f is now in the oneof o',
    ]);
  });
});

test('a change of a scalar type is wire compatible only within a group of types', () => {
  const groups = [
    [Type.INT32, Type.INT64, Type.UINT32, Type.UINT64, Type.BOOL],
    [Type.SINT32, Type.SINT64],
    [Type.FIXED32, Type.SFIXED32],
    [Type.FIXED64, Type.SFIXED64],
    [Type.STRING, Type.BYTES],
    [Type.FLOAT],
    [Type.DOUBLE],
  ];
  const all = groups.flat();
  for (const before of all) {
    for (const after of all.filter((type) => type !== before)) {
      const compatible = groups.some((group) => group.includes(before) && group.includes(after));
      const kind = compatible ? 'FIELD_TYPE_CHANGED_WIRE_COMPATIBLE' : 'FIELD_TYPE_CHANGED';
      const [from, to] = [before, after].map((type) => Type[type]!.toLowerCase());
      expect(descriptions(field({ type: before }), field({ type: after }))).toEqual([
        `${kind} a.M.f changed its type from ${from} to ${to}`,
      ]);
    }
  }
});

describe('a default value', () => {
  const same = (type: Type, before: string | undefined, after: string | undefined, more: object = {}) =>
    descriptions(
      field(
        { type, ...(before !== undefined && { defaultValue: before }), ...more },
        enums(['V', 3], ['W', 4]),
      ),
      field(
        { type, ...(after !== undefined && { defaultValue: after }), ...more },
        enums(['V', 3], ['W', 4]),
      ),
    ).length === 0;
  const E = { typeName: '.a.E' };

  test.each<[Type, string | undefined, string | undefined, boolean, object?]>([
    [Type.INT32, undefined, '0', true],
    [Type.INT32, '1', '2', false],
    [Type.STRING, undefined, '', true],
    [Type.STRING, '0', undefined, false],
    [Type.BYTES, undefined, '', true],
    [Type.BYTES, 'x', '', false],
    [Type.BOOL, undefined, 'false', true],
    [Type.BOOL, undefined, 'true', false],
    [Type.DOUBLE, '1', '1.0', true],
    [Type.FLOAT, '1e2', '100', true],
    [Type.FLOAT, undefined, '0.0', true],
    [Type.DOUBLE, 'inf', 'nan', false],
    [Type.DOUBLE, 'inf', 'inf', true],
    [Type.INT32, '1', '1.0', false],
    [Type.ENUM, undefined, 'V', true, E],
    [Type.ENUM, 'V', 'W', false, E],
    [Type.ENUM, undefined, 'W', false, E],
    [Type.ENUM, 'STRING', 'CORD', false, { typeName: '.google.protobuf.FieldOptions.CType' }],
  ])('of type %d is the same as %j and as %j: %s', (type, before, after, expected, more) => {
    expect(same(type, before, after, more)).toBe(expected);
  });
});
