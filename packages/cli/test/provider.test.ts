import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { createClient, createConsumer, createTrustStore } from '@measurement-exchange/sdk';
import { openLedger } from '@measurement-exchange/sdk/provider';
import { ROOT, spawnMex } from '@measurement-exchange/testkit/process';
import { DAYS, eventsCsv, PEOPLE } from '@measurement-exchange/testkit/providerWorld';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { readPartyFile } from '../src/files/partyFile.ts';
import { told } from './environment.ts';
import { lines, mex, mexJson, run } from './mexInProcess.ts';
import { describeTo, path, useWorld, w } from './partyWorld.ts';
import { STREAMS, useProxy } from './proxy.ts';

useWorld();
const proxy = useProxy(() => w.exchange);

const interval = { start: '2026-07-01T00:00:00Z', end: '2026-07-04T00:00:00Z' };
let eventGroup: string;
beforeAll(async () => {
  await writeFile(path('events.csv'), eventsCsv());
  eventGroup = await describeTo(w.acme, w.streamly, 'spring');
});

const askFor = (
  consumer: typeof w.consumer,
  provider: string,
  name: string,
  epsilon: number,
  filter?: string,
) =>
  consumer.create({
    type: 'reach',
    dataProviders: [{ name: provider, eventGroups: [{ name, interval, ...(filter && { filter }) }] }],
    privacy: { epsilon, delta: 0 },
  });
const ask = (epsilon = 1, filter?: string) =>
  askFor(w.consumer, w.streamly.name, eventGroup, epsilon, filter);
const stateOf = async ({ name }: { name?: string }) =>
  (await w.acme.client.getMeasurement({ name: name! })).state;
const demo = ['provider', 'run', '--as', 'streamly', '--events'];

