import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type DevParty, type Reply, useExchange } from '@measurement-exchange/testkit/exchange';
import { castOf, errorOf, get, metadata, ok, post, stored } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

/** Compiles the files in protos/. */
function compile(...flags: string[]): Buffer {
  const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const buf = path('../../../../node_modules/.bin/buf');
  return execFileSync(buf, ['build', path('protos'), '--as-file-descriptor-set', ...flags]);
}
const complete = compile('-o', '-#format=binpb');
const withoutImports = compile('--exclude-imports', '-o', '-#format=binpb');
const compiledJson = JSON.parse(compile('--exclude-imports', '-o', '-#format=json').toString('utf8'));

const file = (name: string, more: object = {}) => ({
  name: `${name}.proto`,
  package: name,
  messageType: [{ name: 'M' }],
  ...more,
});
const setOf = (name: string, more: object = {}) => ({ file: [file(name, more)] });

let acme: DevParty;
let streamly: DevParty;
let chirper: DevParty;
let dailynews: DevParty;

const exchange = useExchange();
beforeAll(() => {
  ({ acme, streamly, chirper, dailynews } = castOf(exchange));
});

const parentOf = (provider: DevParty) => `${provider.name}/eventGroupMetadataDescriptors`;
const send = (body: unknown, query = '', provider = streamly) =>
  post(exchange, provider, `${parentOf(provider)}${query}`, body);
const register = async (name: string, provider = streamly): Promise<string> =>
  (await ok(send({ descriptorSet: setOf(name) }, '', provider))).name;
const base64Of = async (name: string) => get(exchange, streamly, `${name}?descriptorSetEncoding=BASE64`);

describe('registering a descriptor', () => {
  it('returns the descriptor under an assigned name, and ignores a name in the request', async () => {
    const descriptorSet = setOf('a');
    const created = await ok(send({ name: `${parentOf(streamly)}/mine`, descriptorSet }));
    expect(created).toEqual({
      name: expect.stringMatching(
        /^dataProviders\/streamly\/eventGroupMetadataDescriptors\/[a-z][a-z0-9]{12,62}$/,
      ),
      descriptorSet,
    });
    expect(created.name).not.toContain('mine');
    expect(await get(exchange, streamly, created.name)).toEqual(created);
    // Consumers are allowed to read the descriptor, too, because they need it to read metadata.
    expect(await get(exchange, acme, created.name)).toEqual(created);
  });

  it('accepts the wrapped request message, but only with the parent of the path', async () => {
    const wrapped = { parent: streamly.name, eventGroupMetadataDescriptor: { descriptorSet: setOf('a') } };
    expect(await ok(send(wrapped))).toMatchObject({ descriptorSet: setOf('a') });
    expect(errorOf(await send({ ...wrapped, parent: chirper.name }))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE parent',
    );
  });

  it.each([
    ['with', complete],
    ['without', withoutImports],
  ])(
    'accepts the output of a compiler %s the well-known files, and returns the same bytes',
    async (_title, bytes) => {
      const standard = bytes.toString('base64');
      for (const descriptorSet of [standard, bytes.toString('base64url')]) {
        const { name } = await ok(send({ descriptorSet }));
        expect(await base64Of(name)).toEqual({ name, descriptorSet: standard });
      }
      const reply = await ok(send({ descriptorSet: standard }, '?descriptorSetEncoding=BASE64'));
      expect(reply.descriptorSet).toBe(standard);
    },
  );

  it('prints custom options like the compiler, and accepts them in that form', async () => {
    const { name, descriptorSet } = await ok(send({ descriptorSet: withoutImports.toString('base64') }));
    expect(descriptorSet).toEqual(compiledJson);
    expect(JSON.stringify(descriptorSet)).toContain('"[ads.sensitivity]":"PERSONAL"');
    expect(await get(exchange, acme, name)).toEqual({ name, descriptorSet });
    const again = await ok(send({ descriptorSet }));
    expect(again.descriptorSet).toEqual(compiledJson);
    expect((await base64Of(again.name)).descriptorSet).toBe(withoutImports.toString('base64'));
  });

  it('writes an audit entry with the principal and the request ID', async () => {
    const reply = await send({ descriptorSet: setOf('a') });
    const { name } = await ok(reply);
    const updated = await exchange.call(streamly.token, 'PUT', `/v2alpha/${name}`, {
      descriptorSet: setOf('b'),
    });
    const entries = await exchange.database.query(
      'SELECT principal, operation, version, request_id FROM audit_entries WHERE name = $1 ORDER BY seq',
      [name],
    );
    expect(entries).toEqual([
      {
        principal: streamly.name,
        operation: 'createEventGroupMetadataDescriptor',
        version: 1,
        request_id: reply.headers.get('x-request-id'),
      },
      {
        principal: streamly.name,
        operation: 'updateEventGroupMetadataDescriptor',
        version: 2,
        request_id: updated.headers.get('x-request-id'),
      },
    ]);
  });
});

