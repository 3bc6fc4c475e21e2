import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { WELL_KNOWN_FILES } from '@measurement-exchange/contract';
import { isMutationRun } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';
import { jsonOf } from '../../../test/descriptors/descriptorSets.ts';
import { stopwatch } from '../../compute/stopwatch.ts';
import { readDescriptorSet } from './descriptorSet.ts';

type FileInit = NonNullable<MessageInitShape<typeof FileDescriptorSetSchema>['file']>[number];

const DESCRIPTOR = 'google/protobuf/descriptor.proto';
const onFiles = (members: object) => ({
  name: 'x',
  number: 50_000,
  extendee: '.google.protobuf.FileOptions',
  ...members,
});
const text = onFiles({ type: 'TYPE_STRING' });

const file = (members: object) => ({ name: 'a.proto', package: 'a', dependency: [DESCRIPTOR], ...members });

const judge = (...files: object[]) => {
  const result = readDescriptorSet({ json: { file: files } });
  return 'violations' in result ? result.violations : jsonOf(result.bytes);
};

/** Returns a set whose only file has these bytes in its options, under field number 50000. */
function withOption(init: object, data: number[], wireType = 2): Uint8Array {
  const set = create(FileDescriptorSetSchema, { file: [file({ options: {}, ...init }) as FileInit] });
  set.file[0]!.options!.$unknown = [{ no: 50_000, wireType, data: Uint8Array.from(data) }];
  return toBinary(FileDescriptorSetSchema, set);
}

const lengthDelimited = (data: number[]) => [...varint(data.length), ...data];

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

describe('a set without custom options', () => {
  test('is printed unchanged, even if it extends its own messages', () => {
    const files = file({
      dependency: [],
      messageType: [{ name: 'M', extensionRange: [{ start: 10, end: 20 }] }],
      enumType: [{ name: 'E', value: [{ name: 'V', number: 0 }] }],
      extension: [{ name: 'x', number: 10, extendee: '.a.M', label: 'LABEL_OPTIONAL', type: 'TYPE_INT32' }],
    });
    const { dependency: _none, ...printed } = files;
    expect(judge(files)).toEqual({ file: [printed] });
  });
});