describe('mex provider run --as', () => {
  it('fulfills open requisitions with only events, logs its progress, and charges the ledger', async () => {
    const measurement = await ask();
    const { out, err, error } = await run(...demo, path('events.csv'), '--once');
    expect(error).toBeUndefined();
    expect(err).toContain('dataProviders/streamly processes its requisitions once.');
    expect(out).toMatch(new RegExp(`received, for ${measurement.name}\n.* fulfilled in \\d`));
    expect(await stateOf(measurement)).toBe('SUCCEEDED');

    const budget = await mex('provider', 'budget', '--as', 'streamly');
    expect(budget).toContain('Limit for each reference and day: epsilon 10, delta 0.000001, rho 1\n');
    expect(budget).toMatch(new RegExp(`spring +${DAYS[0]} +${DAYS[2]} +3 +1 +0 +0 +90 %\n`));
    expect(budget).toMatch(/measurementConsumers\/acme +1 +1 +0 +0\n/);
    expect(budget).toMatch(new RegExp(`${measurement.name} +spring +${DAYS[0]} +${DAYS[2]} +1 +0 +0\n`));
    expect(budget).toContain('About 9 more like the last one fit into the budget.\n');
  });

  it('prints one JSON object a line, refuses beyond the budget, and tells so', async () => {
    const measurement = await ask(500);
    const { out } = await run(...demo, path('events.csv'), '--once', '--json');
    expect(lines(out).map(({ type }) => type)).toEqual(['received', 'refused']);
    expect(lines(out)[1]).toMatchObject({
      justification: 'INSUFFICIENT_PRIVACY_BUDGET',
      time: expect.any(String),
    });
    expect(await stateOf(measurement)).toBe('FAILED');
  });

  it('checks its files before anything else, names what is wrong, and answers nothing', async () => {
    const measurement = await ask();
    const rows = eventsCsv();
    await writeFile(path('bad.csv'), rows.replace(/\n1,/, '\nx,'));
    await writeFile(path('cut.csv'), rows.slice(0, -20));
    await writeFile(path('people.json'), JSON.stringify({ subpopulations: [{ vidRanges: 7 }] }));
    await writeFile(path('text.ledger'), 'This is not a ledger. '.repeat(100));
    for (const [options, message] of [
      [[path('absent.csv')], /There is no file .*absent\.csv: put it there/],
      [[path('bad.csv')], /bad\.csv, line 2: "x" in the column vid is not a whole number/],
      [[path('cut.csv')], /cut\.csv, line 5051: it has \d values instead of 5/],
      [[path('events.csv'), '--population', path('people.json')], /people\.json: .*vidRanges must be a list/],
      [[path('events.csv'), '--ledger', path('text.ledger')], /text\.ledger is not a ledger/],
    ] as [string[], RegExp][]) {
      const { out, error } = await run(...demo, ...options, '--once');
      expect(error?.message).toMatch(message);
      expect(out).toBe('');
    }
    expect(await stateOf(measurement)).toBe('AWAITING_REQUISITION_FULFILLMENT');
    await run(...demo, path('events.csv'), '--once');
    expect(await stateOf(measurement)).toBe('SUCCEEDED');
  });

  it('publishes the attributes of its files in its event groups, with the words of its settings', async () => {
    const described = { description: 'in years', exampleValues: ['30'] };
    const publish = async (attributes: object) => {
      const settings = { events: { files: 'events.csv' }, attributes };
      await writeFile(path('attributes.json'), JSON.stringify(settings));
      return run('provider', 'run', '--as', 'streamly', '--config', path('attributes.json'), '--once');
    };
    const published = async () => await w.streamly.client.getEventGroup({ name: eventGroup });
    expect((await publish({ age: described })).error).toBeUndefined();
    const first = await published();
    expect(first.attributes).toEqual([{ name: 'age', type: 'INT', ...described }]);
    await publish({ age: described });
    expect((await published()).updateTime).toEqual(first.updateTime);
    await publish({});
    expect((await published()).attributes).toEqual([{ name: 'age', type: 'INT' }]);
    expect((await publish({ agee: described })).error?.message).toBe(
      'attributes.agee: the events have no such attribute. They have age.',
    );
  });

  it('serves its health and metrics where the settings say so', async () => {
    const settings = { operations: { port: 0 }, events: { files: 'events.csv' } };
    await writeFile(path('operations.json'), JSON.stringify(settings));
    const running = run('provider', 'run', '--as', 'streamly', '--config', path('operations.json'));
    const noted = () => vi.mocked(process.stderr.write).mock.calls.flat().map(String).join('');
    const address = () => /Health and metrics: (http:\/\/127\.0\.0\.1:\d+)\/metrics/.exec(noted())?.[1];
    try {
      const url = await vi.waitUntil(address, 90_000);
      const get = (page: string) => fetch(`${url}/${page}`);
      await vi.waitUntil(async () => (await get('readyz')).status === 200, 90_000);
      expect(await (await get('healthz')).json()).toEqual({ status: 'ok' });
      const measurement = await ask(0.01);
      await vi.waitUntil(async () => (await stateOf(measurement)) === 'SUCCEEDED', 90_000);
      const metrics = await vi.waitUntil(async () => {
        const text = await (await get('metrics')).text();
        return text.includes('outcome="fulfilled"} 1') && text;
      }, 90_000);
      expect(metrics).toMatch(/mex_provider_budget_left_ratio\{reference="spring"\} 0\.\d/);
      expect(metrics).toContain('mex_provider_open_requisitions 0\n');
      expect(metrics).toContain('mex_provider_lag_seconds 0\n');
    } finally {
      process.emit('SIGINT');
    }
    expect((await running).error).toBeUndefined();
    const status = await mex('provider', 'status', '--as', 'streamly');
    expect(status).toMatch(/^The agent has been running since .* It polled the exchange \d+ s ago\.\n/);
    expect(status).toMatch(/fulfilled 1, refused 0, failed attempts 0\.\nNo requisition is open\.\n/);
    expect(status).toMatch(/measurementConsumers\/acme\/measurements\/\S+ +result\n/);
  });

  it.each([
    ['as JSON', ['--json'], /^{"time":"[^"]+","type":"warning","message":"http/],
    ['as a line', [], /^\d\d:\d\d:\d\d {2}http/],
  ])('logs %s what is wrong with the way to the exchange', async (_how, options, form) => {
    proxy.treat((path) => (STREAMS.test(path) ? 'PAGE' : 'PASS'));
    const there = ['--url', proxy.url, '--token', w.exchange.dev.dataProviders[0]!.token];
    const running = run(...demo, path('events.csv'), ...there, ...options);
    const warning = 'changes do not arrive as a stream';
    const logged = () => vi.mocked(process.stdout.write).mock.calls.flat().map(String);
    const isLogged = () => logged().some((line) => line.includes(warning));
    await vi.waitUntil(isLogged, 90_000).finally(() => process.emit('SIGINT'));
    const { out, err, error } = await running;
    expect(error).toBeUndefined();
    const [line] = out.split('\n').filter((line) => line.includes(warning));
    expect(line).toMatch(form);
    expect(err).not.toContain(warning);
  });

  it('logs that events were left out', async () => {
    await writeFile(path('partly.csv'), eventsCsv().replace(/\n\d+,/, '\n,'));
    const measurement = await ask(0.01);
    const { out } = await run(...demo, path('partly.csv'), '--once', '--json');
    expect(lines(out)).toContainEqual({
      time: expect.any(String),
      type: 'warning',
      message: '1 events have no VID and were left out.',
    });
    expect(await stateOf(measurement)).toBe('SUCCEEDED');
  });

  it('runs until it is told to stop, and lets no second one near its ledger', async () => {
    const agent = spawnMex([...demo, path('events.csv')], { env: { MEX_DATA_DIR: w.exchange.dataDir } });
    try {
      await vi.waitUntil(() => agent.output().includes('Ctrl-C stops it'), 90_000);
      const { error } = await run(...demo, path('events.csv'), '--once');
      expect(error!.message).toContain('Another agent works on');
      expect((await mexJson('provider', 'budget', '--as', 'streamly')).faults).toEqual([]);
      const measurement = await ask();
      await vi.waitUntil(async () => (await stateOf(measurement)) === 'SUCCEEDED', 90_000);
      expect(await agent.kill()).toBe(0);
      expect(agent.output()).toContain('fulfilled in');
    } finally {
      await agent.kill('SIGKILL');
    }
  });
});

