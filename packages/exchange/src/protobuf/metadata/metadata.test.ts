import { create, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { type JsonValue, parseJson } from '@measurement-exchange/contract';
import { rounds } from '@measurement-exchange/testkit/rounds';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { stopwatch } from '../../compute/stopwatch.ts';
import { readDescriptorSet } from '../descriptor/descriptorSet.ts';
import {
  decodeMetadata,
  MAX_METADATA_BYTES,
  MAX_METADATA_JSON,
  type Metadata,
  readMetadata,
} from './metadata.ts';
import { compileSchema, type MetadataSchema } from './schema.ts';

/** The descriptor sets of the tests. The import in `beforeAll` compiles these sets. */
let sets: typeof import('@measurement-exchange/testkit/metadataSets');
beforeAll(async () => {
  sets = await import('@measurement-exchange/testkit/metadataSets');
});
const typeUrl = (type: string) => `type.googleapis.com/${type}`;

/** Compiles the schema. Each test calls this itself, so that a compiler error is reported for each test separately. */
const shows = (): MetadataSchema => compileSchema(sets.leanSet)!;

/** Returns each violation as `field description`. The list is empty if the message is accepted. */
function violationsOf(any: JsonValue, by: MetadataSchema = shows()): string[] {
  const read = readMetadata(by, any);
  return 'violations' in read ? read.violations.map((v) => `${v.field} ${v.description}`) : [];
}
const episode = (members: string) =>
  parseJson(`{"@type": "${typeUrl('shows.Episode')}"${members === '' ? '' : ','} ${members}}`);
const accepted = (any: JsonValue, by: MetadataSchema = shows()): Metadata => {
  const read = readMetadata(by, any);
  if ('violations' in read) throw new Error(JSON.stringify(read.violations));
  return read;
};

/** Compiles a schema of one file, given as JSON. */
function compiled(file: object): MetadataSchema | undefined {
  const set = readDescriptorSet({ json: { file: [file] } });
  if ('violations' in set) throw new Error(JSON.stringify(set.violations));
  return compileSchema(set.bytes);
}

const everything = episode(`
  "title": "a", "campaign": {"budget": {"micros": 9223372036854775807}, "lines": [{"id": "x"}]},
  "genres": ["GENRE_NEWS", 1, 7], "viewsByCountry": {"de": 5}, "linesByNumber": {"-3": {"id": "z"}},
  "genreByLive": {"true": "GENRE_DRAMA"}, "nobody": null, "live": false, "poster": "-_8", "rating": 1.5,
  "share": "NaN", "impressions": 18446744073709551615, "offset": -4.0e0, "markers": ["-1", 2],
  "startTime": "2026-02-03T04:05:06.123456789Z", "length": "-3.5s", "mask": "a.bC,d",
  "labels": {"x": [1, {"y": null}]}, "extra": null, "list": [1, "a"], "reach": "5", "note": "n", "nothing": {},
  "attachments": [{"@type": "a/google.protobuf.Duration", "value": "3s"}, {"@type": "a/shows.Episode", "title": "n"}],
  "airDate": {"year": 2026}`);

describe('numbers in JSON', () => {
  test.each([
    ['offset', '2147483647', true],
    ['offset', '2147483648', false],
    ['offset', '"-2147483648"', true],
    ['offset', '1e3', true],
    ['offset', '1.0', true],
    ['offset', '1.5', false],
    ['offset', '" 1"', false],
    ['offset', '""', false],
    ['offset', 'true', false],
    ['checksum', '4294967295', true],
    ['checksum', '-1', false],
    ['impressions', '18446744073709551615', true],
    ['impressions', '18446744073709551616', false],
    ['impressions', '"18446744073709551615"', true],
    // A number with an exponent must be a safe integer, and 1e18 is above Number.MAX_SAFE_INTEGER.
    ['impressions', '1e18', false],
    ['viewsByCountry', '{"a": -9223372036854775808}', true],
    ['viewsByCountry', '{"a": -9223372036854775809}', false],
    ['rating', '1e308', true],
    ['rating', '1e309', false],
    ['rating', '123456789012345678901234567890', true],
    ['rating', '"1.5"', true],
    ['rating', '"1.5x"', false],
    ['rating', '"0x10"', false],
    ['share', '3.4e38', true],
    ['share', '3.5e38', false],
    ['share', '"Infinity"', true],
    ['title', '12345678901234567890', false],
    ['title', '1.5', false],
    ['reach', '1.5', false],
    ['reach', '12345678901234567', true],
    ['genres', '[2147483648]', false],
    ['genres', '[-2147483648]', true],
    ['genres', '[-2147483649]', false],
    ['genres', '[1.0]', false],
  ])('%s: %s is accepted: %s', (field, value, isGood) => {
    expect(violationsOf(episode(`"${field}": ${value}`)).length === 0).toBe(isGood);
  });
});

describe('any message', () => {
  test('accepted from damaged bytes prints to JSON that is accepted and prints the same again', () => {
    const schema = shows();
    const tape = sets.serialize('shows.archive.Tape', {
      id: 'a',
      size: '3',
      others: ['REEL'],
      box: { shelf: 's' },
      '[shows.archive.scores]': ['1', '-1'],
    });
    const types = [
      ['shows.Episode', accepted(everything).value],
      ['shows.archive.Tape', tape],
    ] as const;
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(
        fc.constantFrom(...types),
        damage,
        fc.double({ min: 0, max: 1 }),
        ([type, good], hits, cut) => {
          const damaged = Uint8Array.from(good);
          for (const [at, byte] of hits) damaged[at % damaged.length] = byte;
          const given = cut < 0.1 ? damaged.subarray(0, Math.floor(damaged.length * cut * 10)) : damaged;
          const read = decodeMetadata(schema, typeUrl(type), given);
          if ('violations' in read) return read.violations.length > 0;
          const text = JSON.stringify({ '@type': typeUrl(type), ...read.json });
          // Skip messages with a NUL character or the key `__proto__`, because binary messages may contain them, but JSON
          // requests must not.
          if (/\\u0000|__proto__/.test(text)) return true;
          // Compare only the last part of a type URL inside an Any, because the prefix has no meaning and JSON does not
          // keep it.
          const named = (json: unknown) =>
            JSON.stringify(json, (key, value) => (key === '@type' ? value.split('/').at(-1) : value));
          return named(accepted(parseJson(text), schema).json) === named(read.json);
        },
      ),
      { numRuns: rounds(3_000) },
    );
  });

  test('as JSON of any shape is accepted or rejected, and never causes an internal error', () => {
    const schema = shows();
    const leaf = fc.constantFrom(
      'null',
      '1',
      '-1.5',
      '"x"',
      '""',
      'true',
      '"3s"',
      '"GENRE_NEWS"',
      '1e999',
      '[]',
      '{}',
    );
    const value = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('value'), { maxLength: 2 }).map((items) => `[${items.join()}]`),
        fc
          .tuple(fc.constantFrom('id', 'value', '@type', 'name', '1'), tie('value'))
          .map(([k, v]) => `{"${k}": ${v}}`),
        fc.constant(
          `{"@type": "a/google.protobuf.Any", "value": {"@type": "a/google.protobuf.Value", "value": null}}`,
        ),
      ),
    })).value;
    const names = Object.keys(everything as object).filter((name) => name !== '@type');
    const members = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), value), {
      selector: ([name]) => name,
    });
    fc.assert(
      fc.property(members, (pairs) => {
        const any = episode(pairs.map(([name, text]) => `"${name}": ${text}`).join());
        const read = readMetadata(schema, any);
        if ('json' in read)
          accepted(parseJson(JSON.stringify({ '@type': typeUrl('shows.Episode'), ...read.json })), schema);
        else expect(read.violations.length).toBeGreaterThan(0);
      }),
      { numRuns: rounds(3_000) },
    );
  });
});

