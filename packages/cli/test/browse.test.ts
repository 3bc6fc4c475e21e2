/** Tests the commands with which parties show and change resources of the exchange. */
import { X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { asking, fulfillWith, reach, requisitionOf } from '@measurement-exchange/testkit/world';
import { describe, expect, it, vi } from 'vitest';
import { lines, mex, mexJson, run } from './mexInProcess.ts';
import { path, useWorld, w } from './partyWorld.ts';

useWorld();

const ids = (text: string) => lines(text).map(({ name }) => name);
const created = async (referenceId: string, title?: string) =>
  (await w.consumer.create({ ...asking(w), referenceId, ...(title && { title }) })).name!;
/** Options that identify the caller by its token, without its keys. */
const token = () => ['--token', w.exchange.dev.measurementConsumers[0]!.token];

describe('a list command', () => {
  it('prints a table or one JSON resource a line, filters, and stops at --limit with a note', async () => {
    const names: string[] = [];
    for (const reference of ['one', 'two', 'three'])
      names.unshift(await created(reference, `title ${reference}`));
    const id = (name: string | undefined) => name!.split('/').at(-1);
    // Joins the printed lines into rows. An indented line continues the row above it.
    const rowsOf = ({ out }: { out: string }) =>
      out
        .trimEnd()
        .split(/\n(?! )/)
        .slice(1)
        .map((row) => row.split(/\s{2,}/));
    const table = await run('measurements', 'list', '--as', 'acme', '--limit', '2');
    const state = 'AWAITING_REQUISITION_FULFILLMENT';
    const days = '2026-01-01 to 2026-02-01';
    const time = expect.stringMatching(/^20/);
    expect(rowsOf(table)).toEqual([
      [id(names[0]), state, 'reach', time, days, 'streamly', 'three', 'title three'],
      [id(names[1]), state, 'reach', time, days, 'streamly', 'two', 'title two'],
    ]);
    const widthOf = ({ out }: { out: string }) => Math.max(...out.split('\n').map((line) => line.length));
    expect(widthOf(table)).toBeLessThanOrEqual(120);
    expect(table.err).toContain('more than these 2');
    const { columns } = process.stdout;
    process.stdout.columns = 80;
    const narrow = await run('measurements', 'list', '--as', 'acme', '--limit', '2');
    process.stdout.columns = columns;
    expect(widthOf(narrow)).toBeLessThanOrEqual(80);
    expect(narrow.out.trimEnd().split('\n')).toHaveLength(2 * 3);
    expect(rowsOf(narrow)).toEqual(rowsOf(table));
    const keyless = await run('measurements', 'list', ...token(), '--limit', '2');
    expect(rowsOf(keyless)).toEqual([
      [id(names[0]), state, 'reach', time, 'streamly', 'three'],
      [id(names[1]), state, 'reach', time, 'streamly', 'two'],
    ]);
    vi.stubEnv('XDG_CONFIG_HOME', path('config'));
    await mex('profile', 'set', 'default', '--as', 'acme');
    expect(rowsOf(await run('measurements', 'list', '--limit', '2'))).toEqual(rowsOf(table));
    await mex('profile', 'remove', 'default');
    const two = await run('measurements', 'list', '--as', 'acme', '--reference', 'two', '--json');
    expect(ids(two.out)).toEqual([names[1]]);

    const all = await run('measurements', 'list', '--as', 'acme', '--limit', 'all', '--json');
    expect(ids(all.out)).toEqual(names);
    expect(all.err).toBe('');
    const { json } = await w.exchange.call(
      w.exchange.dev.measurementConsumers[0]!.token,
      'GET',
      `/v2alpha/${names[0]}`,
    );
    const { question, ...asTheApi } = lines(all.out)[0];
    expect(asTheApi).toEqual(json);
    expect(question).toMatchObject({ title: 'title three', referenceId: 'three', type: 'reach' });
    expect((await run('measurements', 'list', '--as', 'acme', '--limit', '3')).err).toBe('');
    const { out: everything } = await run('measurements', 'list', '--as', 'acme', '--limit', 'all');
    expect(everything).toContain(id(names[0]));
    expect(everything).not.toContain('no such measurement');
    for (const limit of ['0', '-1', 'many']) {
      const { err } = await run('measurements', 'list', '--as', 'acme', '--limit', limit);
      expect(err).toContain('a whole number above 0, or `all`');
    }

    await w.acme.client.cancelMeasurement({ name: names[1]! });
    const cancelled = ['measurements', 'list', '--as', 'acme', '--json', '--state'];
    expect(ids((await run(...cancelled, 'CANCELLED', 'FAILED')).out)).toEqual([names[1]]);
    expect((await run(...cancelled, 'DONE')).error?.message).toContain('Allowed choices');
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

  it('reads as many pages as it needs, and prints at most --limit rows', async () => {
    const { client, name: parent } = w.dailynews;
    // Create 1,050 event groups, so that the list needs a second page: a page holds at most 1,000 event groups. A batch
    // creates at most 50.
    const part = { eventGroup: { measurementConsumer: w.acme.name } };
    for (let i = 0; i < 21; i++) {
      await client.batchCreateEventGroups({ parent, body: { requests: Array(50).fill(part) } });
    }
    const list = (limit: string, ...options: string[]) =>
      run('event-groups', 'list', '--as', 'dailynews', '--limit', limit, ...options);
    expect(new Set(ids((await list('all', '--json')).out)).size).toBe(1050);
    const some = await list('1001');
    expect(some.out.split('\n').filter((line) => line.includes(' acme '))).toHaveLength(1001);
    expect(some.err).toContain('more than these 1001');
  });

  it('names the party that must call, and prints advice if there is nothing to list', async () => {
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
  it('shows a measurement by its ID, with the answers of the providers and the next step', async () => {
    const name = await created('shown\u0007');
    const show = async (...who: string[]) =>
      (
        await run(
          'measurements',
          'show',
          name.split('/').at(-1)!,
          ...(who.length > 0 ? who : ['--as', 'acme']),
        )
      ).out;
    expect(await show()).toMatch(
      /state +AWAITING[\s\S]*epsilon 0.5, delta 1e-9[\s\S]*shown�[\s\S]*streamly {2}UNFULFILLED\n.*\n\nIt is not complete yet.*--wait --as acme/,
    );
    await fulfillWith(w.streamly, name, reach(5n));
    expect(await show()).toMatch(
      /streamly {2}FULFILLED\n.*\n\nThe figures: MEX_DATA_DIR=\S+ mex measurements results \S+ --as acme\n$/,
    );
    const keyless = await show(...token());
    expect(keyless).toMatch(/question +sealed for you: with --identity and --root/);
    expect(keyless).not.toContain('person.age');
    const { json } = await w.exchange.call(
      w.exchange.dev.measurementConsumers[0]!.token,
      'GET',
      `/v2alpha/${name}`,
    );
    expect(JSON.parse((await run('measurements', 'show', name, ...token(), '--json')).out)).toEqual(json);
    expect((await run('measurements', 'timeline', name, '--as', 'acme')).out).toMatch(
      /AWAITING_REQUISITION_FULFILLMENT → COMPUTING[\s\S]*COMPUTING → SUCCEEDED/,
    );
  });

  it('shows the whole question to the consumer, and its part without the title to the provider', async () => {
    const parent = w.streamly.name;
    const body = { measurementConsumer: w.acme.name, eventGroupReferenceId: 'autumn' };
    const group = await w.streamly.client.createEventGroup({ parent, body });
    const id = group.name!.split('/').at(-1);
    const args = ['--provider', 'streamly:autumn', '--from', '2026-01-01', '--to', '2026-01-08'];
    const filter = ['--filter', 'age > 30 && city == "Ulm"', '--title', 'A week\u0007 of autumn'];
    const { out } = await run('measure', 'reach', '--as', 'acme', ...args, ...filter, '--no-wait');
    const name = out.trim();
    const line = `    autumn (eventGroups/${id})  2026-01-01 to 2026-01-08  where age > 30 && city == "Ulm"\n`;
    const shown = (await run('measurements', 'show', name, '--as', 'acme')).out;
    expect(shown).toMatch(/title +A week� of autumn\n/);
    expect(shown).toMatch(/days +2026-01-01 to 2026-01-08\n/);
    expect(shown).toContain(`dataProviders/streamly  UNFULFILLED\n${line}`);

    const requisition = (await requisitionOf(w.streamly, name)).name!;
    const show = (...who: string[]) => run('requisitions', 'show', requisition, ...who);
    const mine = (await show('--as', 'streamly')).out;
    expect(mine).toContain(`\nIt asks for:\n${line.slice(2)}`);
    expect(mine).toContain(`mex verify measurement ${requisition} --as streamly`);
    expect(mine).not.toContain('of autumn');
    expect(JSON.parse((await show('--as', 'streamly', '--json')).out).question).toEqual([
      {
        eventGroup: group.name,
        interval: { start: '2026-01-01T00:00:00.000Z', end: '2026-01-08T00:00:00.000Z' },
        filter: 'age > 30 && city == "Ulm"',
      },
    ]);
    const keyless = (await show('--token', w.exchange.dev.dataProviders[0]!.token)).out;
    expect(keyless).toContain('The question is encrypted for you');
    expect(keyless).not.toContain('Ulm');

    await fulfillWith(w.streamly, name, reach(5n));
    const results = (...more: string[]) => run('measurements', 'results', name, '--as', 'acme', ...more);
    expect((await results()).out).toMatch(/^\nA week� of autumn\n\ndataProviders\/streamly\n +reach +5 /);
    expect(JSON.parse((await results('--json')).out)).toMatchObject({ title: 'A week\u0007 of autumn' });
  });

  it('reports a measurement whose stored question belongs to another measurement', async () => {
    const [one, other] = [await created('swapped', 'one'), await created('swapped', 'other')];
    await w.exchange.database.query(
      `UPDATE measurements m SET question_ciphertext = o.question_ciphertext FROM measurements o
        WHERE m.id = $1 AND o.id = $2`,
      [one, other].map((name) => name.split('/').at(-1)),
    );
    const { out } = await run('measurements', 'list', '--as', 'acme', '--reference', 'swapped');
    expect(out).toMatch(/ swapped +other\n.*\n {2}swapped +rejected: NO_MATCHING_KEY\n/);
    expect((await run('measurements', 'show', one, '--as', 'acme')).out).toMatch(
      /question +rejected: .*\(NO_MATCHING_KEY\)\n/,
    );
    const verified = await run('verify', 'measurement', one, '--as', 'acme');
    expect(verified.error?.exitCode).toBe(2);
    expect(verified.out).toMatch(/✗ the question stored with it is yours.*NO_MATCHING_KEY/);
    await fulfillWith(w.streamly, one, reach(5n));
    const results = await run('measurements', 'results', one, '--as', 'acme');
    expect(results.out).toMatch(/reach +5 /);
    expect(results.err).toMatch(/its question: .*\(NO_MATCHING_KEY\)/);
    await w.acme.client.cancelMeasurement({ name: other });
  });

  it('prints the findings of the exchange in the timeline', async () => {
    const { name } = await w.consumer.create(asking(w, 'reach', w.streamly, w.chirper));
    const { out } = await run('measurements', 'timeline', name!, '--as', 'acme');
    expect(out).toMatch(/\nREACH_NOT_DEDUPLICATED at \S+: .*union/);
    await w.acme.client.cancelMeasurement({ name: name! });
  });

  it('cancels a measurement, and rejects a second cancellation', async () => {
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
  it('lists its own requisitions to a provider, and those of a measurement to a consumer', async () => {
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

  it('refuses a requisition only once, and requires a valid justification', async () => {
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

describe('mex why', () => {
  it('prints to consumer and provider what a measurement waits for and what to do, given only an ID', async () => {
    const name = await created('waits');
    const why = (what: string, ...as: string[]) => run('why', what.split('/').at(-1)!, '--as', ...as);
    const { name: requisition } = await requisitionOf(w.streamly, name);
    const body = {
      reason: 'Logs come \u001b[31mlate.',
      until: new Date(Date.now() + 3600_000).toISOString(),
    };
    await w.streamly.client.deferRequisition({ name: requisition!, body });
    for (const shown of [await why(name, 'acme'), await why(requisition!, 'streamly')]) {
      expect(shown.out).toMatch(/\n {2}(AWAITING_\w+|UNFULFILLED) since 20/);
      expect(shown.out).toMatch(
        /\n {2}DEFERRED dataProviders\/streamly \(since 20.*UTC, last seen 20.*UTC\)\n.*“Logs come �\[31mlate.”\n {4}→ /,
      );
    }
    const json = JSON.parse((await why(name, 'acme', '--json')).out);
    expect(json.waitingFor).toMatchObject([{ code: 'DEFERRED', party: w.streamly.name }]);
    await w.acme.client.cancelMeasurement({ name });
    expect((await why(name, 'acme')).out).toMatch(/acme cancelled it\.\n\n {2}CANCELLED\n {4}→ /);
    expect((await run('why', name)).error?.message).toMatch(/^mex why is for .*you call as operator/);
  });
});

describe('mex summary', () => {
  it('counts the resources of a party by state, and lists what needs attention', async () => {
    const name = await created('summary');
    const requisition = (await requisitionOf(w.streamly, name)).name!;
    const before = await mexJson('summary', '--as', 'streamly');
    await run('requisitions', 'refuse', requisition, '--justification', 'DECLINED', '--as', 'streamly');
    const { requisitions, attention } = await mexJson('summary', '--as', 'streamly');
    const refused = (states: { state: string; count: number }[]) =>
      states.find(({ state }) => state === 'REFUSED')!.count;
    expect(refused(requisitions.states)).toBe(refused(before.requisitions.states) + 1);
    expect(attention).toContainEqual(expect.objectContaining({ code: 'REFUSED', name: requisition }));
    const { out } = await run('summary', '--as', 'acme');
    expect(out).toMatch(/^measurementConsumers\/acme\n/);
    expect(out).toMatch(/FAILED +[1-9]/);
    expect(out).toContain(`REFUSED ${name}`);
    expect((await run('summary')).error?.message).toMatch(/^mex summary is for .*you call as operator/);
  });
});

describe('mex webhooks', () => {
  it('creates, lists, updates, tests and deletes webhooks, and get does not print the secret', async () => {
    const webhooks = (...words: string[]) => run('webhooks', ...words, '--as', 'globex');
    const { out } = await webhooks('create', 'http://127.0.0.1:9/', '--kind', 'MEASUREMENT', 'PARTY');
    const [, name, secret] = /^(\S+) is made.*\n\n {2}(whsec_\S+)\n/.exec(out)!;
    expect(out).toContain(
      `\nTry it: MEX_DATA_DIR=${w.exchange.dataDir} mex webhooks test ${name} --as globex\n`,
    );
    const id = name!.split('/').at(-1)!;
    expect((await webhooks('list')).out).toMatch(/ACTIVE +http:\/\/127.0.0.1:9\/ +MEASUREMENT, PARTY/);
    expect((await webhooks('pause', id)).out).toMatch(/PAUSED\n.*The owner paused it/);
    expect((await webhooks('update', id, '--description', 'ours')).out).toMatch(/description +ours/);
    expect((await webhooks('rotate-secret', id)).out).toMatch(/ {2}whsec_/);
    expect((await webhooks('update', id, '--kind', 'all')).out).toMatch(/kinds +all\n +description +ours/);
    expect((await webhooks('update', id)).error?.message).toBe(
      'Say what to change: --to, --kind or --description.',
    );
    expect((await webhooks('test', id)).out).toContain(`mex webhooks deliveries ${name} --as globex\n`);
    await vi.waitFor(async () => {
      expect((await webhooks('deliveries', id)).out).toMatch(/FAILED +1 +the connection was refused/);
    }, 90_000);
    expect((await webhooks('redeliver', id, '--from', '2026-01-01')).out).toContain(
      'gets everything since 2026-01-01 00:00:00 UTC again',
    );
    expect((await webhooks('redeliver', id, '--from', '12h')).error).toBeUndefined();
    expect((await webhooks('redeliver', id, '--from', 'monday')).err).toContain('It must be a day such as');
    const shown = (await webhooks('get', id)).out + (await webhooks('get', id, '--json')).out;
    expect(shown).not.toContain(secret);
    expect((await webhooks('delete', id)).out).toContain('is deleted');
    expect((await webhooks('list')).out).toContain('has no webhook');
  });

  it.each([[['create', 'https://example.com']], [['list']], [['get', 'x']], [['deliveries', 'x']]])(
    'rejects the operator with the message that it is for parties: %j',
    async (words) => {
      expect((await run('webhooks', ...words)).error?.message).toMatch(
        /^mex webhooks is for consumers, data providers and duchies, and you call as operator: set MEX_TOKEN /,
      );
    },
  );
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
    await run('certificates', 'revoke', name!.split('/').at(-1)!, '--hold', '--as', 'globex');
    expect((await run('certificates', 'get', id, '--as', 'globex')).out).toMatch(/state +HOLD/);
    // The exchange replies "retry" until all open measurements that relied on the certificate have the state FAILED.
    await vi.waitFor(
      async () =>
        expect((await run('certificates', 'release-hold', name!, '--as', 'globex')).error).toBeUndefined(),
      90_000,
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
      'is not the name of a certificate',
    );
  });

  it('whoami prints the principal of the token', async () => {
    expect((await run('whoami')).out).toMatch(/^operator\n/);
    expect(JSON.parse((await run('whoami', '--as', 'streamly', '--json')).out).principal).toBe(
      'dataProviders/streamly',
    );
    vi.stubEnv('MEX_TOKEN', 'stale');
    expect((await run('whoami')).error?.message).toMatch(/TOKEN_INVALID\)\n {2}Get a fresh token/);
  });
});
