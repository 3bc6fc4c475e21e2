import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { descriptorSetToJson, readDescriptorSet } from './descriptorSet.ts';

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
  return 'violations' in result ? result.violations : descriptorSetToJson(result.bytes);
};

/** A set with these bytes in the options of its only file, under field number 50000. */
function withOption(init: object, data: number[], wireType = 2): Uint8Array {
  const set = create(FileDescriptorSetSchema, { file: [file({ ...init, options: {} }) as FileInit] });
  set.file[0]!.options!.$unknown = [{ no: 50_000, wireType, data: Uint8Array.from(data) }];
  return toBinary(FileDescriptorSetSchema, set);
}

const lengthDelimited = (data: number[]) => [...varint(data.length), ...data];

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

describe('custom options in JSON', () => {
  test('are read when the set declares them, also from another file that comes later', () => {
    const user = { name: 'u.proto', dependency: ['a.proto'], options: { '[a.x]': 'hello' } };
    const files = [user, { ...file({}), extension: [text] }];
    expect(judge(...files)).toEqual({
      file: [user, { ...file({}), extension: [{ ...text }] }],
    });
  });

  test('are named when the set does not declare them', () => {
    expect(judge(file({ options: { '[a.x]': 'hello' } }))).toEqual([
      {
        field: 'file[0].options.[a.x]',
        description: 'is not an option that the set declares for google.protobuf.FileOptions',
      },
    ]);
  });

  test('are named when they are of another element', () => {
    expect(
      judge(file({ extension: [text], messageType: [{ name: 'M', options: { '[a.x]': 'hello' } }] })),
    ).toEqual([
      {
        field: 'file[0].messageType[0].options.[a.x]',
        description: 'is not an option that the set declares for google.protobuf.MessageOptions',
      },
    ]);
  });

  test('have the type that the set declares, and are refused without repeating the value', () => {
    expect(
      judge(file({ extension: [onFiles({ type: 'TYPE_INT32' })], options: { '[a.x]': 'secret' } })),
    ).toEqual([{ field: '', description: expect.stringMatching(/^cannot decode field .* from JSON$/) }]);
  });

  test('do not answer to the name of the field they become', () => {
    expect(judge(file({ extension: [text], options: { option50000: 'hello' } }))).toEqual([
      { field: 'file[0].options.option50000', description: 'is not a known field' },
    ]);
  });

  test('print under camel-case names also when the compiler left JSON names out', () => {
    const messageType = [{ name: 'Owner', field: [{ name: 'team_name', number: 1, type: 'TYPE_STRING' }] }];
    const extension = [onFiles({ type: 'TYPE_MESSAGE', typeName: '.a.Owner' })];
    const options = { '[a.x]': { teamName: 'reach' } };
    expect(judge(file({ messageType, extension, options }))).toMatchObject({ file: [{ options }] });
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
    expect(descriptorSetToJson(bytes)).toMatchObject({ file: [{ options: { '[a.x]': { id: 7 } } }] });
  });

  test.each([
    [
      'a wrong wire type',
      withOption(owner, [7], 0),
      'file[0].options.[a.x]',
      'has wire type 0, which its type does not use',
    ],
    [
      'a wrong wire type inside',
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
  ])('%s is refused where it is', (_title, bytes, field, description) => {
    expect(readDescriptorSet({ bytes })).toEqual({ violations: [{ field, description }] });
  });

  test('an Any of a type that the set does not have is refused, for it could not be printed', () => {
    const init = {
      dependency: [DESCRIPTOR, 'google/protobuf/any.proto'],
      extension: [onFiles({ type: 11, typeName: '.google.protobuf.Any' })],
    };
    const bytes = withOption(init, lengthDelimited([0x0a, 3, 0x61, 0x2f, 0x62]));
    expect(readDescriptorSet({ bytes })).toEqual({
      violations: [{ field: '', description: 'has a custom option that cannot be written as JSON' }],
    });
  });

  test('a megabyte that would print as hundreds is refused', () => {
    const init = {
      enumType: [{ name: 'E', value: [{ name: 'V'.repeat(500) }] }],
      extension: [onFiles({ type: 14, typeName: '.a.E', label: 3 })],
    };
    const bytes = withOption(init, lengthDelimited(new Array(900_000).fill(0)));
    expect(readDescriptorSet({ bytes })).toEqual({
      violations: [{ field: '', description: 'has options that take more than 33554432 characters as JSON' }],
    });
  });

  test('a large proto2 enum named a hundred thousand times does not hold the exchange up', () => {
    const init = {
      enumType: [
        { name: 'E', value: Array.from({ length: 30_000 }, (_, i) => ({ name: `V${i}`, number: i })) },
      ],
      messageType: [{ name: 'M', field: [{ name: 'e', number: 1, type: 14, typeName: '.a.E' }] }],
      extension: [onFiles({ type: 11, typeName: '.a.M' })],
    };
    const records = Array.from({ length: 100_000 }, () => [0x08, ...varint(29_999)]).flat();
    const bytes = withOption(init, lengthDelimited(records));
    const start = performance.now();
    expect(readDescriptorSet({ bytes })).toMatchObject({ files: 1 });
    // About 0.1 s; compared value by value it took 17.
    expect(performance.now() - start).toBeLessThan(5000);
    expect(descriptorSetToJson(bytes)).toMatchObject({ file: [{ options: { '[a.x]': { e: 'V29999' } } }] });
  });

  test('a set that carries a hollow well-known file is refused', () => {
    const files = [
      { ...file({ extension: [text] }), dependency: [DESCRIPTOR, 'google/type/interval.proto'] },
      { name: 'google/protobuf/timestamp.proto', package: 'google.protobuf' },
    ];
    expect(judge(...files)).toEqual([
      { field: '', description: 'declares extensions that the well-known files it carries do not link with' },
    ]);
  });
});
