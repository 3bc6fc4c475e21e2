import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { parseJson, type Violation } from '@measurement-exchange/contract';
import { isMutationRun, rounds } from '@measurement-exchange/testkit/rounds';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonOf, violationsOf } from '../../../test/descriptors/descriptorSets.ts';
import { type DescriptorSet, MAX_SET_BYTES, readDescriptorSet } from './descriptorSet.ts';

type FileInit = NonNullable<MessageInitShape<typeof FileDescriptorSetSchema>['file']>[number];

/** Compiles test/descriptors/protos. Compiling takes 0.1 s, so it happens only when a test needs the result. */
function compile(...flags: string[]): Buffer {
  const bin = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const buf = bin('../../../../../node_modules/.bin/buf');
  return execFileSync(buf, [
    'build',
    bin('../../../test/descriptors/protos'),
    '--as-file-descriptor-set',
    ...flags,
  ]);
}

const made = new Map<string, Uint8Array>();
function binary(...flags: string[]): Uint8Array {
  const known = made.get(flags.join()) ?? Uint8Array.from(compile(...flags, '-o', '-#format=binpb'));
  made.set(flags.join(), known);
  return known;
}
const complete = () => binary();
const withoutImports = () => binary('--exclude-imports');

function accepted(input: { json: unknown } | { bytes: Uint8Array }): DescriptorSet {
  const result = readDescriptorSet(input);
  if ('violations' in result) throw new Error(JSON.stringify(result.violations));
  return result;
}

function violations(input: { json: unknown } | { bytes: Uint8Array }): Violation[] {
  const result = readDescriptorSet(input);
  return 'violations' in result ? result.violations : [];
}

const encode = (...file: FileInit[]) =>
  toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));

describe('a descriptor set from a compiler', () => {
  test('is accepted with and without the well-known files it imports', () => {
    const messageTypes = [
      'ads.Owner',
      'ads.Scope',
      'ads.Money',
      'ads.metadata.Campaign',
      'ads.legacy.Spot',
      'ads.modern.Event',
    ];
    expect(accepted({ bytes: complete() })).toMatchObject({
      bytes: complete(),
      files: 9,
      messageTypes,
      messagesWithoutPackage: [],
    });
    expect(accepted({ bytes: withoutImports() })).toMatchObject({ files: 6, messageTypes });
  });

  test('is kept byte for byte', () => {
    expect(accepted({ bytes: complete() }).bytes).toBe(complete());
  });

  test('prints the JSON that the compiler prints, custom options included', () => {
    const expected = JSON.parse(compile('--exclude-imports', '-o', '-#format=json').toString('utf8'));
    expect(jsonOf(withoutImports())).toEqual(expected);
    const campaign = expected.file.find((file: { name: string }) => file.name === 'ads/campaign.proto');
    expect(campaign.options['[ads.owner]']).toEqual({
      teamName: 'reach',
      costCenters: ['7', '9223372036854775807'],
      retention: '3.500s',
      byRegion: { eu: 'PERSONAL' },
      key: 'Af8=',
    });
    expect(campaign.messageType[0].field[1].options).toEqual({
      '[ads.weight2]': true,
      '[ads.weight_2]': false,
    });
  });

  test.each([
    ['with', complete],
    ['without', withoutImports],
  ])('is unchanged after conversion to JSON and back, %s well-known files', (_title, made) => {
    const bytes = made();
    const json = jsonOf(bytes);
    const { bytes: again, ...rest } = accepted({ json });
    expect({ bytes, ...rest }).toEqual(accepted({ bytes }));
    expect(jsonOf(again)).toEqual(json);
  });

  test('is read from JSON text whose 64-bit integers are exact', () => {
    const text = JSON.stringify(jsonOf(withoutImports())).replace(
      '"9223372036854775807"',
      '9223372036854775807',
    );
    expect(jsonOf(accepted({ json: parseJson(text) }).bytes)).toEqual(jsonOf(withoutImports()));
  });

  test('is accepted with its files in reverse order', () => {
    const { file } = jsonOf(complete()) as { file: object[] };
    expect(accepted({ json: { file: file.toReversed() } }).files).toBe(9);
  });

  test('with damaged bytes is accepted or rejected without an internal error, and is printable if accepted', () => {
    const position = fc.nat({ max: withoutImports().length - 1 });
    fc.assert(
      fc.property(position, fc.nat({ max: 255 }), fc.nat({ max: 2 }), (at, byte, removed) => {
        const bytes = Uint8Array.from([
          ...withoutImports().subarray(0, at),
          byte,
          ...withoutImports().subarray(at + removed),
        ]);
        const result = readDescriptorSet({ bytes });
        if ('violations' in result) expect(result.violations.length).toBeGreaterThan(0);
        else jsonOf(bytes);
      }),
      { numRuns: rounds(300) },
    );
  });

  test('is rejected if it is truncated within its last file', () => {
    for (let cut = 1; cut < 50; cut++) {
      const bytes = withoutImports().subarray(0, -cut);
      expect(violations({ bytes })).toEqual([{ field: 'file[5]', description: 'is truncated' }]);
    }
  });
});

