/**
 * Tests which messages violate their schema, in JSON and in binary form, and that each violation names the path of its
 * field.
 */
import { type JsonObject, parseJson } from '@measurement-exchange/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { decodeMetadata, type Metadata, readMetadata, within } from './metadata.ts';
import { compileSchema } from './schema.ts';

/** The descriptor sets of the tests. The import in `beforeAll` compiles these sets. */
let sets: typeof import('@measurement-exchange/testkit/metadataSets');
beforeAll(async () => {
  sets = await import('@measurement-exchange/testkit/metadataSets');
});
const typeUrl = (type: string) => `type.googleapis.com/${type}`;

const read = (any: unknown) => readMetadata(compileSchema(sets.leanSet)!, any);
const violationsOf = (result: ReturnType<typeof read>) =>
  'violations' in result ? result.violations.map((v) => `${v.field} ${v.description}`) : [];
const violations = (type: string, members: string) =>
  violationsOf(read(parseJson(`{"@type": "${typeUrl(type)}"${members && `, ${members}`}}`)));
const ofEpisode = (members: string) => violations('shows.Episode', members);
const ofTape = (members: string) => violations('shows.archive.Tape', members);
const ofBytes = (type: string, ...bytes: number[]) =>
  violationsOf(decodeMetadata(compileSchema(sets.leanSet)!, typeUrl(type), Uint8Array.from(bytes)));