describe('custom options in JSON', () => {
  test('are read if the set declares them, even in a later file', () => {
    const user = { name: 'u.proto', dependency: ['a.proto'], options: { '[a.x]': 'hello' } };
    const files = [user, { ...file({}), extension: [text] }];
    expect(judge(...files)).toEqual({
      file: [user, { ...file({}), extension: [{ ...text }] }],
    });
  });

  test('are rejected with their path if the set does not declare them', () => {
    expect(judge(file({ options: { '[a.x]': 'hello' } }))).toEqual([
      {
        field: 'file[0].options.[a.x]',
        description: 'is not an option that the set declares for google.protobuf.FileOptions',
      },
    ]);
  });

  test('are rejected with their path if they are declared for another kind of element', () => {
    expect(
      judge(file({ extension: [text], messageType: [{ name: 'M', options: { '[a.x]': 'hello' } }] })),
    ).toEqual([
      {
        field: 'file[0].messageType[0].options.[a.x]',
        description: 'is not an option that the set declares for google.protobuf.MessageOptions',
      },
    ]);
  });

  test('are rejected without repeating the value if they do not have the declared type', () => {
    expect(
      judge(file({ extension: [onFiles({ type: 'TYPE_INT32' })], options: { '[a.x]': 'secret' } })),
    ).toEqual([{ field: '', description: expect.stringMatching(/^cannot decode field .* from JSON$/) }]);
  });

  test('are not accepted under the internal name of their field', () => {
    expect(judge(file({ extension: [text], options: { option50000: 'hello' } }))).toEqual([
      { field: 'file[0].options.option50000', description: 'is not a known field' },
    ]);
  });

  test('are printed under camel-case names even if the compiler omitted the JSON names', () => {
    const messageType = [{ name: 'Owner', field: [{ name: 'team_name', number: 1, type: 'TYPE_STRING' }] }];
    const extension = [onFiles({ type: 'TYPE_MESSAGE', typeName: '.a.Owner' })];
    const options = { '[a.x]': { teamName: 'reach' } };
    expect(judge(file({ messageType, extension, options }))).toMatchObject({ file: [{ options }] });
  });

  test('are printed under the JSON names in the set, including those of nested messages', () => {
    const nestedType = [{ name: 'Team', field: [{ name: 'team_name', number: 1, type: 'TYPE_STRING' }] }];
    const owner = [
      { name: 'team', number: 1, type: 'TYPE_MESSAGE', typeName: '.a.Owner.Team', jsonName: 'TEAM' },
    ];
    const messageType = [{ name: 'Owner', field: owner, nestedType }];
    const extension = [onFiles({ type: 'TYPE_MESSAGE', typeName: '.a.Owner' })];
    const options = { '[a.x]': { TEAM: { teamName: 'reach' } } };
    expect(judge(file({ messageType, extension, options }))).toMatchObject({ file: [{ options }] });
  });

  test.each([
    ['a message', [{ name: 'M', extension: [text] }], 'a.M.x'],
    ['one of two messages', [{ name: 'Other' }, { name: 'M', extension: [text] }], 'a.M.x'],
    [
      'a nested message',
      [{ name: 'M', nestedType: [{ name: 'Other' }, { name: 'N', extension: [text] }] }],
      'a.M.N.x',
    ],
  ])('may be declared in %s', (_title, messageType, name) => {
    const options = { [`[${name}]`]: 'hello' };
    expect(judge(file({ messageType, options }))).toMatchObject({ file: [{ options }] });
  });

  test('may be declared by a well-known file that the set imports but does not contain', () => {
    const dependency = ['google/protobuf/java_features.proto'];
    const options = { features: { '[pb.java]': { utf8Validation: 'VERIFY' } } };
    const set = file({ syntax: 'editions', edition: 'EDITION_2023', dependency, options });
    expect(judge(set)).toMatchObject({ file: [{ options }] });
  });

  test('are rejected with members that their type does not have', () => {
    const messageType = [{ name: 'Owner', field: [{ name: 'id', number: 1, type: 'TYPE_INT32' }] }];
    const extension = [onFiles({ type: 'TYPE_MESSAGE', typeName: '.a.Owner' })];
    const options = { '[a.x]': { id: 7, nobody: 1 } };
    expect(judge(file({ messageType, extension, options }))).toEqual([
      { field: '', description: expect.stringMatching(/^cannot decode message a\.Owner from JSON/) },
    ]);
  });

  test('may contain messages of the set in an Any', () => {
    const messageType = [{ name: 'Owner', field: [{ name: 'id', number: 1, type: 'TYPE_INT32' }] }];
    const extension = [onFiles({ type: 'TYPE_MESSAGE', typeName: '.google.protobuf.Any' })];
    const dependency = [DESCRIPTOR, 'google/protobuf/any.proto'];
    const options = { '[a.x]': { '@type': 'type.googleapis.com/a.Owner', id: 7 } };
    expect(judge(file({ dependency, messageType, extension, options }))).toMatchObject({
      file: [{ options }],
    });
  });

  test('that would print to more than 8 MiB are rejected', () => {
    const enumType = [{ name: 'E', value: [{ name: 'V'.repeat(500), number: 0 }] }];
    const extension = [onFiles({ type: 'TYPE_ENUM', typeName: '.a.E', label: 'LABEL_REPEATED' })];
    const options = { '[a.x]': new Array(70_000).fill(0) };
    expect(judge(file({ enumType, extension, options }))).toEqual([
      { field: '', description: 'takes more than 8388608 bytes as JSON' },
    ]);
  });
});

