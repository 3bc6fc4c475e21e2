/**
 * Tests that each element of a descriptor set is checked wherever it is declared, and that violations name the path of
 * the element.
 */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import {
  FIELD,
  field,
  INT,
  message,
  proto3,
  violationsOf,
} from '../../../test/descriptors/descriptorSets.ts';
import { readDescriptorSet } from './descriptorSet.ts';

type FileInit = NonNullable<MessageInitShape<typeof FileDescriptorSetSchema>['file']>[number];

/** Returns the violations of a binary set. Unlike JSON, the binary form can contain enum numbers that have no name. */
function violationsOfBytes(...file: FileInit[]): string[] {
  const bytes = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
  const result = readDescriptorSet({ bytes });
  return 'violations' in result ? result.violations.map((v) => `${v.field} ${v.description}`) : [];
}

const V = { name: 'V', number: 0 };
const M = 'file[0].messageType[0]';
const scalar = 'typeName a scalar type has no type name';
const bad = { ...INT, typeName: '.a.M' };

describe('a violation', () => {
  const x = (index: number) => ({
    name: `x${index}`,
    number: 100 + index,
    type: 'TYPE_INT32',
    extendee: '.a.M',
  });
  const open = { extensionRange: [{ start: 100, end: 200 }] };
  test.each<[string, object[], string]>([
    [
      'a second message',
      [message({}, { messageType: [{ name: 'M' }, { name: 'N', field: [bad] }] })],
      `file[0].messageType[1].field[0].${scalar}`,
    ],
    [
      'a nested message',
      [message({ nestedType: [{ name: 'A' }, { name: 'B', field: [bad] }] })],
      `${M}.nestedType[1].field[0].${scalar}`,
    ],
    [
      'a message nested twice',
      [message({ nestedType: [{ name: 'A', nestedType: [{ name: 'B', field: [bad] }] }] })],
      `${M}.nestedType[0].nestedType[0].field[0].${scalar}`,
    ],
    [
      'an enum',
      [message({}, { enumType: [{ name: 'A', value: [V] }, { name: 'B' }] })],
      'file[0].enumType[1].value is required',
    ],
    [
      'a nested enum',
      [message({ enumType: [{ name: 'A', value: [V] }, { name: 'B' }] })],
      `${M}.enumType[1].value is required`,
    ],
    [
      'the value of a nested enum',
      [message({ enumType: [{ name: 'A', value: [V, { name: '9', number: 1 }] }] })],
      `${M}.enumType[0].value[1].name "9" is not an identifier`,
    ],
    [
      'an extension',
      [message(open, { extension: [x(0), { ...x(1), number: 1 }] })],
      'file[0].extension[1].number 1 is not in an extension range of "a.M"',
    ],
    [
      'a nested extension',
      [message({ ...open, extension: [x(0), { ...x(1), number: 1 }] })],
      `${M}.extension[1].number 1 is not in an extension range of "a.M"`,
    ],
    [
      'a service',
      [message({}, { service: [{ name: 'S' }, { name: '9' }] })],
      'file[0].service[1].name "9" is not an identifier',
    ],
    [
      'the input of a method',
      [message({}, { service: [{ name: 'S', method: [{ name: 'm', outputType: '.a.M' }] }] })],
      'file[0].service[0].method[0].inputType is required',
    ],
    [
      'the output of a second method',
      [
        message(
          {},
          {
            service: [
              {
                name: 'S',
                method: [
                  { name: 'm', inputType: '.a.M', outputType: '.a.M' },
                  { name: 'n', inputType: '.a.M', outputType: 'M' },
                ],
              },
            ],
          },
        ),
      ],
      'file[0].service[0].method[1].outputType "M" must be a full name with a leading dot',
    ],
    [
      'a oneof',
      [message({ field: [{ ...INT, oneofIndex: 0 }], oneofDecl: [{ name: 'o' }, { name: 'p' }] })],
      `${M}.oneofDecl[1] has no field`,
    ],
    [
      'the syntax of a second file',
      [message({}), { name: 'b', syntax: 'x' }],
      'file[1].syntax "x" is not proto2, proto3 or editions',
    ],
    [
      'an enum of a second file',
      [message({}), { name: 'b', enumType: [{ name: 'E' }] }],
      'file[1].enumType[0].value is required',
    ],
    [
      'a type in a file that is not imported',
      [field({ type: 'TYPE_MESSAGE', typeName: '.b.M' }), message({}, { name: 'b', package: 'b' })],
      `${FIELD}.typeName ".b.M" is declared in "b", which this file does not import`,
    ],
    [
      'an enum declared as a message',
      [field({ type: 'TYPE_MESSAGE', typeName: '.a.E' }, { enumType: [{ name: 'E', value: [V] }] })],
      `${FIELD}.typeName ".a.E" is not a message`,
    ],
    ['an empty type name', [field({ type: 'TYPE_GROUP', typeName: '' })], `${FIELD}.typeName is required`],
  ])('names the path of its element: %s', (_title, files, violation) => {
    expect(violationsOf(...files)).toEqual([violation]);
  });
});

