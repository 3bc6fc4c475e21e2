import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { jsonOf } from '../../../test/descriptors/descriptorSets.ts';
import { messageTypesOf, ownFiles, readDescriptorSet } from './descriptorSet.ts';

type FileInit = NonNullable<MessageInitShape<typeof FileDescriptorSetSchema>['file']>[number];

const encode = (...file: FileInit[]) =>
  toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));

const set = encode(
  { name: 'google/protobuf/any.proto', package: 'google.protobuf', messageType: [{ name: 'Any' }] },
  { name: 'google/type/date.proto', package: 'google.type', messageType: [{ name: 'Date' }] },
  { name: 'a.proto', package: 'a', messageType: [{ name: 'M', nestedType: [{ name: 'N' }] }, { name: 'O' }] },
  { name: 'b.proto', messageType: [{ name: 'P' }] },
  { name: 'c.proto' },
);

describe('an accepted descriptor set', () => {
  test('lists its own files and their top-level messages without the well-known files', () => {
    expect(ownFiles(set).map(({ name }) => name)).toEqual(['a.proto', 'b.proto', 'c.proto']);
    expect(messageTypesOf(set)).toEqual(['a.M', 'a.O', 'P']);
    expect(readDescriptorSet({ bytes: set })).toMatchObject({
      bytes: set,
      files: 5,
      messageTypes: ['a.M', 'a.O', 'P'],
      messagesWithoutPackage: ['P'],
    });
    expect(messageTypesOf(new Uint8Array())).toEqual([]);
  });

  test('throws an error if its bytes are truncated', () => {
    expect(() => ownFiles(Uint8Array.of(0x0a, 5))).toThrow('file[0] is truncated');
  });

  test('without custom options is printed as the same JSON', () => {
    const json = { file: [{ name: 'a.proto', package: 'a', messageType: [{ name: 'M' }] }] };
    const result = readDescriptorSet({ json });
    expect(result).toMatchObject({
      bytes: encode(...json.file),
      files: 1,
      messageTypes: ['a.M'],
      messagesWithoutPackage: [],
    });
    expect(jsonOf(encode(...json.file))).toEqual(json);
  });
});

describe('JSON of a descriptor set', () => {
  test('is rejected if it is nested too deeply to be checked', () => {
    let deep: object = {};
    for (let i = 0; i < 120; i++) deep = { nestedType: [deep] };
    expect(readDescriptorSet({ json: { file: [{ messageType: [deep] }] } })).toEqual({
      violations: [{ field: '', description: 'has too many elements, or nests them too deep' }],
    });
  });

  test('that is larger than 1 MiB as bytes is rejected, with and without custom options', () => {
    const leadingComments = ' '.repeat(1024 * 1024);
    const file = { name: 'a', sourceCodeInfo: { location: [{ leadingComments }] } };
    const refused = { violations: [{ field: '', description: 'is larger than 1048576 bytes' }] };
    expect(readDescriptorSet({ json: { file: [file] } })).toEqual(refused);
    const option = {
      name: 'o',
      number: 50_000,
      type: 'TYPE_STRING',
      extendee: '.google.protobuf.FileOptions',
    };
    const own = {
      name: 'a',
      dependency: ['google/protobuf/descriptor.proto'],
      extension: [option],
      options: { '[o]': leadingComments },
    };
    expect(readDescriptorSet({ json: { file: [own] } })).toEqual(refused);
    const small = { ...own, options: { '[o]': 'x' } };
    const accepted = readDescriptorSet({ json: { file: [small] } });
    expect('bytes' in accepted && jsonOf(accepted.bytes)).toMatchObject({
      file: [{ options: { '[o]': 'x' } }],
    });
  });
});