describe('custom options in bytes', () => {
  const owner = {
    messageType: [{ name: 'Owner', field: [{ name: 'id', number: 1, type: 5 }] }],
    extension: [onFiles({ type: 11, typeName: '.a.Owner' })],
  };

  test('are read with the schema of the set', () => {
    const bytes = withOption(owner, lengthDelimited([0x08, 7]));
    expect(readDescriptorSet({ bytes })).toMatchObject({ files: 1 });
    expect(jsonOf(bytes)).toMatchObject({ file: [{ options: { '[a.x]': { id: 7 } } }] });
  });

  test('are read in the delimited encoding if the set declares it', () => {
    const options = { features: { messageEncoding: 2 } };
    const init = { ...owner, options, syntax: 'editions', edition: 1000 };
    const bytes = withOption(init, [0x08, 7, ...varint((50_000 << 3) | 4)], 3);
    expect(readDescriptorSet({ bytes })).toMatchObject({ files: 1 });
    expect(jsonOf(bytes)).toMatchObject({ file: [{ options: { '[a.x]': { id: 7 } } }] });
  });

  test.each([
    ['a file', { enumType: [{ name: 'E', value: [{ name: 'V', number: 1 }] }] }, '.a.E'],
    [
      'a message',
      { messageType: [{ name: 'M', enumType: [{ name: 'E', value: [{ name: 'V', number: 1 }] }] }] },
      '.a.M.E',
    ],
  ])('of a proto2 enum in %s are printed by name, or by number without a name', (_title, init, typeName) => {
    const printed = (value: number) =>
      jsonOf(withOption({ ...init, extension: [onFiles({ type: 14, typeName })] }, [value], 0));
    expect(printed(1)).toMatchObject({ file: [{ options: { '[a.x]': 'V' } }] });
    expect(printed(7)).toMatchObject({ file: [{ options: { '[a.x]': 7 } }] });
  });

  test('do not modify the well-known files that the set imports', () => {
    const { proto } = WELL_KNOWN_FILES.get('google/protobuf/struct.proto')!;
    const before = toBinary(FileDescriptorProtoSchema, proto);
    const init = {
      dependency: [DESCRIPTOR, proto.name],
      extension: [onFiles({ type: 14, typeName: '.google.protobuf.NullValue' })],
    };
    expect(readDescriptorSet({ bytes: withOption(init, [0], 0) })).toMatchObject({ files: 1 });
    expect(toBinary(FileDescriptorProtoSchema, proto)).toEqual(before);
  });

  test('are rejected if the standard descriptor.proto already uses their number', () => {
    const messageType = [{ name: 'FileOptions', extensionRange: [{ start: 1, end: 100 }] }];
    const descriptor = { name: DESCRIPTOR, package: 'google.protobuf', messageType };
    const taken = { ...text, number: 1 };
    expect(judge(descriptor, file({ extension: [taken] }))).toMatchObject({
      file: [{}, { extension: [{ number: 1 }] }],
    });
    expect(judge(descriptor, file({ extension: [taken], options: { '[a.x]': 'hello' } }))).toMatchObject([
      { field: 'file[1].options.[a.x]' },
    ]);
  });

  test.each([
    [
      'a wrong wire type',
      withOption(owner, [7], 0),
      'file[0].options.[a.x]',
      'has wire type 0, which its type does not use',
    ],
    [
      'a wrong wire type in a nested field',
      withOption(owner, lengthDelimited([0x0a, 0])),
      'file[0].options.[a.x].id',
      'has wire type 2, which its type does not use',
    ],
    [
      'a truncated message',
      withOption(owner, lengthDelimited([0x08])),
      'file[0].options.[a.x].id',
      'is truncated',
    ],
  ])('%s is rejected with its path', (_title, bytes, field, description) => {
    expect(readDescriptorSet({ bytes })).toEqual({ violations: [{ field, description }] });
  });

  test('an Any of an unknown type is rejected, because it cannot be printed', () => {
    const init = {
      dependency: [DESCRIPTOR, 'google/protobuf/any.proto'],
      extension: [onFiles({ type: 11, typeName: '.google.protobuf.Any' })],
    };
    const bytes = withOption(init, lengthDelimited([0x0a, 3, 0x61, 0x2f, 0x62]));
    expect(readDescriptorSet({ bytes })).toEqual({
      violations: [{ field: '', description: 'has a custom option that cannot be written as JSON' }],
    });
  });

  test.skipIf(isMutationRun)('900 KB that would print as 450 MB are rejected', () => {
    const init = {
      enumType: [{ name: 'E', value: [{ name: 'V'.repeat(500) }] }],
      extension: [onFiles({ type: 14, typeName: '.a.E', label: 3 })],
    };
    const bytes = withOption(init, lengthDelimited(new Array(900_000).fill(0)));
    expect(readDescriptorSet({ bytes })).toEqual({
      violations: [{ field: '', description: 'takes more than 8388608 bytes as JSON' }],
    });
  });

  test.skipIf(isMutationRun)('20,000 values of a large proto2 enum are read in less than a second', () => {
    const init = {
      enumType: [
        { name: 'E', value: Array.from({ length: 30_000 }, (_, i) => ({ name: `V${i}`, number: i })) },
      ],
      messageType: [{ name: 'M', field: [{ name: 'e', number: 1, type: 14, typeName: '.a.E' }] }],
      extension: [onFiles({ type: 11, typeName: '.a.M' })],
    };
    const records = Array.from({ length: 20_000 }, () => [0x08, ...varint(29_999)]).flat();
    const bytes = withOption(init, lengthDelimited(records));
    const elapsed = stopwatch();
    expect(readDescriptorSet({ bytes })).toMatchObject({ files: 1 });
    // Reading takes about 0.05 s. Comparing every pair of values would take 3 s.
    expect(elapsed()).toBeLessThan(1000);
    expect(jsonOf(bytes)).toMatchObject({ file: [{ options: { '[a.x]': { e: 'V29999' } } }] });
  });

  test('a set with an empty well-known file is rejected', () => {
    const files = [
      { ...file({ extension: [text] }), dependency: [DESCRIPTOR, 'google/type/interval.proto'] },
      { name: 'google/protobuf/timestamp.proto', package: 'google.protobuf' },
    ];
    expect(judge(...files)).toEqual([
      {
        field: '',
        description: 'declares extensions that do not link with its well-known files',
      },
    ]);
  });
});