describe('readDescriptorSet', () => {
  test.each([
    ['a missing value', undefined, '', 'is required'],
    ['null', null, '', 'is required'],
    ['an empty object', {}, 'file', 'is required'],
    ['an empty list of files', { file: [] }, 'file', 'is required'],
    ['a string', 'CgA=', '', 'must be an object'],
    ['an array', [], '', 'must be an object'],
    ['files that are not an array', { file: {} }, 'file', 'must be an array'],
    ['a file that is null', { file: [null] }, 'file[0]', 'must be an object'],
    ['an unknown member', { file: [{ nam: 'a' }] }, 'file[0].nam', 'is not a known field'],
    [
      'an unknown member in a nested message',
      { file: [{}, { messageType: [{ options: { mapEntri: true } }] }] },
      'file[1].messageType[0].options.mapEntri',
      'is not a known field',
    ],
    ['a number for a name', { file: [{ name: 3 }] }, 'file[0].name', 'must be a string'],
    [
      'a string for a boolean',
      { file: [{ options: { deprecated: 'no' } }] },
      'file[0].options.deprecated',
      'must be a boolean',
    ],
    [
      'an unknown enum name',
      { file: [{ messageType: [{ field: [{ type: 'TYPE_TEXT' }] }] }] },
      'file[0].messageType[0].field[0].type',
      '"TYPE_TEXT" is not a value of Type',
    ],
  ])('rejects JSON input: %s', (_title, json, field, description) => {
    expect(violations({ json })).toEqual([{ field, description }]);
  });

  test('rejects JSON with a number out of range without repeating the number', () => {
    const json = { file: [{ name: 'a', messageType: [{ name: 'M', field: [{ number: 1e10 }] }] }] };
    expect(violations({ json })).toEqual([
      { field: '', description: 'cannot decode field google.protobuf.FieldDescriptorProto.number from JSON' },
    ]);
  });

  test('truncates the description of invalid JSON to 300 characters', () => {
    const name = 'M'.repeat(500);
    const extension = [
      { name: 'x', number: 50_000, extendee: '.google.protobuf.FileOptions', type: 11, typeName: `.${name}` },
    ];
    const dependency = ['google/protobuf/descriptor.proto'];
    const file = { name: 'a', dependency, messageType: [{ name }], extension, options: { '[x]': { y: 1 } } };
    const [violation] = violations({ json: { file: [file] } });
    expect(violation!.description).toHaveLength(300);
  });

  test('rejects empty bytes', () => {
    expect(violations({ bytes: new Uint8Array() })).toEqual([{ field: 'file', description: 'is required' }]);
  });

  test('rejects bytes with a wrong wire type or invalid UTF-8, and reports their path', () => {
    expect(violations({ bytes: Uint8Array.of(0x0a, 2, 0x08, 1) })).toEqual([
      { field: 'file[0].name', description: 'has wire type 0, which its type does not use' },
    ]);
    expect(violations({ bytes: Uint8Array.of(0x0a, 4, 0x0a, 2, 0xc3, 0x28) })).toEqual([
      { field: 'file[0].name', description: 'is not UTF-8' },
    ]);
  });

  test('rejects an uninterpreted option without a required field', () => {
    expect(violationsOf({ name: 'a', options: { uninterpretedOption: [{ name: [{}] }] } })).toHaveLength(1);
    // The bytes encode options (8) { uninterpreted_option (999) { name (2) {} } }.
    const bytes = Uint8Array.of(0x0a, 10, 0x0a, 1, 0x61, 0x42, 5, 0xba, 0x3e, 2, 0x12, 0);
    expect(violations({ bytes })).toEqual([
      { field: 'file[0].options.uninterpretedOption[0].name[0]', description: 'lacks the required namePart' },
    ]);
  });

  test('accepts a message without a package, and lists it in messagesWithoutPackage', () => {
    const set = accepted({
      json: {
        file: [
          { name: 'a', messageType: [{ name: 'M' }] },
          { name: 'b', package: 'p', messageType: [{ name: 'M' }] },
        ],
      },
    });
    expect(set.messageTypes).toEqual(['M', 'p.M']);
    expect(set.messagesWithoutPackage).toEqual(['M']);
  });
});