describe('JSON of a message', () => {
  test.each([
    ['"x": 1', 'x is not a known field'],
    ['"campaign": {"x": 1}', 'campaign.x is not a known field'],
    ['"campaign": {"lines": [{}, {"x": 1}]}', 'campaign.lines[1].x is not a known field'],
    ['"campaign": 7', 'campaign must be an object'],
    ['"campaign": []', 'campaign must be an object'],
    ['"campaign": {"lines": {}}', 'campaign.lines must be an array'],
    ['"campaign": {"lines": [null]}', 'campaign.lines[0] must not be null'],
    ['"genres": [0, "DRAMA"]', 'genres[1] "DRAMA" is not a value of shows.Episode.Genre'],
    ['"genres": [1.5]', 'genres[0] this is not a value of shows.Episode.Genre'],
    ['"genres": [2147483648]', 'genres[0] this is not a value of shows.Episode.Genre'],
    ['"genres": [[]]', 'genres[0] this is not a value of shows.Episode.Genre'],
    ['"viewsByCountry": []', 'viewsByCountry must be an object'],
    ['"viewsByCountry": {"de": "x"}', /^viewsByCountry\[de\] must be an integer/],
    ['"viewsByCountry": {"de": null}', 'viewsByCountry[de] must not be null'],
    ['"linesByNumber": {"x": {}}', /^linesByNumber\[x\] the key must be an integer/],
    ['"linesByNumber": {"1": {"x": 1}}', 'linesByNumber[1].x is not a known field'],
    ['"linesByNumber": {"1": {}, "1.0": {}}', 'linesByNumber[1.0] is the key of another entry too'],
    ['"genreByLive": {"yes": 1}', 'genreByLive[yes] the key is not a boolean'],
    ['"studio": "a", "line": {}', 'line excludes studio: only one of them can be set'],
    ['"nobody": null, "studio": "a"', 'studio excludes nobody: only one of them can be set'],
    ['"air_code": "a", "code": "b"', 'code is given twice, as air_code and as code'],
    ['"live": "true"', 'live must be true or false'],
    ['"poster": "?"', 'poster must be base64'],
    ['"startTime": "2026-02-30T00:00:00Z"', 'startTime is not the JSON of a google.protobuf.Timestamp'],
    ['"startTime": 7', 'startTime is not the JSON of a google.protobuf.Timestamp'],
    ['"length": "3"', 'length is not the JSON of a google.protobuf.Duration'],
    ['"length": "3sx"', 'length is not the JSON of a google.protobuf.Duration'],
    ['"length": 3', 'length is not the JSON of a google.protobuf.Duration'],
    ['"length": "999999999999s"', 'length is not the JSON of a google.protobuf.Duration'],
    ['"mask": 3', 'mask is not the JSON of a google.protobuf.FieldMask'],
    ['"labels": []', 'labels is not the JSON of a google.protobuf.Struct'],
    ['"list": {}', 'list is not the JSON of a google.protobuf.ListValue'],
    ['"reach": "x"', /^reach must be an integer/],
    ['"note": 1', 'note must be a string'],
    ['"attachments": [7]', 'attachments[0] must be an object'],
    ['"attachments": [{"title": "x"}]', 'attachments[0].@type is required'],
    ['"attachments": [{"@type": "x/y"}]', 'attachments[0].@type is not a known type'],
    ['"attachments": [{"@type": 7}]', 'attachments[0].@type is not a known type'],
    ['"attachments": [{"@type": "a/shows.Episode", "x": 1}]', 'attachments[0].x is not a known field'],
    ['"attachments": [{"@type": "a/google.protobuf.Duration"}]', 'attachments[0].value is required'],
    [
      '"attachments": [{"@type": "a/google.protobuf.Duration", "value": "3s", "x": 1}]',
      'attachments[0].x is not a known field',
    ],
    [
      '"attachments": [{"@type": "a/google.protobuf.Duration", "value": "x"}]',
      'attachments[0].value is not the JSON of a google.protobuf.Duration',
    ],
  ])('with %s is rejected', (members, violation) => {
    const expected = typeof violation === 'string' ? violation : expect.stringMatching(violation);
    expect(ofEpisode(members)).toEqual([expected]);
  });

  test.each([
    '"campaign": null, "genres": null, "viewsByCountry": null, "studio": null, "line": {}',
    '"studio": null, "line": null, "nobody": null',
    '"genres": ["GENRE_NEWS", 0, -2147483647, 2147483647]',
    '"linesByNumber": {}, "genreByLive": {"true": 1, "false": "GENRE_NEWS"}',
    '"length": "-315576000000s", "startTime": "0001-01-01T00:00:00Z", "mask": ""',
    '"labels": {}, "extra": {"a": [1.5, null]}, "list": [], "reach": 7, "note": ""',
    '"extra": 1.5, "nothing": {}, "attachments": []',
    '"attachments": [{}, {"@type": "a/google.protobuf.Value", "value": null}]',
    '"start_time": "2026-01-01T00:00:00Z", "views_by_country": {}, "air_code": "x"',
  ])('with %s is accepted', (members) => {
    expect(ofEpisode(members)).toEqual([]);
  });

  test('is rejected without a required field', () => {
    expect(ofTape('')).toEqual(['id is required', 'size is required']);
    expect(ofTape('"id": null, "size": 1')).toEqual(['id is required']);
    expect(ofTape('"id": "a", "size": 1, "box": {}')).toEqual(['box.shelf is required']);
    expect(violations('shows.stream.Stream', '"parent": {"id": "x"}')).toEqual(['id is required']);
    expect(violations('shows.stream.Stream', '"id": "x"')).toEqual([]);
  });

  test('may contain only declared values of a closed enum, but any number of an open enum', () => {
    const tape = (members: string) => ofTape(`"id": "a", "size": 1, ${members}`);
    expect(tape('"format": 2, "others": [1, "REEL"]')).toEqual([]);
    expect(tape('"others": [3]')).toEqual(['others[0] 3 is not a value of shows.archive.Tape.Format']);
    expect(tape('"[shows.archive.copy]": 3')).toEqual([
      '[shows.archive.copy] 3 is not a value of shows.archive.Tape.Format',
    ]);
    expect(violations('shows.stream.Stream', '"id": "x", "kind": 2, "mode": 2')).toEqual([
      'kind 2 is not a value of shows.stream.Stream.Kind',
    ]);
  });

  test('is rejected with an extension under its short name', () => {
    expect(ofTape('"id": "a", "size": 1, "copy": 1')).toEqual(['copy is not a known field']);
  });

  test('keeps null and numbers in fields that accept any JSON', () => {
    const members = '"extra": null, "labels": {"big": 12345678901234567890, "part": 1.5, "none": null}';
    const { json } = read(parseJson(`{"@type": "x/shows.Episode", ${members}}`)) as Metadata;
    expect(json).toEqual({ extra: null, labels: { big: 12345678901234567000, part: 1.5, none: null } });
  });

  test('is read under either name of a field, even if two fields share a property', () => {
    const any = `{"@type": "x/shows.archive.Tape", "id": "a", "size": 1, "side_a": "1", "second": "2"}`;
    const { json, typeUrl, text } = read(parseJson(any)) as Metadata;
    expect(json).toEqual({ id: 'a', size: '1', first: '1', second: '2' });
    expect(typeUrl).toBe('x/shows.archive.Tape');
    expect(JSON.parse(text)).toEqual(json);
  });
});

