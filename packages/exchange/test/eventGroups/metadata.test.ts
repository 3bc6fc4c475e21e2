import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { JsonValue } from '@bufbuild/protobuf';
import { type DevParty, type Reply, useExchange } from '@measurement-exchange/testkit/exchange';
import { completeSet, leanSet, serialize, typeUrl } from '@measurement-exchange/testkit/metadataSets';
import { castOf, errorOf, get, metadata, ok, post, stored } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';
import { collection, eventGroupSteps, INVALID, idOf, opaque } from './steps.ts';

let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;
let steps: ReturnType<typeof eventGroupSteps>;
/**
 * Names of registered descriptors. The descriptor set of `complete` contains the imported files below `google/`. The
 * descriptor set of `lean` omits these files. The descriptor set of `ads` has the schemas of test/descriptors/protos.
 */
let complete: string;
let lean: string;
let ads: string;

const exchange = useExchange();
beforeAll(async () => {
  ({ acme, globex, streamly } = castOf(exchange));
  steps = eventGroupSteps(exchange);
  complete = await steps.register(streamly, completeSet);
  lean = await steps.register(streamly, leanSet);
  const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const flags = ['--as-file-descriptor-set', '-o', '-#format=binpb'];
  const compiled = execFileSync(path('../../../../node_modules/.bin/buf'), [
    'build',
    path('../descriptors/protos'),
    ...flags,
  ]);
  ads = await steps.register(streamly, compiled);
});

const AT = 'encryptedMetadata.metadata.metadata';
const send = (any: unknown, descriptor = lean) => {
  const metadata = { eventGroupMetadataDescriptor: descriptor, metadata: any };
  return steps.send({ measurementConsumer: acme.name, encryptedMetadata: { metadata } });
};
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const bytesOf = async ({ name }: { name: string }): Promise<Uint8Array> => {
  const [row] = await exchange.database.query(
    'SELECT metadata_value AS value FROM event_groups WHERE id = $1',
    [idOf({ name })],
  );
  return Uint8Array.from(row!.value as Buffer);
};

/** Titles of tests, each with a message as proto3 JSON prints it. */
const EPISODES: [string, { [field: string]: JsonValue }][] = [
  ['no fields', {}],
  ['text', { title: 'Grüße 🎬' }],
  [
    'nested messages',
    { campaign: { name: 'c', budget: { currency: 'EUR', micros: '-9223372036854775808' } } },
  ],
  ['a list of recursive messages', { campaign: { lines: [{ id: 'a', parent: { id: 'b' } }, {}] } }],
  ['a list of enum values, one of them unknown', { genres: ['GENRE_NEWS', 'GENRE_UNSPECIFIED', 9] }],
  ['a map of integers', { viewsByCountry: { de: '1', '': '-2', constructor: '3' } }],
  ['a map of messages by number', { linesByNumber: { '-7': { id: 'a' }, '0': {} } }],
  ['a map of enum values by boolean', { genreByLive: { false: 'GENRE_DRAMA', true: 'GENRE_NEWS' } }],
  ['a oneof that holds text', { studio: '' }],
  ['a oneof that holds a message', { line: {} }],
  ['a oneof that holds null', { nobody: null }],
  ['an optional field that is false', { live: false }],
  ['bytes and numbers', { poster: '+/8=', rating: 1e300, share: 0.25, impressions: '18446744073709551615' }],
  [
    'numbers at their bounds',
    { offset: -2147483648, checksum: 4294967295, markers: ['9223372036854775807'] },
  ],
  ['NaN and infinity', { rating: 'NaN', share: '-Infinity' }],
  ['a field with a custom JSON name', { code: 'x' }],
  [
    'times',
    { startTime: '2026-02-28T23:59:59.123456789Z', length: '-3.500s', airDate: { year: 2026, month: 2 } },
  ],
  ['Struct and Value fields', { labels: { a: [1, null, { b: 'c' }] }, extra: false, list: ['x', 2.5] }],
  [
    'wrapped values',
    { reach: '0', note: '', nothing: {}, mask: 'campaign.name,startTime', price: { units: '3' } },
  ],
  [
    'Any messages',
    {
      attachments: [
        { '@type': typeUrl('shows.Episode.Campaign.Line'), id: 'a' },
        { '@type': typeUrl('google.protobuf.Duration'), value: '3s' },
        { '@type': typeUrl('google.type.Money'), currencyCode: 'EUR' },
        { '@type': typeUrl('google.protobuf.Any'), value: { '@type': typeUrl('shows.Episode'), title: 'b' } },
      ],
    },
  ],
];
const OTHERS: [string, string, { [field: string]: JsonValue }][] = [
  [
    'proto2, with a group and extensions',
    'shows.archive.Tape',
    {
      id: '',
      size: '0',
      format: 'CASSETTE',
      byPlace: { a: 'REEL' },
      box: { shelf: 's' },
      '[shows.archive.scores]': ['-1', '2'],
      '[shows.archive.Restoration.restoration]': { studio: 'x' },
      '[shows.archive.copy]': 'REEL',
    },
  ],
  ['editions', 'shows.stream.Stream', { id: 'a', parent: { id: 'b' }, kind: 'LIVE', mode: 7 }],
  ['a nested type', 'shows.Episode.Campaign.Budget', { currency: 'EUR' }],
];
const GOOD = [...EPISODES.map(([title, json]) => [title, 'shows.Episode', json] as const), ...OTHERS];

