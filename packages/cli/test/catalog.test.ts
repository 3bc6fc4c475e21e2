/** Tests the commands with which providers describe their data: schemas and event groups. */
import { writeFile } from 'node:fs/promises';
import { TYPE_URLS } from '@measurement-exchange/contract';
import { encrypt, packEventGroupMetadata } from '@measurement-exchange/sdk';
import { leanSet, serialize, typeUrl } from '@measurement-exchange/testkit/metadataSets';
import { BRAND, BUDGET, schema } from '@measurement-exchange/testkit/schemas';
import type { Party } from '@measurement-exchange/testkit/world';
import { describe, expect, it } from 'vitest';
import { idIn } from '../src/calls/caller.ts';
import { lines, run } from './mexInProcess.ts';
import { describeTo, path, useWorld, w } from './partyWorld.ts';

useWorld();

const ids = (text: string) => lines(text).map(({ name }) => name);

/**
 * Creates an event group for Acme with metadata that is encrypted with `keyset`, and returns the event group's name.
 */
async function sealedGroup(provider: Party, packed: Uint8Array, keyset = w.acme.encryptionPublicKey) {
  const body = {
    measurementConsumer: w.acme.name,
    encryptedMetadata: { ciphertext: await encrypt(keyset, packed), typeUrl: typeUrl('x.Metadata') },
    measurementConsumerPublicKey: {
      '@type': TYPE_URLS.EncryptionPublicKey,
      data: w.acme.encryptionPublicKey,
    },
  };
  return (await provider.client.createEventGroup({ parent: provider.name, body })).name!;
}

describe('mex descriptors', () => {
  it('registers, lists, shows, compares and replaces schemas', async () => {
    await writeFile(path('v1.json'), JSON.stringify(schema('ads', BUDGET)));
    await writeFile(path('v2.json'), JSON.stringify(schema('ads', BUDGET, BRAND)));
    await writeFile(path('v0.json'), JSON.stringify(schema('ads', BRAND)));
    const { out } = await run(
      'descriptors',
      'create',
      path('v1.json'),
      '--as',
      'streamly',
      '--request-id',
      'ads',
    );
    const [, name] = /^(\S+) is registered: ads.Campaign\.$/m.exec(out)!;
    const again = await run(
      'descriptors',
      'create',
      path('v1.json'),
      '--as',
      'streamly',
      '--request-id',
      'ads',
      '--json',
    );
    expect(JSON.parse(again.out).name).toBe(name);

    for (const party of ['acme', 'streamly']) {
      expect((await run('descriptors', 'list', '--as', party)).out).toMatch(
        new RegExp(`^${name} +1 +ads.Campaign$`, 'm'),
      );
    }
    expect((await run('descriptors', 'list', '--as', 'acme', '--provider', 'chirper')).out).toContain(
      'has no schema',
    );
    expect((await run('descriptors', 'get', name!, '--as', 'acme')).out).toContain(
      'message ads.Campaign\n    1  budget: int32',
    );

    const fine = await run('descriptors', 'diff', name!, path('v2.json'), '--as', 'acme');
    expect(fine.error).toBeUndefined();
    expect(fine.out).toMatch(/^fine +FIELD_ADDED +ads.Campaign.brand/m);
    const breaking = await run('descriptors', 'diff', name!, path('v0.json'), '--as', 'streamly');
    expect(breaking.error?.exitCode).toBe(2);
    expect(breaking.out).toMatch(/^breaks +/m);

    expect(
      (await run('descriptors', 'update', name!, path('v2.json'), '--as', 'streamly', '--validate-only')).out,
    ).toContain('finds nothing wrong');
    expect((await run('descriptors', 'get', name!, '--as', 'acme')).out).not.toContain('brand');
    await run('descriptors', 'update', name!, path('v2.json'), '--as', 'streamly');
    expect((await run('descriptors', 'get', name!, '--as', 'acme')).out).toContain('  2  brand: string');
  });

  it('accepts a binary schema from a compiler, and decodes a message with it', async () => {
    await writeFile(path('shows.binpb'), leanSet);
    const { name } = JSON.parse(
      (await run('descriptors', 'create', path('shows.binpb'), '--as', 'streamly', '--json')).out,
    );
    await writeFile(path('episode.binpb'), serialize('shows.Episode', { title: 'Pilot' }));
    const decoded = await run(
      'descriptors',
      'decode',
      name,
      'shows.Episode',
      path('episode.binpb'),
      '--as',
      'acme',
      '--json',
    );
    expect(JSON.parse(decoded.out)).toEqual({
      typeUrl: typeUrl('shows.Episode'),
      message: { title: 'Pilot' },
    });
    await writeFile(path('empty'), '');
    expect((await run('descriptors', 'create', path('empty'), '--as', 'streamly')).error?.message).toMatch(
      /is empty.*buf build/,
    );
    expect(
      (await run('descriptors', 'create', path('nowhere'), '--as', 'streamly')).error?.message,
    ).toContain('ENOENT');
    await writeFile(path('half.json'), '{"file": [');
    expect(
      (await run('descriptors', 'create', path('half.json'), '--as', 'streamly')).error?.message,
    ).toContain('is not JSON');
    expect((await run('descriptors', 'create', path('v1.json'), '--as', 'acme')).error?.message).toContain(
      'is for a data provider',
    );
  });
});