// The agent computes until it is stopped. In the SDK, hostileFilters.test.ts and evaluator.test.ts test what filters cost.
describe.runIf(isStress)('mex provider run and a hostile consumer', () => {
  it('serves the others and stops when told, whatever a filter costs', async () => {
    // 60,000 codes, each of which is compared with every number of a list.
    const rows = Array.from({ length: 60_000 }, (_, code) => `${code},${DAYS[0]} 12:00:00,spring,${code}`);
    await writeFile(path('codes.csv'), `vid,timestamp,event_group,code\n${rows.join('\n')}\n`);
    const list = Array.from({ length: 400 }, (_, i) => -i - 1);
    // A hostile consumer does not check its filters, so this event group says nothing about attributes.
    const codes = await describeTo(w.acme, w.streamly, 'spring');
    const ask = (epsilon: number, filter: string) =>
      askFor(w.consumer, w.streamly.name, codes, epsilon, filter);
    const slow = await ask(0.01, `[${list.join(', ')}].all(x, x != code)`);
    const pattern = Array.from({ length: 60 }, () => 'a[ab]{900}[cd]').join('|');
    const hostile = await ask(0.01, `'${'ab'.repeat(15_000)}'.matches('${pattern}')`);
    const good = await ask(0.01, 'code < 100');
    const agent = spawnMex([...demo, path('codes.csv')], { env: { MEX_DATA_DIR: w.exchange.dataDir } });
    try {
      await vi.waitUntil(async () => (await stateOf(good)) === 'SUCCEEDED', 90_000);
      await vi.waitUntil(async () => (await stateOf(hostile)) === 'FAILED', 90_000);
      expect(await stateOf(slow)).toBe('AWAITING_REQUISITION_FULFILLMENT');
      const killed = agent.kill('SIGTERM');
      expect(await Promise.race([killed, sleep(20_000)])).toBe(0);
    } finally {
      await agent.kill('SIGKILL');
      await w.acme.client.cancelMeasurement({ name: slow.name! }).catch(() => {});
    }
  });
});