describe('metadata that matches its descriptor', () => {
  it.each(GOOD)('with %s is accepted as JSON, and printed the same', async (_title, type, json) => {
    const any = { '@type': typeUrl(type), ...json };
    const created = await ok(send(any));
    expect(created.encryptedMetadata).toEqual({
      metadata: { eventGroupMetadataDescriptor: lean, metadata: any },
    });
    const read = await get(exchange, acme, `${collection(acme)}/${idOf(created)}`);
    expect(read.encryptedMetadata).toEqual(created.encryptedMetadata);
    expect(await bytesOf(created)).toEqual(serialize(type, json));
    const decoded = await ok(exchange.call(acme.token, 'GET', `/v2alpha/${read.name}:decode`));
    expect(decoded).toEqual({ typeUrl: typeUrl(type), message: json });
  });

  it.each(GOOD)(
    'with %s is accepted as bytes, stored unchanged, and printed as JSON',
    async (_title, type, json) => {
      const value = base64(serialize(type, json));
      const created = await ok(send({ typeUrl: typeUrl(type), value }, complete));
      expect(created.encryptedMetadata.metadata.metadata).toEqual({ '@type': typeUrl(type), ...json });
      expect(base64(await bytesOf(created))).toBe(value);
      const path = `${lean}:decode`;
      const body = { typeUrl: typeUrl(type), value };
      expect(await ok(post(exchange, acme, path, body))).toEqual({ typeUrl: typeUrl(type), message: json });
    },
  );

  it('is stored unchanged even if the bytes are not in canonical form', async () => {
    // The bytes contain the title twice, and the last title wins. They also contain a field with the value zero, which
    // JSON omits because zero is the default.
    const value = base64(Uint8Array.from([0x0a, 1, 0x61, 0x78, 0, 0x0a, 1, 0x62]));
    const created = await ok(send({ type_url: typeUrl('shows.Episode'), value }));
    expect(created.encryptedMetadata.metadata.metadata).toEqual({
      '@type': typeUrl('shows.Episode'),
      title: 'b',
    });
    expect(base64(await bytesOf(created))).toBe(value);
  });

  it('keeps fields distinct whose names become the same property name', async () => {
    const any = { '@type': typeUrl('shows.archive.Tape'), id: 'i', size: '1', first: 'a', second: 'b' };
    const created = await ok(send(any));
    expect(created.encryptedMetadata.metadata.metadata).toEqual(any);
    expect([...(await bytesOf(created))]).toEqual([0x0a, 1, 0x69, 0x10, 1, 0x3a, 1, 0x61, 0x42, 1, 0x62]);
  });

  it('is accepted in alternative forms of proto3 JSON, and printed in the canonical form', async () => {
    const any = {
      '@type': 'example.com/types/shows.Episode',
      start_time: '2026-01-01T01:00:00+01:00',
      views_by_country: { de: 5 },
      impressions: 18446744073709551615n,
      offset: '-3',
      checksum: 1.0e1,
      genres: [1],
      poster: '-_8',
      campaign: null,
      rating: '2.5',
    };
    const created = await ok(send(any));
    expect(created.encryptedMetadata.metadata.metadata).toEqual({
      '@type': 'example.com/types/shows.Episode',
      startTime: '2026-01-01T00:00:00Z',
      viewsByCountry: { de: '5' },
      impressions: '18446744073709551615',
      offset: -3,
      checksum: 10,
      genres: ['GENRE_DRAMA'],
      poster: '+/8=',
      rating: 2.5,
    });
  });

  it('can have any type of its own descriptor, but no type of another descriptor', async () => {
    const campaign = {
      '@type': typeUrl('ads.metadata.Campaign'),
      name: 'n',
      linesById: { a: { id: 'b', parent: {} } },
      kinds: ['KIND_VIDEO'],
      fixed: { currency: 'EUR', micros: '5' },
    };
    const spot = {
      '@type': typeUrl('ads.legacy.Spot'),
      length: 3,
      placement: 'POST_ROLL',
      '[ads.legacy.scores]': ['1'],
    };
    const event = { '@type': typeUrl('ads.modern.Event'), id: 'a', parent: { id: 'b' } };
    for (const any of [campaign, spot, event]) {
      expect((await ok(send(any, ads))).encryptedMetadata.metadata.metadata).toEqual(any);
    }
    expect(errorOf(await send({ '@type': typeUrl('shows.Episode') }, ads))).toBe(`${INVALID} ${AT}.@type`);
  });
});