describe('a descriptor set', () => {
  const M = { name: 'M' };
  const broken: [string, unknown, string][] = [
    ['is missing', undefined, 'descriptorSet'],
    ['is null', null, 'descriptorSet'],
    ['is an empty object', {}, 'descriptorSet.file'],
    ['has no files', { file: [] }, 'descriptorSet.file'],
    ['is an empty string', '', 'descriptorSet.file'],
    ['is not base64', '***', 'descriptorSet'],
    ['is a number', 7, 'descriptorSet'],
    ['is a list', [], 'descriptorSet'],
    ['has an unknown member', setOf('a', { nmae: 'x' }), 'descriptorSet.file[0].nmae'],
    ['lacks an import', setOf('a', { dependency: ['b.proto'] }), 'descriptorSet.file[0].dependency[0]'],
    [
      'defines a symbol twice',
      setOf('a', { messageType: [M, M] }),
      'descriptorSet.file[0].messageType[1].name',
    ],
    [
      'defines a symbol in two files',
      { file: [file('a'), file('a', { name: 'other.proto' })] },
      'descriptorSet.file[1].messageType[0].name',
    ],
    ['contains a file twice', { file: [file('a'), file('a')] }, 'descriptorSet.file[1].name'],
    [
      'uses an undefined type',
      setOf('a', {
        messageType: [{ ...M, field: [{ name: 'f', number: 1, type: 'TYPE_MESSAGE', typeName: '.b.M' }] }],
      }),
      'descriptorSet.file[0].messageType[0].field[0].typeName',
    ],
  ];

  it.each(broken)('that %s is rejected with its field', async (_title, descriptorSet, field) => {
    const before = await stored(exchange);
    const reply = await send({ descriptorSet });
    expect(errorOf(reply)).toMatch(
      /^400 INVALID_ARGUMENT (?:INVALID_FIELD_VALUE|REQUIRED_FIELD_NOT_SET) \S+$/,
    );
    expect(errorOf(reply).split(' ')[3]).toBe(field);
    expect(await stored(exchange)).toEqual(before);
  });

  it('that is truncated is rejected', async () => {
    for (const length of [1, complete.length / 2, complete.length - 1]) {
      const descriptorSet = complete.subarray(0, length).toString('base64');
      expect(errorOf(await send({ descriptorSet }))).toMatch(
        /^400 INVALID_ARGUMENT INVALID_FIELD_VALUE descriptorSet/,
      );
    }
  });

  it('above 1 MiB is rejected, as JSON and as bytes', async () => {
    const comment = { sourceCodeInfo: { location: [{ leadingComments: ' '.repeat(1024 * 1024) }] } };
    const large = '400 INVALID_ARGUMENT INVALID_FIELD_VALUE descriptorSet';
    const json = await send({ descriptorSet: setOf('a', comment) });
    expect(errorOf(json)).toBe(large);
    expect(json.json.error.message).toContain('1048576');
    const bytes = Buffer.alloc(1024 * 1024 + 1).toString('base64');
    expect(errorOf(await send({ descriptorSet: bytes }))).toBe(large);
  });
});