const FINGERPRINT = Buffer.alloc(32).toString('base64');
/** Settings of a computation by these duchies, with other changes at the end. */
function computedBy(...duchies: (string | object)[]) {
  const names = duchies.filter((duchy) => typeof duchy === 'string');
  const rooted = names.map((name) => [name, { rootFile: 'root.pem' }]);
  const changes = duchies.find((duchy) => typeof duchy === 'object');
  const shareShuffle = { duchies: Object.fromEntries(rooted), populations: [FINGERPRINT], ...changes };
  return { protocols: { honestMajorityShareShuffle: shareShuffle } };
}

describe('mex provider run --config', () => {
  it('serves a provider with keys of its own, whose token and events are files', async () => {
    const name = 'dataProviders/lakeside';
    const issuer = await createDevIssuer({
      keyFile: devKeyFile(w.exchange.dataDir),
      baseUrl: w.exchange.url,
    });
    await mex('identity', name, '--out', path('lakeside'));
    const subject = [
      '--issuer',
      `${w.exchange.url}/dev`,
      '--subject',
      name,
      ...(await told(path('lakeside'))),
    ];
    await mex('admin', 'onboard', path('lakeside/party.json'), ...subject, '--trust-root');
    await writeFile(path('token'), `${await issuer.mint(name)}\n`);
    await writeFile(path('demo-root.pem'), w.root.certificatePem);
    const config = {
      url: w.exchange.url,
      tokenFile: 'token',
      identity: 'lakeside',
      roots: ['measurementConsumers/acme=demo-root.pem'],
      ledger: 'lakeside.ledger',
      budget: { epsilon: 1e6, delta: 0, rho: 0 },
      events: { files: 'events.csv', columns: { attributes: ['age'] } },
      references: { spring: { measurementConsumers: ['measurementConsumers/acme'] } },
      concurrency: 1,
    };
    await writeFile(path('provider.json'), JSON.stringify(config));

    const client = createClient({ baseUrl: w.exchange.url, token: await issuer.mint(name) });
    const group = await describeTo(w.acme, { ...w.streamly, name, client }, 'spring');
    const { rootPem } = await readPartyFile(path('lakeside/party.json'));
    const trust = createTrustStore([{ pem: w.root.certificatePem }, { party: name, pem: rootPem! }]);
    const consumer = createConsumer({ client: w.acme.client, credentials: w.acme, trust });

    const measurement = await askFor(consumer, name, group, 1e5);
    const once = ['provider', 'run', '--config', path('provider.json'), '--once'];
    const unconfirmed = await run(...once);
    expect(unconfirmed.error).toBeUndefined();
    expect(unconfirmed.out).toContain(
      'confirmed that the events have spring: questions about them are held.',
    );
    expect(unconfirmed.out).toMatch(/held, nothing is charged: .*"spring".*mex provider check/);
    const status = await mex('provider', 'status', '--config', path('provider.json'));
    expect(status).toMatch(
      /Held, about references that nobody has confirmed: 1\n.*requisitions.*\n.*acme since .*: spring\n/,
    );
    expect((await mexJson('provider', 'budget', '--config', path('provider.json'))).spending).toEqual([]);

    const confirmed = await mex('provider', 'check', '--config', path('provider.json'), '--confirm');
    expect(confirmed).toMatch(
      /spring +5050 +3 +2026-07-01 +2026-07-03 +acme +confirmed\nConfirmed: spring\./,
    );
    const { error, out } = await run(...once);
    expect([error, out]).toEqual([undefined, expect.stringContaining('fulfilled')]);
    expect(out).not.toContain('confirm');
    expect(await mex('provider', 'status', '--config', path('provider.json'))).toContain(
      'No question is held.',
    );
    const result = await consumer.open(await w.acme.client.getMeasurement({ name: measurement.name! }));
    expect(result.dataProviders[0]!.reach!.value).toBe(PEOPLE);
    expect((await mexJson('provider', 'budget', '--config', path('provider.json'))).spending).toHaveLength(3);

    const { references, ...open } = config;
    const reject = async (settings: object) => {
      await writeFile(path('open.json'), JSON.stringify(settings));
      return (await run('provider', 'run', '--config', path('open.json'), '--once')).error!.message;
    };
    expect(await reject(open)).toContain('"references": {"spring": {"measurementConsumers"');
    expect(await reject({ ...open, references, events: { files: 'events.csv' } })).toContain('"attributes"');
  });

  it.each<[string, object, string]>([
    ['an unknown setting', { legder: 'x' }, 'legder is not a known field.'],
    [
      'a setting of another kind',
      { budget: { epsilon: '1', delta: 0, rho: 0 } },
      'budget.epsilon must be a number',
    ],
    ['a part of the budget left out', { budget: { epsilon: 1 } }, 'budget.delta is required.'],
    [
      'an unknown column',
      { events: { files: 'x', columns: { user: 'x' } } },
      'events.columns.user is not a known field.',
    ],
    [
      'a reference that nobody may ask about',
      { references: { spring: {} } },
      'references[spring].measurementConsumers is required.',
    ],
    [
      'a consumer that is none',
      { references: { spring: { measurementConsumers: ['acme'] } } },
      'references[spring].measurementConsumers[0] must match measurementConsumers/{measurementConsumer}.',
    ],
    [
      'an event group with two references',
      {
        references: Object.fromEntries(
          ['spring', 'summer'].map((reference) => [
            reference,
            {
              measurementConsumers: ['measurementConsumers/acme'],
              eventGroups: ['dataProviders/lakeside/eventGroups/x'],
            },
          ]),
        ),
      },
      'references lists dataProviders/lakeside/eventGroups/x twice',
    ],
    ['unknown noise', { noise: 'NONE' }, 'noise must be one of DISCRETE_GAUSSIAN, GEOMETRIC.'],
    [
      'a computation without duchies',
      { protocols: { honestMajorityShareShuffle: { populations: [FINGERPRINT] } } },
      'protocols.honestMajorityShareShuffle.duchies is required.',
    ],
    [
      'a computation by two duchies',
      computedBy('duchies/alpha', 'duchies/beta'),
      'duchies must have at least 3 members',
    ],
    [
      'a duchy that is none',
      computedBy('duchies/alpha', 'duchies/beta', 'gamma'),
      'honestMajorityShareShuffle.duchies[gamma] the key must match duchies/{duchy}',
    ],
    [
      'a population that is none',
      computedBy('duchies/alpha', 'duchies/beta', 'duchies/gamma', { populations: ['populations/x'] }),
      'populations must be fingerprints of populations, as mex populations show prints them.',
    ],
    [
      'noise that no duchy adds',
      computedBy('duchies/alpha', 'duchies/beta', 'duchies/gamma', { noiseMechanisms: ['LAPLACE'] }),
      'noiseMechanisms[0] must be one of NONE, GEOMETRIC, DISCRETE_GAUSSIAN.',
    ],
    [
      'a ring of one duchy',
      { protocols: { liquidLegions: { duchies: { 'duchies/alpha': { rootFile: 'root.pem' } } } } },
      'liquidLegions.duchies must have at least 2 members',
    ],
    [
      'a protocol on sketches that there is not',
      { protocols: { liquidLegions: { duchies: {}, protocols: ['honestMajorityShareShuffle'] } } },
      'liquidLegions.protocols[0] must be one of reachOnlyLiquidLegionsV2, liquidLegionsV2.',
    ],
    ['no data', {}, 'Say which data to use'],
    ['no identity', { events: { files: 'x' } }, 'Say who you are'],
    ['no trusted roots', { events: { files: 'x' }, identity: 'x' }, 'Say whose certificates you trust'],
  ])('rejects %s', async (_what, config, message) => {
    await writeFile(path('bad.json'), JSON.stringify(config));
    const { error } = await run('provider', 'run', '--config', path('bad.json'), '--once');
    expect(error!.message).toContain(message);
  });

  it('accepts the settings in the quickstart', async () => {
    const quickstart = await readFile(join(ROOT, 'docs/quickstart/provider.md'), 'utf8');
    const [, settings] = /```json\n(.*?)```/s.exec(quickstart)!;
    await writeFile(path('quickstart.json'), settings!);
    const { error } = await run('provider', 'run', '--config', path('quickstart.json'), '--once');
    expect(error!.message).toMatch(/acme\.pem.*ENOENT/);
  });

  it('reports what is wrong with the file itself', async () => {
    expect((await run('provider', 'run', '--config', path('none.json'))).error!.message).toContain('ENOENT');
    await writeFile(path('bad.json'), '{');
    expect((await run('provider', 'run', '--config', path('bad.json'))).error!.message).toContain(
      'is not JSON',
    );
  });

  it('is not for consumers', async () => {
    const { error } = await run('provider', 'run', '--as', 'acme', '--events', path('events.csv'), '--once');
    expect(error!.message).toContain('measurementConsumers/acme is no data provider');
  });
});