const episode = (fields: object) => ({ '@type': typeUrl('shows.Episode'), ...fields });
const tape = (fields: object) => ({ '@type': typeUrl('shows.archive.Tape'), id: 'a', size: 1, ...fields });
const raw = (type: string, ...bytes: number[]) => ({
  typeUrl: typeUrl(type),
  value: base64(Uint8Array.from(bytes)),
});
const inEpisode = (...bytes: number[]) => raw('shows.Episode', ...bytes);

/**
 * Each test has a title, the metadata to send, and the paths that the error must name. Each path leads from the message
 * to a field, and spaces separate the paths. An empty string means that the error must name the message itself.
 */
const BAD: [string, unknown, string][] = [
  ['an unknown member', episode({ titel: 'x' }), '.titel'],
  [
    'a nested member of the wrong type',
    episode({ campaign: { budget: { currency: 3 } } }),
    '.campaign.budget.currency',
  ],
  ['a long integer for text', episode({ title: 12345678901234567890n }), '.title'],
  ['a list item of the wrong type', episode({ campaign: { lines: [{}, 'x'] } }), '.campaign.lines[1]'],
  ['an unknown enum value', episode({ genres: ['GENRE_NEWS', 'GENRE_POETRY'] }), '.genres[1]'],
  ['a map key that is not a number', episode({ linesByNumber: { x: {} } }), '.linesByNumber[x]'],
  ['a map value of the wrong type', episode({ viewsByCountry: { de: true } }), '.viewsByCountry[de]'],
  ['two members of a oneof', episode({ studio: 'x', line: {} }), '.line'],
  ['one member in both spellings', episode({ startTime: null, start_time: null }), '.start_time'],
  ['an integer out of range', episode({ offset: 2147483648, impressions: -1 }), '.offset .impressions'],
  ['a fraction for an integer', episode({ offset: 1.5 }), '.offset'],
  ['a float out of range', episode({ share: 1e39 }), '.share'],
  ['text that is not base64', episode({ poster: '***' }), '.poster'],
  ['null in a list', episode({ genres: [null] }), '.genres[0]'],
  ['the date 30 February', episode({ startTime: '2026-02-30T00:00:00Z' }), '.startTime'],
  ['a duration with trailing text', episode({ length: '3s later' }), '.length'],
  [
    'an attachment of an unknown type',
    episode({ attachments: [{ '@type': 'x/y.Z' }] }),
    '.attachments[0].@type',
  ],
  [
    'an attachment that does not match its type',
    episode({ attachments: [{ '@type': typeUrl('shows.Episode'), campaign: { nam: 'x' } }] }),
    '.attachments[0].campaign.nam',
  ],
  [
    'a missing required field',
    { '@type': typeUrl('shows.archive.Tape'), id: 'a', box: {} },
    '.box.shelf .size',
  ],
  [
    'an unknown value of a closed enum',
    tape({ format: 3, '[shows.archive.copy]': 'NO' }),
    '.format .[shows.archive.copy]',
  ],
  ['an extension of another type', tape({ '[shows.archive.nothing]': 1 }), '.[shows.archive.nothing]'],
  ['a type that is not in the descriptor', { '@type': typeUrl('shows.Film') }, '.@type'],
  ['a well-known type', { '@type': typeUrl('google.protobuf.Duration'), value: '3s' }, '.@type'],
  ['a type without a slash', { '@type': 'shows.Episode' }, '.@type'],
  ['no type', { title: 'x' }, '.title .typeUrl .value'],
  ['a value that is not an object', 'x', ''],

  ['bytes with an unknown field', inEpisode(0xf8, 0x3f, 1), ''],
  ['bytes with an unknown nested field', inEpisode(0x12, 4, 0x12, 2, 0x18, 1), '.campaign.budget'],
  ['bytes of a map entry with a third field', inEpisode(0x22, 4, 0x10, 1, 0x18, 1), '.viewsByCountry[0]'],
  ['bytes with a wrong wire type', inEpisode(0x08, 1), '.title'],
  ['bytes that are truncated', inEpisode(0x12, 5, 0x0a), '.campaign'],
  ['bytes that are not UTF-8', inEpisode(0x12, 3, 0x0a, 1, 0xff), '.campaign.name'],
  ['bytes with an unterminated group', raw('shows.archive.Tape', 0x0a, 0, 0x10, 0, 0x33, 0x0a, 0), '.box'],
  ['bytes without a required field', raw('shows.archive.Tape', 0x0a, 0), '.size'],
  [
    'bytes with an unknown value of a closed enum',
    raw('shows.archive.Tape', 0x0a, 0, 0x10, 0, 0x20, 9),
    '.others[0]',
  ],
  [
    'bytes of a time in the year 10000',
    inEpisode(0xf2, 1, 7, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
    '.startTime',
  ],
  ['bytes of a Value without a kind', inEpisode(0x92, 2, 0), '.extra'],
  [
    'bytes of an attachment of an unknown type',
    inEpisode(0xba, 2, 5, 0x0a, 3, 0x78, 0x2f, 0x79),
    '.attachments[0].@type',
  ],
  [
    'bytes of an attachment with an unknown field',
    inEpisode(0xba, 2, 21, 0x0a, 15, ...Buffer.from('x/shows.Episode'), 0x12, 2, 0x18 | 0xa0, 0x01),
    '.attachments[0]',
  ],
  ['no bytes', { typeUrl: typeUrl('shows.Episode') }, '.value'],
];

describe('metadata that does not match its descriptor', () => {
  it.each(BAD)('is rejected for %s, with the path of the field', async (_title, any, fields) => {
    const reply = await send(any);
    expect(reply.json.error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
    const expected = fields === '' ? [AT] : fields.split(' ').map((field) => AT + field);
    expect(errorOf(reply).split(' ').slice(3)).toEqual(expected);
  });

  it('stores nothing', async () => {
    const before = await stored(exchange);
    for (const [, any] of BAD) await send(any);
    expect(await stored(exchange)).toEqual(before);
  });

  it('is rejected by :decode with the same fields', async () => {
    for (const [, any, fields] of BAD) {
      const { typeUrl, value } = any as { typeUrl?: string; value?: string };
      if (typeUrl === undefined || value === undefined) continue;
      const reply = await post(exchange, acme, `${lean}:decode`, { typeUrl, value });
      expect(errorOf(reply).split(' ').slice(3)).toEqual([`value${fields}`]);
    }
  });
});

describe('decoding', () => {
  const decode = (party: DevParty, name: string, body: unknown): Promise<Reply> =>
    post(exchange, party, `${name}:decode`, body);
  const message = {
    typeUrl: typeUrl('shows.Episode'),
    value: base64(serialize('shows.Episode', { title: 'a' })),
  };

  it('is allowed for consumers and for the provider of the descriptor, and denied to another provider', async () => {
    const expected = { typeUrl: message.typeUrl, message: { title: 'a' } };
    for (const party of [acme, globex, streamly])
      expect(await ok(decode(party, lean, message))).toEqual(expected);
    const { chirper } = castOf(exchange);
    expect(errorOf(await decode(chirper, lean, message))).toBe('403 PERMISSION_DENIED PERMISSION_DENIED');
  });

  it('names a missing descriptor, an unknown type, or a missing value', async () => {
    const absent = `${lean}x`;
    const reply = await decode(acme, absent, message);
    expect(errorOf(reply)).toBe('404 NOT_FOUND EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND');
    expect(metadata(reply)).toEqual({ eventGroupMetadataDescriptor: absent });
    expect(errorOf(await decode(acme, lean, { ...message, typeUrl: 'x/shows.Film' }))).toBe(
      `${INVALID} typeUrl`,
    );
    expect(errorOf(await decode(acme, lean, { typeUrl: 'x' }))).toBe(
      '400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET value',
    );
    expect((await ok(decode(acme, lean, { ...message, value: '' }))).message).toEqual({});
  });

  it('of an event group is allowed only for its two parties, and requires readable metadata', async () => {
    const group = await ok(send({ '@type': typeUrl('shows.Episode'), title: 'a' }));
    const expected = { typeUrl: typeUrl('shows.Episode'), message: { title: 'a' } };
    const of = (name: string, party: DevParty) =>
      exchange.call(party.token, 'GET', `/v2alpha/${name}:decode`);
    const asAcme = `${collection(acme)}/${idOf(group)}`;
    expect(await ok(of(group.name, streamly))).toEqual(expected);
    expect(await ok(of(asAcme, acme))).toEqual(expected);
    expect(errorOf(await of(asAcme, globex))).toBe('403 PERMISSION_DENIED PERMISSION_DENIED');
    expect(errorOf(await of(`${collection(globex)}/${idOf(group)}`, globex))).toBe(
      '404 NOT_FOUND EVENT_GROUP_NOT_FOUND',
    );
    expect(errorOf(await of(`${group.name}x`, streamly))).toBe('404 NOT_FOUND EVENT_GROUP_NOT_FOUND');

    const NOT_READABLE = '400 FAILED_PRECONDITION METADATA_NOT_READABLE';
    const without = await steps.make();
    const encrypted = await steps.make(opaque);
    await ok(steps.drop(group.name));
    for (const { name } of [without, encrypted, group])
      expect(errorOf(await of(name, streamly))).toBe(NOT_READABLE);
  });
});