describe('hostile messages', () => {
  test('are rejected if they nest deeper than 28 levels, or more than 8 Anys', () => {
    const nested = (levels: number) => {
      let text = '"id": "x"';
      for (let i = 0; i < levels; i++) text = `"parent": {${text}}`;
      return violationsOf(episode(`"line": {${text}}`));
    };
    expect(nested(20)).toEqual([]);
    expect(nested(40)).toEqual([expect.stringContaining('nests deeper than 28 levels')]);
    const within = (others: number) => {
      let any = '{"@type": "x/shows.Episode"}';
      for (let i = 0; i < others; i++) any = `{"@type": "x/google.protobuf.Any", "value": ${any}}`;
      return violationsOf(episode(`"attachments": [${any}]`));
    };
    expect(within(7)).toEqual([]);
    expect(within(8)).toEqual(['attachments[0] is an Any within 8 others']);
    expect(within(12)).toEqual(['attachments[0] is an Any within 8 others']);
  });

  test('are limited in bytes, in the number of messages, and in the size of their JSON', () => {
    const large = new Uint8Array(MAX_METADATA_BYTES + 1);
    expect(decodeMetadata(shows(), typeUrl('shows.Episode'), large)).toEqual({
      violations: [{ field: '', description: 'is larger than 1048576 bytes' }],
    });
    const empty = Uint8Array.from(Array.from({ length: 40_000 }, (_, i) => (i % 2 ? 0 : 0x12)));
    const merged = decodeMetadata(shows(), typeUrl('shows.Episode'), empty);
    expect(merged).toMatchObject({ violations: [{ description: 'has more than 10000 messages' }] });
    const packed = Buffer.concat([Uint8Array.from([0x1a, 0xa0, 0x8d, 0x06]), Buffer.alloc(100_000, 1)]);
    expect(decodeMetadata(shows(), typeUrl('shows.Episode'), packed)).toMatchObject({
      violations: [{ field: '', description: 'takes more than 1048576 bytes as JSON' }],
    });
  });

  test('are accepted with JSON of exactly the size limit, and rejected with more', () => {
    const size = (title: string) => {
      const value = sets.serialize('shows.Episode', { title });
      const read = decodeMetadata(shows(), typeUrl('shows.Episode'), value);
      return 'text' in read ? [read.value.length, Buffer.byteLength(read.text)] : read.violations.length;
    };
    const tag = 1 + 3;
    const most = MAX_METADATA_JSON - '{"title":""}'.length;
    expect(size('e'.repeat(most))).toEqual([tag + most, MAX_METADATA_JSON]);
    expect(size('é'.repeat(most / 2))).toEqual([tag + most, MAX_METADATA_JSON]);
    expect(size('e'.repeat(most + 1))).toBe(1);
    // The title alone reaches the limit, so the field `live` exceeds it.
    expect(
      violationsOf({ '@type': typeUrl('shows.Episode'), title: 'e'.repeat(most), live: true }),
    ).toHaveLength(1);
  });

  test('are limited to 10,000 messages, including those in their Anys', () => {
    const held = { '@type': typeUrl('shows.Episode'), campaign: { lines: Array(4_000).fill({}) } };
    const attachments = (count: number) => {
      const value = sets.serialize('shows.Episode', { attachments: Array(count).fill(held) });
      const read = decodeMetadata(shows(), typeUrl('shows.Episode'), value);
      return 'violations' in read ? read.violations : [];
    };
    expect(attachments(2)).toEqual([]);
    expect(attachments(3)).toEqual([
      {
        field: expect.stringMatching(/^attachments\[2\]\.campaign\.lines\[\d+\]$/),
        description: 'has more than 10000 messages',
      },
    ]);
  });

  test('are limited to 100 messages if their type has 5,000 fields', () => {
    const field = Array.from({ length: 5_000 }, (_, i) => ({
      name: `f${i}`,
      number: i + 1,
      type: 'TYPE_INT32',
    }));
    field[0] = {
      name: 'm',
      number: 1,
      type: 'TYPE_MESSAGE',
      label: 'LABEL_REPEATED',
      typeName: '.a.M',
    } as never;
    const wide = compiled({ name: 'a.proto', package: 'a', messageType: [{ name: 'M', field }] })!;
    expect(wide.limits.maxMessages).toBe(100);
    const many = Uint8Array.from(Array.from({ length: 400 }, (_, i) => (i % 2 ? 0 : 0x0a)));
    const elapsed = stopwatch();
    expect(decodeMetadata(wide, 'x/a.M', many)).toMatchObject({
      violations: [{ field: 'm[99]', description: 'has more than 100 messages' }],
    });
    expect(elapsed()).toBeLessThan(1_000);
  });

  test('have at most 20 reported violations, and long paths are truncated', () => {
    const members = Array.from({ length: 50 }, (_, i) => `"x${i}": 1`);
    expect(violationsOf(episode(members.join()))).toHaveLength(20);
    const [fault] = violationsOf(episode(`"${'y'.repeat(900)}": 1`));
    expect(fault!.length).toBeLessThan(350);
  });
});

