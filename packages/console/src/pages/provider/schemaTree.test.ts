import { expect, it } from 'vitest';
import { messagesOf, readDescriptorSet } from './schemaTree.ts';

const SET = {
  file: [
    { name: 'google/protobuf/any.proto', package: 'google.protobuf', messageType: [{ name: 'Any' }] },
    {
      name: 'shows.proto',
      package: 'shows',
      enumType: [{ name: 'Genre', value: [{ name: 'NEWS' }, { name: 'SPORT' }] }],
      messageType: [
        {
          name: 'Episode',
          field: [
            { name: 'title', number: 1, type: 'TYPE_STRING', label: 'LABEL_OPTIONAL' },
            {
              name: 'genres',
              number: 2,
              type: 'TYPE_ENUM',
              typeName: '.shows.Genre',
              label: 'LABEL_REPEATED',
            },
          ],
          nestedType: [{ name: 'Cut' }],
        },
      ],
    },
  ],
};

it('messagesOf lists messages followed by their nested messages, with enum values', () => {
  expect(messagesOf({ descriptorSet: SET })).toEqual([
    {
      name: 'shows.Episode',
      file: 'shows.proto',
      fields: [
        { name: 'title', number: 1, type: 'string', repeated: false },
        { name: 'genres', number: 2, type: 'shows.Genre', repeated: true, values: ['NEWS', 'SPORT'] },
      ],
    },
    { name: 'shows.Episode.Cut', file: 'shows.proto', fields: [] },
  ]);
  expect(messagesOf({ descriptorSet: {} })).toEqual([]);
});

it('readDescriptorSet parses JSON, returns other bytes as base64, and rejects an empty file', async () => {
  expect(await readDescriptorSet(new Blob([' {"file": []}']))).toEqual({ file: [] });
  expect(await readDescriptorSet(new Blob([new Uint8Array([10, 2])]))).toBe('CgI=');
  expect(await readDescriptorSet(new Blob([new Uint8Array([10, 123, 10, 1])]))).toBe('CnsKAQ==');
  expect(await readDescriptorSet(new Blob(['\n{"file": []}']))).toEqual({ file: [] });
  await expect(readDescriptorSet(new Blob(['{"file": ']))).rejects.toThrow(SyntaxError);
  await expect(readDescriptorSet(new Blob([]))).rejects.toThrow('The file is empty.');
});