describe('mex provider check', () => {
  const config = async (references: object) => {
    const columns = { attributes: ['age'] };
    const settings = { ledger: 'checked.ledger', events: { files: 'events.csv', columns }, references };
    await writeFile(path('checked.json'), JSON.stringify(settings));
    return ['provider', 'check', '--config', path('checked.json')];
  };
  const acme = { measurementConsumers: ['measurementConsumers/acme'] };

  it('shows what the settings name and the events lack, and confirms that by its name alone', async () => {
    const check = await config({ sprng: acme, autumn: { ...acme, served: true } });
    const shown = await mex(...check, '--confirm');
    expect(shown).toMatch(/spring +5050 +3 .* nobody +not confirmed\n/);
    expect(shown).toMatch(/sprng +0 +0 +acme +not confirmed\n/);
    expect(shown).toMatch(/autumn +0 +0 +acme +declared\n/);
    expect(shown).toContain('sprng has no rows');
    expect(shown).toContain('Questions about 1 of them are held');
    expect(shown).not.toContain('Confirmed:');
    expect((await run(...check, '--confirm', 'spring')).error!.message).toContain('nobody may ask about it');

    const { references, confirmed } = await mexJson(...check, '--confirm', 'sprng');
    expect(confirmed).toEqual(['sprng']);
    const served = references.map((each: { reference: string; served: string }) => [
      each.reference,
      each.served,
    ]);
    expect(served).toEqual([
      ['spring', 'NO'],
      ['sprng', 'CONFIRMED'],
      ['autumn', 'DECLARED'],
    ]);
  });

  it('describes the events, their columns, the VIDs outside of the population, and what questions cost', async () => {
    const population = {
      subpopulations: [
        {
          vidRanges: [
            { start: 1, end: 40 },
            { start: 60, end: 200 },
          ],
        },
      ],
    };
    await writeFile(path('population.json'), JSON.stringify(population));
    await writeFile(path('partly.csv'), eventsCsv().replace(/\n\d+,/, '\n,'));
    const settings = {
      ledger: 'described.ledger',
      budget: { epsilon: 1, delta: 1e-6, rho: 0.1 },
      events: { files: 'partly.csv' },
      population: 'population.json',
    };
    await writeFile(path('described.json'), JSON.stringify(settings));
    const described = ['provider', 'check', '--config', path('described.json')];
    const shown = await mex(...described);
    expect(shown).toContain('Files 1, rows 5,050, people 99, 2026-07-01 to 2026-07-03\n');
    expect(shown).toMatch(/vid +person +BIGINT +1\n/);
    expect(shown).toMatch(/age +int +0 +\d+\n/);
    expect(shown).toContain('1 rows have no vid, and are never counted.');
    expect(shown).toMatch(/19 of 99 VIDs are outside of the population .*population\.json/);
    expect(shown).toMatch(/A reach question with epsilon 0\.1 and delta 1e-9 costs rho 0\.\d+ on each day: /);
    const { events, questions } = await mexJson(...described);
    expect(events).toMatchObject({ rows: 5050, people: 99, peopleOutside: 19 });
    expect(questions[1].cost.rho).toBeGreaterThan(questions[0].cost.rho);
  });

  it('needs events and a ledger', async () => {
    expect((await run('provider', 'check', '--events', path('events.csv'))).error!.message).toContain(
      'Say which ledger',
    );
    await writeFile(path('none.json'), JSON.stringify({ population: 'x.json' }));
    const { error } = await run('provider', 'check', '--config', path('none.json'));
    expect(error!.message).toContain('Say which events to look at');
  });

  it('is not needed in development for what the files have, and holds what they lack', async () => {
    const summer = await describeTo(w.acme, w.streamly, 'summer');
    const measurement = await askFor(w.consumer, w.streamly.name, summer, 0.01);
    const answered = await ask(0.01);
    const { out } = await run(...demo, path('events.csv'), '--once', '--json');
    const types = lines(out).map(({ type }) => type);
    expect(types.filter((type) => type !== 'progress').toSorted()).toEqual([
      'fulfilled',
      'held',
      'received',
      'received',
    ]);
    expect(await stateOf(answered)).toBe('SUCCEEDED');
    expect(await stateOf(measurement)).toBe('AWAITING_REQUISITION_FULFILLMENT');
    const { heldQuestions } = await mexJson('provider', 'status', '--as', 'streamly');
    expect(heldQuestions).toMatchObject([{ references: ['summer'] }]);
    await w.acme.client.cancelMeasurement({ name: measurement.name! });
  });
});