describe('label and type numbers in bytes', () => {
  const of = (members: object) =>
    violationsOfBytes({
      name: 'a',
      package: 'a',
      messageType: [{ name: 'M', field: [{ name: 'f', number: 1, type: 5, ...members }] }],
    });

  test('are rejected if they are unknown', () => {
    expect(of({ label: 1 })).toEqual([]);
    expect(of({ label: 3 })).toEqual([]);
    expect(of({ label: 4 })).toEqual([`${FIELD}.label is not a label`]);
    expect(of({ label: -1 })).toEqual([`${FIELD}.label is not a label`]);
    expect(of({ type: 1 })).toEqual([]);
    expect(of({ type: 18 })).toEqual([]);
    expect(of({ type: 19 })).toEqual([`${FIELD}.type is not a type`]);
    expect(of({ type: -1, label: 4 })).toEqual([
      `${FIELD}.label is not a label`,
      `${FIELD}.type is not a type`,
    ]);
  });
});

describe('the check of a descriptor set', () => {
  const aliases = { name: 'E', value: [{ name: 'A', number: 1 }] };
  test.each<[string, object[]]>([
    ['a proto2 enum whose first value is not 0', [message({}, { enumType: [aliases] })]],
    [
      'a proto3 enum whose first value has no number',
      [message({}, { ...proto3, enumType: [{ name: 'E', value: [{ name: 'A' }] }] })],
    ],
    [
      'a proto3 enum in a proto3 message',
      [field({ type: 'TYPE_ENUM', typeName: '.a.E' }, { ...proto3, enumType: [{ name: 'E', value: [V] }] })],
    ],
    [
      'a proto2 enum in a proto2 message',
      [field({ type: 'TYPE_ENUM', typeName: '.a.E' }, { enumType: [aliases] })],
    ],
    [
      'proto3 optional in its own oneof',
      [
        message(
          { field: [{ ...INT, oneofIndex: 0, proto3Optional: true }], oneofDecl: [{ name: '_f' }] },
          proto3,
        ),
      ],
    ],
    [
      'required fields and groups in proto2',
      [
        message({
          field: [
            { ...INT, label: 'LABEL_REQUIRED' },
            { name: 'g', number: 2, type: 'TYPE_GROUP', typeName: '.a.M' },
          ],
        }),
      ],
    ],
    [
      'a file name and a JSON name of 512 characters',
      [field({ jsonName: 'j'.repeat(512) }), { name: 'b'.repeat(512) }],
    ],
    ['an edition that the runtime supports', [{ name: 'a', syntax: 'editions', edition: 'EDITION_2023' }]],
    ['a package name of 512 characters', [{ name: 'a', package: 'p'.repeat(512) }]],
    [
      'a map field with a leading underscore',
      [
        message({
          field: [
            { name: '_x', number: 1, label: 'LABEL_REPEATED', type: 'TYPE_MESSAGE', typeName: '.a.M.XEntry' },
          ],
          nestedType: [
            {
              name: 'XEntry',
              options: { mapEntry: true },
              field: [
                { ...INT, name: 'key' },
                { ...INT, name: 'value', number: 2 },
              ],
            },
          ],
        }),
      ],
    ],
    [
      'a method with types of two packages',
      [
        message(
          {},
          {
            dependency: ['b'],
            service: [{ name: 'S', method: [{ name: 'm', inputType: '.a.M', outputType: '.b.M' }] }],
          },
        ),
        message({}, { name: 'b', package: 'b' }),
      ],
    ],
  ])('accepts %s', (_title, files) => {
    expect(violationsOf(...files)).toEqual([]);
  });

  test('rejects names that are too long or invalid, unsupported editions, and invalid fields in oneofs', () => {
    const shared = [
      { ...INT, oneofIndex: 0, proto3Optional: true },
      { ...INT, name: 'g', number: 2, oneofIndex: 0 },
    ];
    expect(violationsOf(message({ field: shared, oneofDecl: [{ name: 'o' }] }, proto3))).toEqual([
      `${FIELD}.proto3Optional must be the only field of its oneof`,
    ]);
    expect(violationsOf({ name: 'b'.repeat(513) })).toEqual(['file[0].name is not a file name']);
    expect(violationsOf({ name: 'a\\b' })).toEqual(['file[0].name is not a file name']);
    expect(violationsOf({ name: 'a', package: 'p'.repeat(513) })).toEqual([
      `file[0].package "${'p'.repeat(100)}…" is not a package name`,
    ]);
    expect(violationsOf({ name: 'a', package: `${'p.'.repeat(256)}p` })).toHaveLength(1);
    expect(violationsOf({ name: 'a', syntax: 'editions', edition: 'EDITION_PROTO3' })).toHaveLength(1);
    expect(
      violationsOf(
        message({ field: [{ ...INT, oneofIndex: 0, label: 'LABEL_REQUIRED' }], oneofDecl: [{ name: 'o' }] }),
      ),
    ).toEqual([`${FIELD}.label a oneof has only singular fields`]);
  });

  test('reports at most 20 violations of fields or of enum values', () => {
    const many = Array.from({ length: 30 }, (_, i) => ({ name: `f${i}`, number: 0, type: 'TYPE_INT32' }));
    expect(violationsOf(message({ field: many }))).toHaveLength(20);
    const value = Array.from({ length: 30 }, (_, i) => ({ name: `V${i}`, number: 1 }));
    expect(violationsOf(message({}, { enumType: [{ name: 'E', value }] }))).toHaveLength(20);
  });
});

describe('a public import', () => {
  test('makes a type visible through a chain of public imports, but not if one of them is private', () => {
    const chain = [
      field({ type: 'TYPE_MESSAGE', typeName: '.d.M' }, { dependency: ['b'] }),
      { name: 'b', dependency: ['c'], publicDependency: [0] },
      { name: 'c', dependency: ['x', 'd'], publicDependency: [1] },
      message({}, { name: 'd', package: 'd' }),
      { name: 'x' },
    ];
    expect(violationsOf(...chain)).toEqual([]);
    expect(
      violationsOf(...chain.with(2, { name: 'c', dependency: ['x', 'd'], publicDependency: [0] })),
    ).toEqual([`${FIELD}.typeName ".d.M" is declared in "d", which this file does not import`]);
  });

  test('must be an index of an import', () => {
    const of = (...publicDependency: number[]) =>
      violationsOf({ name: 'a', dependency: ['b'], publicDependency }, { name: 'b' });
    expect(of(0)).toEqual([]);
    expect(of(0, 1)).toEqual(['file[0].publicDependency[1] is not an index into dependency']);
    expect(of(-1)).toEqual(['file[0].publicDependency[0] is not an index into dependency']);
  });
});