describe('mex event-groups', () => {
  it('creates an event group, updates only the given fields, and deletes it', async () => {
    const { out } = await run(
      ...[
        'event-groups',
        'create',
        '--as',
        'chirper',
        '--consumer',
        'globex',
        '--reference',
        'summer',
        '--brand',
        'Globex',
      ],
      ...['--media-type', 'VIDEO', 'DISPLAY', '--available-from', '2026-01-01'],
      ...['--attribute', 'age_group:STRING', '--attribute', 'ad.skippable:bool'],
    );
    const [, name] = /^(\S+) is described to measurementConsumers\/globex\.$/m.exec(out)!;
    const id = name!.split('/').at(-1)!;
    await run(
      'event-groups',
      'update',
      id,
      '--as',
      'chirper',
      '--campaign',
      'Hot wheels',
      '--available-from',
      '2026-02-01',
      '--available-until',
      '2026-03-01',
    );
    expect((await run('event-groups', 'list', '--as', 'globex')).out).toMatch(
      new RegExp(
        `^${id} +chirper +summer +ACTIVE +VIDEO, DISPLAY +2026-02-01 to 2026-03-01 +Globex: Hot wheels$`,
        'm',
      ),
    );
    const shown = (await run('event-groups', 'get', id, '--as', 'chirper')).out;
    expect(shown).toMatch(/consumer +measurementConsumers\/globex/);
    expect(shown).toMatch(/\nFilters can use:\n.*\nage_group +STRING\nad.skippable +BOOL\n$/);
    const examples = { description: 'in years', exampleValues: ['18-34', '55+'] };
    const attributes = [{ name: 'age_group', type: 'STRING', ...examples }];
    await writeFile(
      path('attributes.json'),
      JSON.stringify({
        ...JSON.parse((await run('event-groups', 'get', id, '--as', 'chirper', '--json')).out),
        attributes,
      }),
    );
    await run('event-groups', 'update', id, '--as', 'chirper', '--file', path('attributes.json'));
    expect((await run('event-groups', 'show', id, '--as', 'globex')).out).toMatch(
      /age_group +STRING +in years +18-34, 55\+\n$/,
    );
    for (const wrong of ['age', 'age:FLOAT', 'age group:INT', 'age:INT:years']) {
      const update = await run('event-groups', 'update', id, '--as', 'chirper', '--attribute', wrong);
      expect(update.err).toContain('such as age_group:STRING');
    }
    expect(
      (await run('event-groups', 'list', '--as', 'globex', '--json', '--provider', 'streamly')).out,
    ).toBe('');
    const filters = ['--provider', 'chirper', '--media-type', 'VIDEO', '--search', 'wheels'];
    expect(ids((await run('event-groups', 'list', '--as', 'globex', '--json', ...filters)).out)).toHaveLength(
      1,
    );

    expect((await run('event-groups', 'delete', id, '--as', 'chirper')).out).toContain('is DELETED');
    expect((await run('event-groups', 'list', '--as', 'globex', '--json')).out).toBe('');
    expect(
      lines((await run('event-groups', 'list', '--as', 'globex', '--json', '--deleted')).out)[0].state,
    ).toBe('DELETED');
  });

  it('keeps the brand and the entity metadata when the campaign is changed', async () => {
    const group = {
      measurementConsumer: w.acme.name,
      eventGroupMetadata: {
        adMetadata: { campaignMetadata: { brandName: 'Acme' } },
        entityMetadata: { market: 'uk' },
      },
    };
    await writeFile(path('entity.json'), JSON.stringify(group));
    const as = ['--as', 'chirper', '--json'];
    const created = JSON.parse(
      (await run('event-groups', 'create', ...as, '--file', path('entity.json'))).out,
    );
    const { out } = await run('event-groups', 'update', created.name, ...as, '--campaign', 'Autumn');
    expect(JSON.parse(out).eventGroupMetadata).toEqual({
      adMetadata: { campaignMetadata: { brandName: 'Acme', campaignName: 'Autumn' } },
      entityMetadata: { market: 'uk' },
    });
    await run('event-groups', 'delete', created.name, '--as', 'chirper');
  });

  it('creates an event group from a file of its own JSON, and reports every error in the file', async () => {
    const first = await describeTo(w.acme, w.chirper, 'from a file');
    const { out } = await run('event-groups', 'get', first, '--as', 'chirper', '--json');
    await writeFile(path('group.json'), out);
    const create = ['event-groups', 'create', '--as', 'chirper'];
    const copy = JSON.parse(
      (await run(...create, '--file', path('group.json'), '--reference', 'copy', '--json')).out,
    );
    expect(copy).toMatchObject({ measurementConsumer: w.acme.name, eventGroupReferenceId: 'copy' });
    expect(copy.name).not.toBe(first);
    // A repeated command creates no second event group unless it has --again or a request ID.
    const again = [...create, '--file', path('group.json'), '--reference', 'copy'];
    expect((await run(...again)).error?.message).toContain(`event-groups update ${copy.name}`);
    for (const more of [['--again'], ['--request-id', 'one'], ['--request-id', 'one']]) {
      expect((await run(...again, ...more)).out).toMatch(/ is described to /);
    }
    const { out: all } = await run('event-groups', 'list', '--as', 'chirper', '--limit', 'all', '--json');
    expect(lines(all).filter(({ eventGroupReferenceId: id }) => id === 'copy')).toHaveLength(3);
    await writeFile(path('group.json'), JSON.stringify({ measurementConsumer: 'acme', colour: 'red' }));
    const { error } = await run(...create, '--file', path('group.json'));
    expect(error?.message).toMatch(
      /\n {2}measurementConsumer: must match.*\n {2}colour: is not a known field/,
    );
    expect((await run(...create)).error?.message).toContain('To whom? --consumer');
    expect((await run(...create, '--metadata', 'x')).error?.message).toContain('belong together');
    expect((await run(...create, '--available-until', '2026-01-01')).error?.message).toContain(
      'needs --available-from',
    );
  });

  it('decodes plain and encrypted metadata for a consumer, and reports why it cannot decode an entry', async () => {
    await writeFile(path('meta.json'), JSON.stringify(schema('meta', BUDGET)));
    const descriptor = JSON.parse(
      (await run('descriptors', 'create', path('meta.json'), '--as', 'streamly', '--json')).out,
    ).name;
    await writeFile(path('message.json'), JSON.stringify({ '@type': typeUrl('meta.Campaign'), budget: 7 }));
    const readable = await run(
      ...[
        'event-groups',
        'create',
        '--as',
        'streamly',
        '--consumer',
        'acme',
        '--reference',
        'readable',
        '--json',
      ],
      ...['--metadata', path('message.json'), '--descriptor', descriptor],
    );
    const get = (name: string, ...options: string[]) =>
      run('event-groups', 'get', name.split('/').at(-1)!, '--as', 'acme', ...options);
    const shown = await get(JSON.parse(readable.out).name);
    expect(shown.out).toMatch(
      /metadata +type.googleapis.com\/meta.Campaign[\s\S]*\{\n {2}"budget": 7\n\}\n$/,
    );

    // The value is protobuf field 1 with varint 9.
    const packed = packEventGroupMetadata({
      eventGroupMetadataDescriptor: descriptor,
      typeUrl: typeUrl('meta.Campaign'),
      value: Uint8Array.of(8, 9),
    });
    const sealed = (keyset: Uint8Array) => sealedGroup(w.streamly, packed, keyset);
    const encrypted = await get(await sealed(w.acme.encryptionPublicKey), '--json');
    expect(JSON.parse(encrypted.out).decodedMetadata).toEqual({
      eventGroupMetadataDescriptor: descriptor,
      typeUrl: typeUrl('meta.Campaign'),
      message: { budget: 9 },
    });
    const foreign = await get(await sealed(w.chirper.encryptionPublicKey));
    expect(foreign.out).toMatch(/metadata +cannot be read: .*\(NO_MATCHING_KEY\)/);
    const list = ['event-groups', 'list', '--as', 'acme', '--provider', 'streamly'];
    expect((await run(...list)).out).toMatch(/ readable\n[\s\S]* encrypted\n/);
    expect((await run(...list, '--decode')).out).toMatch(
      / meta.Campaign\n[\s\S]* unreadable: NO_MATCHING_KEY\n/,
    );
    const decoded = lines((await run(...list, '--decode', '--json')).out).map(
      (g) => g.decodedMetadata?.message,
    );
    expect(decoded).toEqual([undefined, { budget: 7 }, { budget: 9 }, undefined]);
    expect((await run(...list, '--decode', '--limit', '2')).err).toContain('more than these 2');
    expect((await run(...list, '--decode', '--limit', '4')).err).toBe('');
  });

  it('reports METADATA_TOO_LARGE for metadata that exceeds the limit, and continues the list', async () => {
    // Decoded metadata can be much larger in JSON than in binary, because JSON repeats a field's name for each message
    // that has the field. The field of `Row` has a name of 512 characters.
    const long = 'a'.repeat(512);
    const row = { name: 'Row', field: [{ name: long, jsonName: long, number: 1, type: 'TYPE_INT32' }] };
    const repeated = { label: 'LABEL_REPEATED', type: 'TYPE_MESSAGE', typeName: '.flood.Row' };
    const rows = { name: 'Rows', field: [{ name: 'rows', number: 1, ...repeated }] };
    const file = [{ name: 'flood.proto', package: 'flood', messageType: [row, rows] }];
    await writeFile(path('flood.json'), JSON.stringify({ file }));
    const { out } = await run('descriptors', 'create', path('flood.json'), '--as', 'chirper', '--json');
    const asAcmeSeesIt = (name: string) => name.replace(w.chirper.name, w.acme.name);
    const groupOf = (count: number) => {
      const value = Uint8Array.from(Array.from({ length: count }, () => [0x0a, 2, 8, 1]).flat());
      const eventGroupMetadataDescriptor = JSON.parse(out).name;
      const plaintext = { eventGroupMetadataDescriptor, typeUrl: typeUrl('flood.Rows'), value };
      return sealedGroup(w.chirper, packEventGroupMetadata(plaintext)).then(asAcmeSeesIt);
    };
    const flood = await groupOf(Math.ceil((10 * 1024 * 1024) / long.length));
    const small = await groupOf(1);
    const list = ['event-groups', 'list', '--as', 'acme', '--provider', 'chirper', '--decode'];
    const text = await run(...list);
    expect([text.err, text.error]).toEqual(['', undefined]);
    expect(text.out).toMatch(new RegExp(`^${idIn(flood)} .* unreadable: METADATA_TOO_LARGE$`, 'm'));
    expect(text.out).toMatch(new RegExp(`^${idIn(small)} .* flood.Rows$`, 'm'));
    const json = await run(...list, '--json');
    expect([json.err, json.error]).toEqual(['', undefined]);
    const groups = new Map(lines(json.out).map((group) => [group.name, group]));
    expect(groups.get(flood)).toMatchObject({ metadataError: { code: 'METADATA_TOO_LARGE' } });
    expect(groups.get(flood)).not.toHaveProperty('decodedMetadata');
    expect(groups.get(small).decodedMetadata.message).toEqual({ rows: [{ [long]: 1 }] });
  });
});