describe('bytes of a message', () => {
  test('are rejected without a required field or with an undeclared value of a closed enum', () => {
    expect(ofBytes('shows.archive.Tape')).toEqual([' lacks the required id']);
    const tape = [0x0a, 1, 0x61, 0x10, 1];
    expect(ofBytes('shows.archive.Tape', ...tape)).toEqual([]);
    expect(ofBytes('shows.archive.Tape', ...tape, 0x18, 3)).toEqual([
      'format 3 is not a value of shows.archive.Tape.Format',
    ]);
    expect(ofBytes('shows.archive.Tape', ...tape, 0x20, 1, 0x20, 3)).toEqual([
      'others[1] 3 is not a value of shows.archive.Tape.Format',
    ]);
    expect(ofBytes('shows.archive.Tape', ...tape, 0x2a, 5, 0x0a, 1, 0x62, 0x10, 3)).toEqual([
      'byPlace[b] 3 is not a value of shows.archive.Tape.Format',
    ]);
  });

  test('are rejected with an unknown field', () => {
    // The bytes encode field 1000 with value 1.
    expect(ofBytes('shows.Episode', 0xc0, 0x3e, 1)).toHaveLength(1);
  });

  test('of an unknown type are rejected', () => {
    expect(ofBytes('shows.Nothing')).toEqual(['typeUrl is not a message that the descriptor defines']);
  });

  test('are rejected if they cannot be printed as JSON', () => {
    // The bytes encode start_time (30) { seconds: 2 ** 40 }.
    const late = [0xf2, 0x01, 7, 0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20];
    expect(ofBytes('shows.Episode', ...late)).toEqual([
      'startTime is a google.protobuf.Timestamp that JSON has no form for',
    ]);
  });

  test('within an Any must be valid and of a known type', () => {
    const any = (url: string, ...value: number[]) => {
      const inner = [0x0a, url.length, ...Buffer.from(url), 0x12, value.length, ...value];
      return ofBytes('shows.Episode', 0xba, 0x02, inner.length, ...inner);
    };
    expect(any('x/y')).toEqual(['attachments[0].@type is not a known type']);
    expect(any('', 1)).toEqual(['attachments[0].@type is not a known type']);
    expect(any('')).toEqual([]);
    expect(any('x/shows.archive.Tape', 0x0a)).toEqual([expect.stringMatching(/^attachments\[0\]\.id /)]);
    expect(any('x/shows.archive.Tape', 0x0a, 1, 0x61, 0x10, 1, 0x18, 3)).toEqual([
      'attachments[0].format 3 is not a value of shows.archive.Tape.Format',
    ]);
  });

  test('are returned byte for byte, together with their JSON', () => {
    const value = sets.serialize('shows.Episode', { title: 'a' });
    const decoded = decodeMetadata(compileSchema(sets.leanSet)!, typeUrl('shows.Episode'), value) as Metadata;
    expect(decoded).toEqual({
      typeUrl: typeUrl('shows.Episode'),
      value,
      json: { title: 'a' },
      text: '{"title":"a"}',
    });
  });
});

describe('the Any around a message', () => {
  /** The message { title: 'a' } in base64. */
  const value = 'CgFh';
  const NO_TYPE = 'is not a message that the descriptor defines';

  test.each<[unknown, string[]]>([
    [undefined, [' must be an object with @type, or with typeUrl and value']],
    [null, [' must be an object with @type, or with typeUrl and value']],
    [[], [' must be an object with @type, or with typeUrl and value']],
    ['x', [' must be an object with @type, or with typeUrl and value']],
    [{}, ['typeUrl is required', 'value is required']],
    [{ typeUrl: 7, value: 7 }, ['typeUrl must be a string', 'value must be base64']],
    [{ typeUrl: 'a/shows.Episode', value: '?' }, ['value must be base64']],
    [{ typeUrl: 'a/shows.Episode', value, x: 1 }, ['x is not a known field']],
    [{ typeUrl: 'shows.Episode', value }, [`typeUrl ${NO_TYPE}`]],
    [{ typeUrl: 'a/shows.Nothing', value }, [`typeUrl ${NO_TYPE}`]],
    [{ typeUrl: 'a/google.protobuf.Duration', value: '' }, [`typeUrl ${NO_TYPE}`]],
    [{ typeUrl: `${'a'.repeat(500)}/shows.Episode`, value }, [`typeUrl ${NO_TYPE}`]],
    [{ typeUrl: `${'a'.repeat(498)}/shows.Episode`, value }, []],
    [{ type_url: 'a/b/shows.Episode', value }, []],
    [{ typeUrl: '/shows.Episode', value: '' }, []],
    [{ '@type': 'a/shows.Nothing' }, [`@type ${NO_TYPE}`]],
    [{ '@type': 7 }, [`@type ${NO_TYPE}`]],
    [{ '@type': null }, [`@type ${NO_TYPE}`]],
    [{ '@type': 'a/google.type.Date' }, [`@type ${NO_TYPE}`]],
  ])('is checked for a known type and a valid value: %j', (any, expected) => {
    expect(violationsOf(read(any))).toEqual(expected);
  });

  test('is rejected before its fields are checked if it nests too deeply', () => {
    let deep: JsonObject = {};
    for (let i = 0; i < 60; i++) deep = { parent: deep };
    expect(violationsOf(read({ '@type': 'a/shows.Episode', nobody: 1, line: deep }))).toEqual([
      ' has too many elements, or nests them too deep',
    ]);
  });

  test('adds the name of its field to the paths of violations', () => {
    const violations = [
      { field: '', description: 'is wrong' },
      { field: 'a', description: 'is wrong' },
    ];
    expect(within('metadata', violations).map((v) => v.field)).toEqual(['metadata', 'metadata.a']);
  });
});
