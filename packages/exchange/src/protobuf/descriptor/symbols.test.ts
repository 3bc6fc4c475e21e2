import { describe, expect, test } from 'vitest';
import { FIELD, field, INT, message, violationsOf } from '../../../test/descriptors/descriptorSets.ts';

describe('the check of names', () => {
  const twice = (path: string, name: string) => `${path} "${name}" is declared twice`;

  test.each([
    [
      'two messages of different files with the same name',
      [message({}), message({}, { name: 'b' })],
      twice('file[1].messageType[0].name', 'M'),
    ],
    [
      'a message and an enum with the same name',
      [message({}, { enumType: [{ name: 'M', value: [{ name: 'V' }] }] })],
      twice('file[0].enumType[0].name', 'M'),
    ],
    [
      'values of two enums in one package with the same name',
      [
        {
          name: 'a',
          enumType: [
            { name: 'E', value: [{ name: 'V' }] },
            { name: 'F', value: [{ name: 'V' }] },
          ],
        },
      ],
      twice('file[0].enumType[1].value[0].name', 'V'),
    ],
    [
      'a message and a service with the same name',
      [message({}, { service: [{ name: 'M' }] })],
      twice('file[0].service[0].name', 'M'),
    ],
    [
      'two methods with the same name',
      [{ name: 'a', service: [{ name: 'S', method: [{ name: 'm' }, { name: 'm' }] }] }],
      twice('file[0].service[0].method[1].name', 'm'),
    ],
    [
      'two fields with the same name',
      [message({ field: [INT, { ...INT, number: 2 }] })],
      twice('file[0].messageType[0].field[1].name', 'f'),
    ],
    [
      'a field and a oneof with the same name',
      [message({ field: [{ ...INT, oneofIndex: 0 }], oneofDecl: [{ name: 'f' }] })],
      twice('file[0].messageType[0].oneofDecl[0].name', 'f'),
    ],
    [
      'a field and a nested message with the same name',
      [message({ field: [INT], nestedType: [{ name: 'f' }] })],
      twice('file[0].messageType[0].nestedType[0].name', 'f'),
    ],
    [
      'a message and an extension with the same name',
      [
        message(
          { extensionRange: [{ start: 5, end: 6 }] },
          { extension: [{ name: 'M', number: 5, type: 5, extendee: '.a.M' }] },
        ),
      ],
      twice('file[0].extension[0].name', 'M'),
    ],
    [
      'a message with the name of a well-known message',
      [
        {
          name: 'a',
          package: 'google.protobuf',
          dependency: ['google/protobuf/any.proto'],
          messageType: [{ name: 'Any' }],
        },
      ],
      twice('file[0].messageType[0].name', 'Any'),
    ],
    [
      'a message and a package with the same name',
      [message({}), { name: 'b', package: 'a.M.x' }],
      'file[1].package "a.M" is declared as something else too',
    ],
    [
      'an invalid package name',
      [{ name: 'a', package: 'a..b' }],
      'file[0].package "a..b" is not a package name',
    ],
    [
      'a message without a name',
      [{ name: 'a', messageType: [{}] }],
      'file[0].messageType[0].name is required',
    ],
    [
      'a message name with a dot',
      [{ name: 'a', messageType: [{ name: 'a.b' }] }],
      'file[0].messageType[0].name "a.b" is not an identifier',
    ],
    ['a field name with a dash', [field({ name: 'f-g' })], `${FIELD}.name "f-g" is not an identifier`],
  ])('rejects %s', (_title, files, violation) => {
    expect(violationsOf(...(files as object[]))).toContain(violation);
  });

  test('accepts the same name in different packages, messages and enums', () => {
    const enums = { enumType: [{ name: 'E', value: [{ name: 'V' }] }] };
    expect(
      violationsOf(
        message({ field: [INT], ...enums, nestedType: [{ name: 'M', field: [INT], ...enums }] }, enums),
        {
          ...message({}, enums),
          name: 'b',
          package: 'a.b',
        },
      ),
    ).toEqual([]);
  });
});