describe('a schema', () => {
  test('is the same with and without the google files it imports', () => {
    const complete = compileSchema(sets.completeSet)!;
    const decoded = decodeMetadata(
      complete,
      typeUrl('shows.Episode'),
      accepted(everything).value,
    ) as Metadata;
    expect(decoded.json).toEqual(accepted(everything).json);
    const partly = compileSchema(sets.without(sets.completeSet, (name) => name.startsWith('google/type/')))!;
    expect(violationsOf(everything, partly)).toEqual([]);
  });

  test('uses the well-known types of the exchange, not those that the set declares under the same names', () => {
    const timestamp = {
      name: 'google/protobuf/timestamp.proto',
      package: 'google.protobuf',
      syntax: 'proto3',
      messageType: [{ name: 'Timestamp', field: [{ name: 'text', number: 1, type: 9, label: 1 }] }],
    };
    const user = {
      name: 'a.proto',
      package: 'a',
      syntax: 'proto3',
      dependency: [timestamp.name],
      messageType: [
        {
          name: 'M',
          field: [{ name: 't', number: 1, type: 11, label: 1, typeName: '.google.protobuf.Timestamp' }],
        },
      ],
    };
    const bytes = toBinary(
      FileDescriptorSetSchema,
      create(FileDescriptorSetSchema, { file: [timestamp, user] }),
    );
    const own = compileSchema(bytes)!;
    expect(violationsOf(parseJson(`{"@type": "x/a.M", "t": "2026-01-01T00:00:00Z"}`), own)).toEqual([]);
    expect(violationsOf(parseJson(`{"@type": "x/a.M", "t": {"text": "x"}}`), own)).toHaveLength(1);
  });

  test('is undefined if a file of its own declares types of google.protobuf', () => {
    const file = { name: 'evil.proto', package: 'google.protobuf', messageType: [{ name: 'Timestamp' }] };
    expect(compiled(file)).toBeUndefined();
  });

  test('has default JSON names if the compiler omitted them', () => {
    const field = [{ name: 'air_date', number: 1, type: 'TYPE_STRING' }];
    const own = compiled({ name: 'a.proto', package: 'a', messageType: [{ name: 'M', field }] })!;
    const read = readMetadata(own, parseJson(`{"@type": "x/a.M", "air_date": "x"}`)) as Metadata;
    expect(read.json).toEqual({ airDate: 'x' });
  });

  test('has default JSON names in nested messages, too', () => {
    const nestedType = [{ name: 'N', field: [{ name: 'air_date', number: 1, type: 'TYPE_STRING' }] }];
    const field = [{ name: 'n', number: 1, type: 'TYPE_MESSAGE', typeName: '.a.M.N' }];
    const own = compiled({ name: 'a.proto', package: 'a', messageType: [{ name: 'M', field, nestedType }] })!;
    const any = parseJson(`{"@type": "x/a.M", "n": {"air_date": "x"}}`);
    expect(accepted(any, own).json).toEqual({ n: { airDate: 'x' } });
  });

  test('distinguishes two oneofs with the same name in camel case', () => {
    const field = ['a', 'b'].map((name, i) => ({ name, number: i + 1, type: 'TYPE_STRING', oneofIndex: i }));
    const oneofDecl = [{ name: 'one_of' }, { name: 'oneOf' }];
    const own = compiled({ name: 'a.proto', package: 'a', messageType: [{ name: 'M', field, oneofDecl }] })!;
    expect(accepted({ '@type': 'x/a.M', a: '1', b: '2' }, own).json).toEqual({ a: '1', b: '2' });
  });

  test.each([
    ['proto2', {}, {}, true],
    ['proto3', { syntax: 'proto3' }, {}, false],
    ['an edition', { syntax: 'editions', edition: 'EDITION_2023' }, {}, false],
    [
      'an edition, with other options',
      { syntax: 'editions', edition: 'EDITION_2023', options: { deprecated: true } },
      { options: { deprecated: true } },
      false,
    ],
    [
      'an edition with the enum type CLOSED',
      { syntax: 'editions', edition: 'EDITION_2023' },
      { options: { features: { enumType: 'CLOSED' } } },
      true,
    ],
  ])('rejects unknown values of a top-level enum if it is closed: in %s', (_title, file, type, isClosed) => {
    const field = [{ name: 'e', number: 1, type: 'TYPE_ENUM', typeName: '.a.E' }];
    const enumType = [{ name: 'E', value: [{ name: 'V', number: 0 }], ...type }];
    const own = compiled({
      name: 'a.proto',
      package: 'a',
      ...file,
      enumType,
      messageType: [{ name: 'M', field }],
    })!;
    expect(violationsOf({ '@type': 'x/a.M', e: 7 }, own)).toEqual(
      isClosed ? ['e 7 is not a value of a.E'] : [],
    );
  });

  test('treats only the types of google.protobuf as well-known types', () => {
    const text = { name: 'text', number: 1, type: 'TYPE_STRING' };
    const names = ['Timestamp', 'StringValue'];
    const field = names.map((name, i) => ({
      name: `f${i}`,
      number: i + 1,
      type: 'TYPE_MESSAGE',
      typeName: `.my.google.protobuf.${name}`,
    }));
    const messageType = [{ name: 'M', field }, ...names.map((name) => ({ name, field: [text] }))];
    const own = compiled({ name: 'a.proto', package: 'my.google.protobuf', messageType })!;
    const json = { f0: { text: 'x' }, f1: { text: 'y' } };
    expect(accepted({ '@type': 'x/my.google.protobuf.M', ...json }, own).json).toEqual(json);
  });

  test('rejects a message with a field whose JSON name is @type', () => {
    const field = [{ name: 'a', number: 1, type: 'TYPE_STRING', jsonName: '@type' }];
    const own = compiled({ name: 'a.proto', package: 'a', messageType: [{ name: 'M', field }] })!;
    const read = decodeMetadata(own, 'x/a.M', Uint8Array.from([0x0a, 1, 0x62]));
    expect(read).toMatchObject({ violations: [{ field: '@type' }] });
  });
});
