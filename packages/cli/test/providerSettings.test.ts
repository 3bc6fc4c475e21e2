/** Tests `mex provider run --config`, which runs the agent of any party from a settings file. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { createClient, createConsumer, createTrustStore } from '@measurement-exchange/sdk';
import { ROOT } from '@measurement-exchange/testkit/process';
import { PEOPLE } from '@measurement-exchange/testkit/providerWorld';
import { describe, expect, it } from 'vitest';
import { readPartyFile } from '../src/files/partyFile.ts';
import { told } from './environment.ts';
import { mex, mexJson, run } from './mexInProcess.ts';
import { describeTo, path, w } from './partyWorld.ts';
import { askFor, useProviderWorld } from './providerWorld.ts';

useProviderWorld();

const FINGERPRINT = Buffer.alloc(32).toString('base64');
/** Returns settings for a computation by the named duchies. An object among the arguments adds or replaces settings. */
function computedBy(...duchies: (string | object)[]) {
  const names = duchies.filter((duchy) => typeof duchy === 'string');
  const rooted = names.map((name) => [name, { rootFile: 'root.pem' }]);
  const changes = duchies.find((duchy) => typeof duchy === 'object');
  const shareShuffle = { duchies: Object.fromEntries(rooted), populations: [FINGERPRINT], ...changes };
  return { protocols: { honestMajorityShareShuffle: shareShuffle } };
}

describe('mex provider run --config', () => {
  it('runs the agent of a provider with its own keys, and holds questions about unconfirmed references', async () => {
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
      'a setting of the wrong type',
      { budget: { epsilon: '1', delta: 0, rho: 0 } },
      'budget.epsilon must be a number',
    ],
    ['a budget without delta', { budget: { epsilon: 1 } }, 'budget.delta is required.'],
    [
      'an unknown column',
      { events: { files: 'x', columns: { user: 'x' } } },
      'events.columns.user is not a known field.',
    ],
    [
      'a reference without measurement consumers',
      { references: { spring: {} } },
      'references[spring].measurementConsumers is required.',
    ],
    [
      'an invalid consumer name',
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
      'an invalid duchy name',
      computedBy('duchies/alpha', 'duchies/beta', 'gamma'),
      'honestMajorityShareShuffle.duchies[gamma] the key must match duchies/{duchy}',
    ],
    [
      'a population that is not a fingerprint',
      computedBy('duchies/alpha', 'duchies/beta', 'duchies/gamma', { populations: ['populations/x'] }),
      'populations must be fingerprints of populations, as mex populations show prints them.',
    ],
    [
      'an unknown noise mechanism of duchies',
      computedBy('duchies/alpha', 'duchies/beta', 'duchies/gamma', { noiseMechanisms: ['LAPLACE'] }),
      'noiseMechanisms[0] must be one of NONE, GEOMETRIC, DISCRETE_GAUSSIAN.',
    ],
    [
      'a ring of one duchy',
      { protocols: { liquidLegions: { duchies: { 'duchies/alpha': { rootFile: 'root.pem' } } } } },
      'liquidLegions.duchies must have at least 2 members',
    ],
    [
      'an unknown protocol for sketches',
      { protocols: { liquidLegions: { duchies: {}, protocols: ['honestMajorityShareShuffle'] } } },
      'liquidLegions.protocols[0] must be one of reachOnlyLiquidLegionsV2, liquidLegionsV2.',
    ],
    ['settings without data', {}, 'Say which data to use'],
    ['settings without an identity', { events: { files: 'x' } }, 'Say who you are'],
    [
      'settings without trusted roots',
      { events: { files: 'x' }, identity: 'x' },
      'Say whose certificates you trust',
    ],
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

  it('reports a settings file that is missing or not JSON', async () => {
    expect((await run('provider', 'run', '--config', path('none.json'))).error!.message).toContain('ENOENT');
    await writeFile(path('bad.json'), '{');
    expect((await run('provider', 'run', '--config', path('bad.json'))).error!.message).toContain(
      'is not JSON',
    );
  });

  it('rejects a measurement consumer', async () => {
    const { error } = await run('provider', 'run', '--as', 'acme', '--events', path('events.csv'), '--once');
    expect(error!.message).toContain('measurementConsumers/acme is no data provider');
  });
});
