import { WELL_KNOWN_FILES } from '@measurement-exchange/contract';
import { describe, expect, test } from 'vitest';
import { FIELD, field, message, violationsOf } from '../../../test/descriptors/descriptorSets.ts';

describe('the check of imports', () => {
  test('reports a missing import', () => {
    expect(violationsOf({ name: 'a', dependency: ['b', 'c'] }, { name: 'b' })).toEqual([
      'file[0].dependency[1] imports "c", which is neither in the set nor a well-known file',
    ]);
  });

  test('rejects a cycle of one file and of three files', () => {
    expect(violationsOf({ name: 'a', dependency: ['a'] })).toEqual(['file[0].dependency[0] imports itself']);
    expect(
      violationsOf(
        { name: 'a', dependency: ['b'] },
        { name: 'b', dependency: ['c'] },
        { name: 'c', dependency: ['a'] },
      ),
    ).toEqual(['file[2].dependency[0] closes a cycle of imports']);
  });

  test('reports a cycle only if no import is missing', () => {
    expect(violationsOf({ name: 'a', dependency: ['a', 'b'] })).toEqual([
      'file[0].dependency[1] imports "b", which is neither in the set nor a well-known file',
    ]);
  });

  test('rejects a type name that an indirectly imported well-known file declares', () => {
    const clash = { name: 'a', package: 'google.protobuf', messageType: [{ name: 'SourceContext' }] };
    expect(violationsOf({ ...clash, dependency: ['google/protobuf/api.proto'] })).toEqual([
      'file[0].messageType[0].name "SourceContext" is declared twice',
    ]);
  });

  test('accepts a diamond of imports', () => {
    expect(
      violationsOf(
        { name: 'a', dependency: ['b', 'c'] },
        { name: 'b', dependency: ['d'] },
        { name: 'c', dependency: ['d'] },
        { name: 'd' },
      ),
    ).toEqual([]);
  });

  test.each([
    [
      'two files with the same name',
      [{ name: 'a' }, { name: 'a' }],
      'file[1].name "a" is the name of file[0] too',
    ],
    ['a file without a name', [{}], 'file[0].name is required'],
    ['a file name with a control character', [{ name: 'a\n' }], 'file[0].name is not a file name'],
    [
      'a duplicate import',
      [{ name: 'a', dependency: ['b', 'b'] }, { name: 'b' }],
      'file[0].dependency[1] imports "b" twice',
    ],
    [
      'a public dependency with an unknown index',
      [{ name: 'a', publicDependency: [0] }],
      'file[0].publicDependency[0] is not an index into dependency',
    ],
  ])('rejects %s', (_title, files, violation) => {
    expect(violationsOf(...files)).toEqual([violation]);
  });

  test('accepts the types of every well-known file that is imported but not in the set', () => {
    for (const [name, { messages, enums }] of WELL_KNOWN_FILES) {
      const fields = [
        ...messages.map(({ typeName }) => ({ type: 'TYPE_MESSAGE', typeName: `.${typeName}` })),
        ...enums.map(({ typeName }) => ({ type: 'TYPE_ENUM', typeName: `.${typeName}` })),
      ].map((type, i) => ({ name: `f${i}`, number: i + 1, ...type }));
      expect(violationsOf(message({ field: fields }, { dependency: [name] }))).toEqual([]);
      expect(violationsOf(message({ field: fields }))).not.toEqual([]);
    }
    expect(WELL_KNOWN_FILES.size).toBe(32);
    expect(violationsOf({ name: 'a', dependency: ['google/type/nothing.proto'] })).toHaveLength(1);
  });

  test('resolves a type through a public import, but not through a private one', () => {
    const files = (publicDependency: number[]) => [
      field({ type: 'TYPE_MESSAGE', typeName: '.c.M' }, { dependency: ['b'] }),
      { name: 'b', dependency: ['c'], publicDependency },
      message({}, { name: 'c', package: 'c' }),
    ];
    expect(violationsOf(...files([0]))).toEqual([]);
    expect(violationsOf(...files([]))).toEqual([
      `${FIELD}.typeName ".c.M" is declared in "c", which this file does not import`,
    ]);
  });
});