describe('replacing a descriptor', () => {
  const put = (name: string, body: unknown, method = 'PUT', query = '') =>
    exchange.call(streamly.token, method, `/v2alpha/${name}${query}`, body);

  it.each(['PATCH', 'PUT'])('by %s replaces the whole descriptor set', async (method) => {
    const name = await register('a');
    const descriptorSet = setOf('b', { messageType: [{ name: 'N' }] });
    expect(await ok(put(name, { descriptorSet }, method))).toEqual({ name, descriptorSet });
    expect(await get(exchange, acme, name)).toEqual({ name, descriptorSet });
    const wrapped = { eventGroupMetadataDescriptor: { name, descriptorSet: setOf('c') } };
    expect(await ok(put(name, wrapped, method))).toEqual({ name, descriptorSet: setOf('c') });
    const exactly = { name, descriptorSet: complete.toString('base64') };
    expect(await ok(put(name, exactly, method, '?descriptorSetEncoding=BASE64'))).toEqual(exactly);
    expect(await base64Of(name)).toEqual(exactly);
  });

  it('requires a descriptor set, and rejects a name that differs from the path', async () => {
    const name = await register('a');
    const other = await register('a');
    const before = await stored(exchange);
    expect(errorOf(await put(name, { name: other, descriptorSet: setOf('b') }))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE name',
    );
    expect(errorOf(await put(name, { name }))).toBe(
      '400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET descriptorSet',
    );
    expect(errorOf(await put(name, { descriptorSet: { file: [] } }))).toMatch(/ descriptorSet\.file$/);
    expect(await stored(exchange)).toEqual(before);
  });

  it('returns NOT_FOUND for a missing descriptor, and PERMISSION_DENIED to other parties', async () => {
    const name = await register('a');
    const absent = `${parentOf(streamly)}/absent`;
    const foreign = `${parentOf(chirper)}/${name.split('/').at(-1)}`;
    const body = { descriptorSet: setOf('b') };
    const reply = await put(absent, body);
    expect(errorOf(reply)).toBe('404 NOT_FOUND EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND');
    expect(metadata(reply)).toEqual({ eventGroupMetadataDescriptor: absent });
    expect(errorOf(await exchange.call(streamly.token, 'GET', `/v2alpha/${absent}`))).toBe(errorOf(reply));
    expect(errorOf(await exchange.call(chirper.token, 'PUT', `/v2alpha/${foreign}`, body))).toBe(
      errorOf(reply),
    );
    for (const party of [chirper, acme]) {
      expect(errorOf(await exchange.call(party.token, 'PUT', `/v2alpha/${name}`, body))).toBe(
        '403 PERMISSION_DENIED PERMISSION_DENIED',
      );
    }
    expect(await get(exchange, streamly, name)).toEqual({ name, descriptorSet: setOf('a') });
  });
});

describe('reading several descriptors by name', () => {
  const batchGet = (party: DevParty, parent: string, names: string[], query = '') =>
    exchange.call(
      party.token,
      'GET',
      `/v2alpha/${parent}/eventGroupMetadataDescriptors:batchGet?${names.map((n) => `names=${n}`).join('&')}${query}`,
    );
  const namesIn = (reply: Reply['json']) =>
    reply.eventGroupMetadataDescriptors.map((d: { name: string }) => d.name);

  it('keeps the order of the names and repeats duplicates', async () => {
    const [a, b] = [await register('a'), await register('b')];
    const names = [b, a, b, a, a];
    for (const party of [streamly, acme]) {
      const reply = await ok(batchGet(party, streamly.name, names));
      expect(namesIn(reply)).toEqual(names);
      expect(reply.eventGroupMetadataDescriptors[0]).toEqual(await get(exchange, acme, b));
      expect(Object.keys(reply)).toEqual(['eventGroupMetadataDescriptors']);
    }
    const encoded = await ok(batchGet(acme, streamly.name, [a], '&descriptorSetEncoding=BASE64'));
    expect(encoded.eventGroupMetadataDescriptors).toEqual([await base64Of(a)]);
  });

  it('accepts names of several providers under dataProviders/-, for consumers only', async () => {
    const names = [await register('a', chirper), await register('b', streamly)];
    expect(namesIn(await ok(batchGet(acme, 'dataProviders/-', names)))).toEqual(names);
    expect(errorOf(await batchGet(streamly, 'dataProviders/-', names))).toBe(
      '403 PERMISSION_DENIED PERMISSION_DENIED',
    );
    expect(errorOf(await batchGet(acme, streamly.name, names))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE names[0]',
    );
    expect(
      errorOf(
        await batchGet(acme, 'dataProviders/-', [
          `dataProviders/-/${names[0]!.split('/', 4).slice(2).join('/')}`,
        ]),
      ),
    ).toBe('400 INVALID_ARGUMENT INVALID_FIELD_VALUE names[0]');
  });

  it('returns NOT_FOUND if one is missing, even if its ID exists under another provider', async () => {
    const own = await register('a');
    const id = (await register('b', chirper)).split('/').at(-1);
    for (const missing of [`${parentOf(streamly)}/absent`, `${parentOf(streamly)}/${id}`]) {
      const reply = await batchGet(acme, streamly.name, [own, missing]);
      expect(errorOf(reply)).toBe('404 NOT_FOUND EVENT_GROUP_METADATA_DESCRIPTOR_NOT_FOUND');
      expect(metadata(reply)).toEqual({ eventGroupMetadataDescriptor: missing });
    }
  });

  it('accepts 1 to 50 names', async () => {
    const name = await register('a');
    const many = (count: number) => batchGet(acme, streamly.name, Array(count).fill(name));
    expect(namesIn(await ok(many(50)))).toHaveLength(50);
    expect(errorOf(await many(51))).toBe('400 INVALID_ARGUMENT INVALID_FIELD_VALUE names');
    expect(errorOf(await many(0))).toBe('400 INVALID_ARGUMENT REQUIRED_FIELD_NOT_SET names');
    expect(errorOf(await batchGet(acme, streamly.name, [name, 'x']))).toBe(
      '400 INVALID_ARGUMENT INVALID_FIELD_VALUE names[1]',
    );
  });
});