// A binary schema begins with a line feed and the length of its first file. The length 123 is the byte `{`, and the
// length 15,776 is the bytes 0xa0 and `{`. In Latin-1, 0xa0 is a space.
it.each([
  [123, '\n{'],
  [15_776, '\n\xa0{'],
])(
  'mex descriptors create accepts a binary schema with %d bytes, which begins like JSON',
  async (size, begin) => {
    const lengthOf = (n: number) => (n < 128 ? [n] : [(n & 127) | 128, n >> 7]);
    const field = (tag: number, value: Buffer | string) =>
      Buffer.from([tag, ...lengthOf(value.length), ...Buffer.from(value)]);
    const parts = [field(0x0a, 'a.proto'), field(0x12, `p${size}`), field(0x62, 'proto3')];
    const left = () => size - Buffer.concat(parts).length;
    // Each message takes four bytes in addition to its name.
    for (let i = 0; left() > 0; i++) {
      const name = `M${i}_`.padEnd(left() < 120 ? left() - 4 : 60, 'x');
      parts.push(field(0x22, field(0x0a, name)));
    }
    const set = field(0x0a, Buffer.concat(parts));
    expect(set.toString('latin1', 0, begin.length)).toBe(begin);
    await writeFile(path('set.binpb'), set);
    const { out, error } = await run('descriptors', 'create', path('set.binpb'), '--as', 'streamly');
    expect(error).toBeUndefined();
    expect(out).toContain(` is registered: p${size}.M0_`);
  },
);
