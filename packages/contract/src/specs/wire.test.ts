import { create, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { readWire, specs } from '../index.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'));
const read = (text: string, limits = { maxMessages: 100, maxDepth: 10 }) =>
  readWire(FileDescriptorProtoSchema, hex(text), limits);

describe('readWire', () => {
  test('keeps strings, booleans, integers, enums and messages under their JSON names', () => {
    const file = create(FileDescriptorProtoSchema, {
      name: 'ä.proto',
      dependency: ['a.proto', 'b.proto'],
      publicDependency: [1],
      messageType: [{ name: 'M', field: [{ name: 'f', number: -1, type: 11 }], options: { mapEntry: true } }],
    });
    const bytes = toBinary(FileDescriptorProtoSchema, file);
    expect(readWire(FileDescriptorProtoSchema, bytes, { maxMessages: 9, maxDepth: 9 })).toEqual({
      message: {
        name: 'ä.proto',
        dependency: ['a.proto', 'b.proto'],
        publicDependency: [1],
        messageType: [
          { name: 'M', field: [{ name: 'f', number: -1, type: 11 }], options: { mapEntry: true } },
        ],
      },
    });
  });

  test('reads a packed list and the same list unpacked', () => {
    expect(read('5202 0102')).toEqual({ message: { publicDependency: [1, 2] } });
    expect(read('5001 5002')).toEqual({ message: { publicDependency: [1, 2] } });
  });

  test('merges a singular message that occurs twice', () => {
    // Field 8 (`options`) occurs twice: first with field 1 (`java_package`), then with field 11 (`go_package`).
    expect(read('4203 0a0161 4203 5a0162')).toEqual({
      message: { options: { javaPackage: 'a', goPackage: 'b' } },
    });
  });

  test('skips unknown fields of every wire type, including nested groups', () => {
    // Field 100 occurs with every wire type: a varint, 8 bytes, a length, a group in a group, and 4 bytes. Then the
    // field `name` follows.
    const unknown = 'a006 ff01 a106 0000000000000000 a206 02ffff a306 a306 0801 a406 a406 a506 00000000';
    expect(read(`${unknown} 0a0161`)).toEqual({ message: { name: 'a' } });
  });

  test.each([
    ['an integer for a string field', '0801', 'name', 'has wire type 0, which its type does not use'],
    ['a group for a message field', '2324', 'messageType[0]', 'has wire type 3, which its type does not use'],
    ['an unknown wire type', 'a606', '', 'has wire type 6, which its type does not use'],
    ['field number 0', '0001', '', 'has a field with number 0'],
    ['bytes cut within a string', '0a0361', 'name', 'is truncated'],
    ['bytes cut after a tag', '0a', 'name', 'is truncated'],
    ['bytes cut within a skipped field', 'a206 05', '', 'is truncated'],
    ['bytes cut within 8 skipped bytes', 'a106 00', '', 'is truncated'],
    ['a group without its end', 'a306 0801', '', 'is truncated'],
    ['a group closed by another number', 'a306 ac06', '', 'has wire type 4, which its type does not use'],
    ['a child that runs past its parent', '2200 2202 0a05 6162636465', 'messageType[1].name', 'is truncated'],
    [
      'a varint of 11 bytes',
      '50 8080808080808080808001',
      'publicDependency[0]',
      'has a varint longer than 10 bytes',
    ],
    ['a length above 32 bits', '0a 808080808001', 'name', 'has a tag or length above 32 bits'],
    [
      'a missing required field',
      '4205 ba3e02 1200',
      'options.uninterpretedOption[0].name[0]',
      'lacks the required namePart',
    ],
    ['a string that is not UTF-8', '0a02 c328', 'name', 'is not UTF-8'],
  ])('returns the field and the reason for %s', (_title, text, field, reason) => {
    expect(read(text)).toEqual({ field, reason });
  });

  test('rejects messages and unknown groups beyond the depth limit', () => {
    const limits = { maxMessages: 1_000_000, maxDepth: 3 };
    const deep = '2208 1a06 1a04 1a02 1a00';
    expect(read(deep, limits)).toEqual({
      field: 'messageType[0].nestedType[0].nestedType[0].nestedType[0]',
      reason: 'nests deeper than 3 levels',
    });
    expect(read('a306'.repeat(100_000), limits)).toEqual({ field: '', reason: 'nests deeper than 3 levels' });
  });

  test('rejects more messages than the limit', () => {
    expect(read('2200 2200', { maxMessages: 2, maxDepth: 3 })).toEqual({
      field: 'messageType[1]',
      reason: 'has more than 2 messages',
    });
  });

  test('reads map entries as messages', () => {
    const result = specs.Measurement_Result_FrequencySchema;
    expect(readWire(result, hex('0a0b 0803 11000000000000e03f'), { maxMessages: 9, maxDepth: 9 })).toEqual({
      message: { relativeFrequencyDistribution: [{}] },
    });
    expect(readWire(result, hex('0a04 0803 1001'), { maxMessages: 9, maxDepth: 9 })).toEqual({
      field: 'relativeFrequencyDistribution[0].value',
      reason: 'has wire type 0, which its type does not use',
    });
  });
});