describe('limits of a descriptor set', () => {
  const filler = (size: number) =>
    encode({ name: 'a', sourceCodeInfo: { location: [{ leadingComments: ' '.repeat(size) }] } });

  test('1 MiB is accepted, one byte more is not', () => {
    const overhead = filler(1_000_000).length - 1_000_000;
    const largest = filler(MAX_SET_BYTES - overhead);
    expect(largest.length).toBe(MAX_SET_BYTES);
    expect(accepted({ bytes: largest }).files).toBe(1);
    expect(violations({ bytes: filler(MAX_SET_BYTES - overhead + 1) })).toEqual([
      { field: '', description: 'is larger than 1048576 bytes' },
    ]);
  });

  test('256 files are accepted, 257 are not', () => {
    const files = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `f${i}` }));
    expect(violationsOf(...files(256))).toEqual([]);
    expect(violationsOf(...files(257))).toEqual(['file has more than 256 files']);
  });

  test('10,000 messages including nested ones are accepted, 10,001 are not', () => {
    const file = (count: number) => ({
      name: 'a',
      dependency: ['google/protobuf/any.proto'],
      messageType: [
        { name: 'M', nestedType: Array.from({ length: count - 1 }, (_, i) => ({ name: `N${i}` })) },
      ],
    });
    expect(accepted({ json: { file: [file(10_000)] } }).messageTypes).toEqual(['M']);
    expect(violationsOf(file(10_001))).toEqual([' has more than 10000 messages']);
  });

  test('64 levels of messages are accepted, 65 are not', () => {
    const nested = (levels: number): object =>
      levels === 1 ? { name: 'M' } : { name: 'M', nestedType: [nested(levels - 1)] };
    const file = (levels: number) => ({ name: 'a', package: 'p', messageType: [nested(levels)] });
    expect(violationsOf(file(64))).toEqual([]);
    for (const levels of [65, 70]) {
      expect(violationsOf(file(levels))).toEqual([
        expect.stringMatching(/nestedType\[0\] nests messages deeper than 64 levels$/),
      ]);
    }
    const bytes = accepted({ json: { file: [file(64)] } }).bytes;
    expect(violations({ bytes })).toEqual([]);
    expect(jsonOf(bytes)).toEqual({ file: [file(64)] });
  });

  test.skipIf(isMutationRun)('the deepest nesting that fits in 1 MiB is rejected', () => {
    const heads: number[][] = [];
    for (let length = 0; length < 1_000_000; length += heads.at(-1)!.length)
      heads.push([0x1a, ...varint(length)]);
    heads.at(-1)![0] = 0x22;
    const message = Uint8Array.from(heads.reverse().flat());
    const bytes = Uint8Array.from([0x0a, ...varint(message.length), ...message]);
    expect(violations({ bytes })).toEqual([
      { field: expect.stringMatching(/nestedType\[0\]$/), description: 'nests deeper than 99 levels' },
    ]);
    let json: object = {};
    for (let i = 0; i < 100_000; i++) json = { nestedType: [json] };
    expect(violations({ json: { file: [{ messageType: [json] }] } })).toHaveLength(1);
  });

  test.skipIf(isMutationRun)('half a million empty elements are rejected', () => {
    const file = Uint8Array.from({ length: 1_000_000 }, (_, i) => (i % 2 === 0 ? 0x22 : 0));
    const bytes = Uint8Array.from([0x0a, ...varint(file.length), ...file]);
    expect(violations({ bytes })).toEqual([
      { field: 'file[0].messageType[131070]', description: 'has more than 131072 messages' },
    ]);
  });

  test('full names of 512 characters are accepted, longer ones are not', () => {
    expect(violationsOf({ name: 'a', messageType: [{ name: 'M'.repeat(513) }] })).toEqual([
      'file[0].messageType[0].name is longer than 512 characters',
    ]);
    const nestedType = [{ name: 'N'.repeat(300) }];
    const just = [{ name: 'N'.repeat(211) }];
    expect(violationsOf({ name: 'a', messageType: [{ name: 'M'.repeat(300), nestedType: just }] })).toEqual(
      [],
    );
    expect(violationsOf({ name: 'a', messageType: [{ name: 'M'.repeat(300), nestedType }] })).toEqual([
      'file[0].messageType[0].nestedType[0].name makes a full name longer than 512 characters',
    ]);
  });
});

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}