describe('listing descriptors', () => {
  /** Returns the items of all pages. */
  async function all(party: DevParty, parent: string, query = 'pageSize=3') {
    const found: { name: string }[] = [];
    for (let token = ''; ; ) {
      const path = `${parent}/eventGroupMetadataDescriptors?${query}&pageToken=${token}`;
      const page = await get(exchange, party, path);
      expect(page.eventGroupMetadataDescriptors.length).toBeLessThanOrEqual(3);
      found.push(...page.eventGroupMetadataDescriptors);
      if (page.nextPageToken === undefined) return found;
      token = page.nextPageToken;
    }
  }

  it('returns the descriptors of one provider in the order of creation, and of all providers to consumers', async () => {
    const created = [
      await register('a', chirper),
      await register('b', chirper),
      await register('c', chirper),
    ];
    const own = await all(chirper, chirper.name);
    expect(own.map((d) => d.name).slice(-3)).toEqual(created);
    expect(own.at(-1)).toEqual({ name: created[2], descriptorSet: setOf('c') });
    expect(await all(acme, chirper.name)).toEqual(own);

    const everyones = await all(acme, 'dataProviders/-');
    const of = (p: DevParty) => everyones.filter((d) => d.name.startsWith(`${p.name}/`));
    expect(of(chirper)).toEqual(own);
    expect(of(streamly)).toEqual(await all(streamly, streamly.name));
    expect(everyones.length).toBe(of(chirper).length + of(streamly).length);
    const encoded = await all(chirper, chirper.name, 'pageSize=3&descriptorSetEncoding=BASE64');
    for (const d of encoded) expect(d).toEqual({ name: d.name, descriptorSet: expect.any(String) });
  });

  it('is empty for a provider without any, NOT_FOUND for an unknown one, and denied to other providers', async () => {
    expect(await get(exchange, acme, parentOf(dailynews))).toEqual({ eventGroupMetadataDescriptors: [] });
    const nobody = await exchange.call(
      acme.token,
      'GET',
      '/v2alpha/dataProviders/nobody/eventGroupMetadataDescriptors',
    );
    expect(errorOf(nobody)).toBe('404 NOT_FOUND DATA_PROVIDER_NOT_FOUND');
    for (const parent of [parentOf(streamly), 'dataProviders/-/eventGroupMetadataDescriptors']) {
      expect(errorOf(await exchange.call(chirper.token, 'GET', `/v2alpha/${parent}`))).toBe(
        '403 PERMISSION_DENIED PERMISSION_DENIED',
      );
    }
  });
});
