/** The commands that show and change what is at the exchange, as parties use them. */
import { X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { TYPE_URLS } from '@measurement-exchange/contract';
import { encrypt, packEventGroupMetadata } from '@measurement-exchange/sdk';
import { leanSet, serialize, typeUrl } from '@measurement-exchange/testkit/metadataSets';
import { BRAND, BUDGET, schema } from '@measurement-exchange/testkit/schemas';
import { asking, fulfillWith, reach, requisitionOf } from '@measurement-exchange/testkit/world';
import { describe, expect, it, vi } from 'vitest';
import { lines, mex, run } from './mexInProcess.ts';
import { describeTo, path, useWorld, w } from './partyWorld.ts';

useWorld();

const ids = (text: string) => lines(text).map(({ name }) => name);
const created = async (referenceId: string) => (await w.consumer.create({ ...asking(w), referenceId })).name!;

describe('a list', () => {
  it('is a table or one resource a line, as the API has it, and stops at --limit with a word', async () => {
    const names: string[] = [];
    for (const reference of ['one', 'two', 'three']) names.push(await created(reference));
    const table = await run('measurements', 'list', '--as', 'acme', '--limit', '2');
    expect(
      table.out
        .split('\n')
        .slice(1, 3)
        .map((line) => line.split(/ {2,}/)),
    ).toEqual([
      [names[0], 'AWAITING_REQUISITION_FULFILLMENT', 'reach', '1', 'one', expect.stringMatching(/^20/)],
      [names[1], 'AWAITING_REQUISITION_FULFILLMENT', 'reach', '1', 'two', expect.stringMatching(/^20/)],
    ]);
    expect(table.err).toContain('more than these 2');

    const all = await run('measurements', 'list', '--as', 'acme', '--limit', 'all', '--json');
    expect(ids(all.out)).toEqual(names);
    expect(all.err).toBe('');
    const { json } = await w.exchange.call(
      w.exchange.dev.measurementConsumers[0]!.token,
      'GET',
      `/v2alpha/${names[0]}`,
    );
    expect(lines(all.out)[0]).toEqual(json);
    expect((await run('measurements', 'list', '--as', 'acme', '--limit', '3')).err).toBe('');
    for (const limit of ['0', '-1', 'many']) {
      const { err } = await run('measurements', 'list', '--as', 'acme', '--limit', limit);
      expect(err).toContain('a whole number above 0, or `all`');
    }

    await w.acme.client.cancelMeasurement({ name: names[1]! });
    const cancelled = ['measurements', 'list', '--as', 'acme', '--json', '--state'];
    expect(ids((await run(...cancelled, 'CANCELLED', 'FAILED')).out)).toEqual([names[1]]);
    expect((await run(...cancelled, 'DONE')).err).toContain('Allowed choices');
    expect((await run('measurements', 'list', '--as', 'acme', '--json', '--created-before', '1h')).out).toBe(
      '',
    );
    const recent = [
      '--created-after',
      '5m',
      '--updated-after',
      '2026-01-01',
      '--updated-before',
      '2999-01-01T00:00:00Z',
    ];
    expect(ids((await run('measurements', 'list', '--as', 'acme', '--json', ...recent)).out).sort()).toEqual(
      names.sort(),
    );
    expect((await run('measurements', 'list', '--as', 'acme', '--created-after', 'soon')).err).toContain(
      'a day such as',
    );
  });

  it('goes over as many pages as it needs, and no further than asked', async () => {
    const { client, name: parent } = w.dailynews;
    // A page has 1,000 at most, a batch 50.
    const part = { eventGroup: { measurementConsumer: w.acme.name } };
    for (let i = 0; i < 21; i++) {
      await client.batchCreateEventGroups({ parent, body: { requests: Array(50).fill(part) } });
    }
    const list = (limit: string, ...options: string[]) =>
      run('event-groups', 'list', '--as', 'dailynews', '--limit', limit, ...options);
    expect(new Set(ids((await list('all', '--json')).out)).size).toBe(1050);
    const some = await list('1001');
    expect(some.out.split('\n').filter((line) => line.startsWith(parent))).toHaveLength(1001);
    expect(some.err).toContain('more than these 1001');
  });

  it('says who must call, and what to do where there is nothing', async () => {
    expect((await run('measurements', 'list')).error?.message).toMatch(
      /you call as operator.*--as measurementConsumers/,
    );
    expect((await run('measurements', 'list', '--as', 'globex')).out).toContain('mex measure --help');
    expect((await run('measurements', 'list', '--as', 'globex', '--json')).out).toBe('');
    expect((await run('event-groups', 'list', '--as', 'globex')).out).toContain('ask a provider to');
    expect((await run('requisitions', 'list', '--as', 'acme')).error?.message).toContain('Which measurement');
  });
});

describe('mex measurements', () => {
  it('shows one with who has answered and what to do next, by its last part alone', async () => {
    const name = await created('shown\u0007');
    const show = async () => (await run('measurements', 'show', name.split('/').at(-1)!, '--as', 'acme')).out;
    expect(await show()).toMatch(
      /state +AWAITING[\s\S]*epsilon 0.5, delta 1e-9[\s\S]*shown�[\s\S]*streamly {2}UNFULFILLED\n\nIt is not complete yet.*--wait --as acme/,
    );
    await fulfillWith(w.streamly, name, reach(5n));
    expect(await show()).toMatch(
      /streamly {2}FULFILLED\n\nThe figures: mex measurements results \S+ --as acme\n$/,
    );
    const { json } = await w.exchange.call(
      w.exchange.dev.measurementConsumers[0]!.token,
      'GET',
      `/v2alpha/${name}`,
    );
    expect(JSON.parse((await run('measurements', 'show', name, '--as', 'acme', '--json')).out)).toEqual(json);
    expect((await run('measurements', 'timeline', name, '--as', 'acme')).out).toMatch(
      /AWAITING_REQUISITION_FULFILLMENT → COMPUTING[\s\S]*COMPUTING → SUCCEEDED/,
    );
  });

  it('tells in the timeline what the exchange found', async () => {
    const { name } = await w.consumer.create(asking(w, 'reach', w.streamly, w.chirper));
    const { out } = await run('measurements', 'timeline', name!, '--as', 'acme');
    expect(out).toMatch(/\nREACH_NOT_DEDUPLICATED at \S+: .*union/);
    await w.acme.client.cancelMeasurement({ name: name! });
  });

  it('cancels one, once', async () => {
    const name = await created('cancelled');
    expect((await run('measurements', 'cancel', name, '--as', 'acme')).out).toContain(`${name} is CANCELLED`);
    expect((await run('measurements', 'cancel', name, '--as', 'acme')).error?.message).toContain(
      'CANCELLED and stays so',
    );
    expect((await run('measurements', 'show', 'none', '--as', 'acme')).error?.message).toContain(
      'does not exist',
    );
  });
});

describe('mex requisitions', () => {
  it('shows a provider its own and a consumer those of a measurement', async () => {
    const name = await created('both sides');
    const requisition = (await requisitionOf(w.streamly, name)).name!;
    const [own] = lines(
      (await run('requisitions', 'list', '--as', 'streamly', '--json', '--limit', 'all')).out,
    ).filter((r) => r.measurement === name);
    expect(own.name).toBe(requisition);
    const theirs = lines((await run('requisitions', 'list', name, '--as', 'acme', '--json')).out);
    expect(theirs.map((r) => r.name)).toEqual([`${name}/requisitions/${requisition.split('/').at(-1)}`]);
    for (const [party, which] of [
      ['streamly', requisition],
      ['acme', theirs[0].name],
    ]) {
      expect((await run('requisitions', 'show', which, '--as', party)).out).toMatch(
        /state +UNFULFILLED[\s\S]*measures +reach/,
      );
      const { transitions } = JSON.parse(
        (await run('requisitions', 'timeline', which, '--as', party, '--json')).out,
      );
      expect(transitions.map((t: { to: string }) => t.to)).toEqual(['UNFULFILLED']);
    }
  });

  it('refuses one for good, with the etag it has now', async () => {
    const name = await created('refused');
    const requisition = (await requisitionOf(w.streamly, name)).name!;
    const refuse = ['requisitions', 'refuse', requisition, '--as', 'streamly'];
    expect((await run(...refuse)).err).toContain("'--justification <why>' not specified");
    expect((await run(...refuse, '--justification', 'TIRED')).err).toContain('Allowed choices');
    const { out } = await run(...refuse, '--justification', 'DECLINED', '--message', 'not today');
    expect(out).toBe(`${requisition} is REFUSED, and ${name} is FAILED.\n`);
    expect((await w.acme.client.getMeasurement({ name })).failure?.message).toContain('DECLINED: not today');
    expect((await run(...refuse, '--justification', 'DECLINED')).error?.message).toContain(
      'REQUISITION_STATE_ILLEGAL',
    );
    expect(
      (await run('requisitions', 'refuse', requisition, '--as', 'acme', '--justification', 'DECLINED')).error
        ?.message,
    ).toContain('is for a data provider');
  });
});

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

  it('takes what a compiler made, and decodes with it', async () => {
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
  it('describes one, changes what is given and keeps the rest, and deletes it', async () => {
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
        `^measurementConsumers/globex/eventGroups/${id} +dataProviders/chirper +summer +ACTIVE +VIDEO, DISPLAY +2026-02-01 to 2026-03-01 +Globex: Hot wheels$`,
        'm',
      ),
    );
    expect((await run('event-groups', 'get', id, '--as', 'chirper')).out).toMatch(
      /consumer +measurementConsumers\/globex/,
    );
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

  it('takes one from a file as it printed it, and names every mistake in it', async () => {
    const first = await describeTo(w.acme, w.chirper, 'from a file');
    const { out } = await run('event-groups', 'get', first, '--as', 'chirper', '--json');
    await writeFile(path('group.json'), out);
    const copy = JSON.parse(
      (
        await run(
          'event-groups',
          'create',
          '--as',
          'chirper',
          '--file',
          path('group.json'),
          '--reference',
          'copy',
          '--json',
        )
      ).out,
    );
    expect(copy).toMatchObject({ measurementConsumer: w.acme.name, eventGroupReferenceId: 'copy' });
    expect(copy.name).not.toBe(first);
    await writeFile(path('group.json'), JSON.stringify({ measurementConsumer: 'acme', colour: 'red' }));
    const { error } = await run('event-groups', 'create', '--as', 'chirper', '--file', path('group.json'));
    expect(error?.message).toMatch(
      /\n {2}measurementConsumer: must match.*\n {2}colour: is not a known field/,
    );
    expect((await run('event-groups', 'create', '--as', 'chirper')).error?.message).toContain(
      'To whom? --consumer',
    );
    expect(
      (await run('event-groups', 'create', '--as', 'chirper', '--metadata', 'x')).error?.message,
    ).toContain('belong together');
    expect(
      (await run('event-groups', 'create', '--as', 'chirper', '--available-until', '2026-01-01')).error
        ?.message,
    ).toContain('needs --available-from');
  });

  it('reads the metadata of a consumer, readable or encrypted, and says why it cannot', async () => {
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

    // Field 1, varint 9.
    const packed = packEventGroupMetadata({
      eventGroupMetadataDescriptor: descriptor,
      typeUrl: typeUrl('meta.Campaign'),
      value: Uint8Array.of(8, 9),
    });
    const sealed = async (keyset: Uint8Array) => {
      const body = {
        measurementConsumer: w.acme.name,
        encryptedMetadata: { ciphertext: await encrypt(keyset, packed), typeUrl: typeUrl('x.Metadata') },
        measurementConsumerPublicKey: {
          '@type': TYPE_URLS.EncryptionPublicKey,
          data: w.acme.encryptionPublicKey,
        },
      };
      return (await w.streamly.client.createEventGroup({ parent: w.streamly.name, body })).name!;
    };
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
});

describe('mex certificates and mex whoami', () => {
  it('registers, lists, shows, holds, releases and revokes the certificates of the caller', async () => {
    const consumer = 'measurementConsumers/globex';
    await mex('identity', consumer, '--out', path('globex'));
    for (const file of ['root', 'certificate']) {
      const { raw } = new X509Certificate(await readFile(path(`globex/${file}.pem`)));
      await writeFile(path(`globex/${file}.der`), raw);
    }
    await mex('admin', 'roots', 'add', path('globex/root.der'), '--party', consumer);
    const { out } = await run('certificates', 'create', path('globex/certificate.der'), '--as', 'globex');
    const [, name] = /^(\S+) is registered/.exec(out)!;
    expect(ids((await run('certificates', 'list', '--as', 'globex', '--json')).out)).toContain(name);
    const id = name!.split('/').at(-1)!;
    expect((await run('certificates', 'get', id, '--as', 'globex')).out).toMatch(
      /state +VALID[\s\S]*subject key +[0-9A-F:]{59}/,
    );
    expect((await run('certificates', 'get', 'dataProviders/streamly', '--as', 'globex')).out).toContain(
      w.streamly.certificate,
    );
    await run('certificates', 'revoke', name!, '--hold', '--as', 'globex');
    expect((await run('certificates', 'get', id, '--as', 'globex')).out).toMatch(/state +HOLD/);
    // As long as measurements that rested on it are being failed, the exchange says: retry.
    await vi.waitFor(
      async () =>
        expect((await run('certificates', 'release-hold', name!, '--as', 'globex')).error).toBeUndefined(),
      5_000,
    );
    await run('certificates', 'revoke', name!, '--as', 'globex');
    expect((await run('certificates', 'list', '--as', 'globex')).out).toMatch(
      new RegExp(`^${name} +REVOKED`, 'm'),
    );
    await writeFile(path('der'), Uint8Array.of(0x30, 1, 2));
    expect((await run('certificates', 'create', path('der'), '--as', 'globex')).error?.message).toContain(
      'Give a certificate in PEM or DER',
    );
    expect((await run('certificates', 'get', 'a/b', '--as', 'globex')).error?.message).toContain(
      'is no name of a certificate',
    );
  });

  it('says whom the token stands for', async () => {
    expect((await run('whoami')).out).toMatch(/^operator\n/);
    expect(JSON.parse((await run('whoami', '--as', 'streamly', '--json')).out).principal).toBe(
      'dataProviders/streamly',
    );
    vi.stubEnv('MEX_TOKEN', 'stale');
    expect((await run('whoami')).error?.message).toMatch(/TOKEN_INVALID\)\n {2}Get a fresh token/);
  });
});