describe('mex provider budget', () => {
  it('shows what does not add up, and ends with 1', async () => {
    await ask();
    await run(...demo, path('events.csv'), '--once', '--ledger', path('spoiled.ledger'));
    const database = new DatabaseSync(path('spoiled.ledger'));
    database.exec('UPDATE totals SET epsilon = 1');
    database.close();
    const { error, out } = await run('provider', 'budget', '--ledger', path('spoiled.ledger'));
    expect(error).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('is not the sum of its charges'),
    });
    expect(out).toContain('spring');
  });

  it('reports where it did not find a ledger', async () => {
    expect((await run('provider', 'budget', '--ledger', path('no.ledger'))).error!.message).toContain(
      'is not there',
    );
    expect((await run('provider', 'budget')).error!.message).toContain('Say which ledger');
  });
});

describe('mex provider status', () => {
  const status = (...options: string[]) =>
    mex('provider', 'status', '--ledger', path('status.ledger'), ...options);

  it('shows which uploads duchies reject, how often, and what they said', async () => {
    const ledger = openLedger(path('status.ledger'), { epsilon: 1, delta: 0, rho: 0 });
    try {
      expect(await status()).toContain('No requisition has a response yet.');
      const requisition = 'dataProviders/lakeside/requisitions/r1';
      ledger.begin(requisition, []);
      ledger.commit(requisition, { upload: { duchy: 'duchies/alpha', fulfillment: '{}' } });
      expect(await status()).toMatch(
        /direct results 0, uploads to duchies 1, refusals 0\.\nTIME.*\n.*\nNo question is held\.\nNo upload is rejected by/,
      );
      const countedAt = Date.parse('2026-10-01T12:00:00Z');
      ledger.rejections.set(requisition, { count: 3, countedAt, why: 'It says \u001b[2J no.' });
      const text = await status();
      expect(text).toContain(
        `${requisition}\n    rejected 3 times, last at 2026-10-01T12:00:00.000Z: It says `,
      );
      expect(text).not.toContain('\u001b[2J');
      expect(JSON.parse(await status('--json'))).toMatchObject({
        responses: { results: 0, uploads: 1, refusals: 0 },
        rejectedUploads: [
          { requisition, duchy: 'duchies/alpha', count: 3, countedAt: '2026-10-01T12:00:00.000Z' },
        ],
      });
    } finally {
      ledger.close();
    }
  });
});
