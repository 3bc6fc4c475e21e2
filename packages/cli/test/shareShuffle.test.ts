/** Tests the command line of a provider in a computation by duchies: its settings, its requisitions, and its checks. */
import { writeFile } from 'node:fs/promises';
import { ExchangeError, type Measurement } from '@measurement-exchange/contract';
import { type Consumer, createConsumer, createTrustStore } from '@measurement-exchange/sdk';
import { type FakeDuchies, startFakeDuchies } from '@measurement-exchange/testkit/fakeDuchies';
import { replies } from '@measurement-exchange/testkit/fakeDuchy';
import { addDuchies, SHARE_SHUFFLE } from '@measurement-exchange/testkit/shareShuffle';
import { requisitionOf, useWorld } from '@measurement-exchange/testkit/world';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { path, useEnvironment } from './environment.ts';
import { mex, run } from './mexInProcess.ts';
import { describeTo } from './partyWorld.ts';

const w = useWorld({ protocols: { honestMajorityShareShuffle: SHARE_SHUFFLE } }, addDuchies);
useEnvironment(() => w.exchange);

const INTERVAL = { start: '2026-07-01T00:00:00Z', end: '2026-07-04T00:00:00Z' };
let duchies: FakeDuchies;
let consumer: Consumer;
const eventGroups: string[] = [];
beforeAll(async () => {
  duchies = await startFakeDuchies(w.exchange, 50);
  consumer = createConsumer({
    client: w.acme.client,
    credentials: w.acme,
    trust: createTrustStore([{ pem: w.root.certificatePem }, ...duchies.roots]),
    duchies: duchies.names,
  });
  for (const provider of [w.streamly, w.chirper]) {
    eventGroups.push(await describeTo(w.acme, provider, 'spring'));
    const capabilities = { honestMajorityShareShuffleSupported: true };
    if (provider === w.chirper)
      await provider.client.updateParty({ name: provider.name, body: { capabilities } });
  }
  const rows = Array.from({ length: 60 }, (_, i) => `${i + 1},2026-07-02 12:00:00,spring`);
  await writeFile(path('events.csv'), `vid,timestamp,event_group\n${rows.join('\n')}\n`);
  for (const { name, identity } of duchies.all) await writeFile(rootOf(name), identity.root.certificatePem);
  const rooted = duchies.all.map(({ name }) => [name, { rootFile: `${name.split('/')[1]}.pem` }]);
  const population = await mex('populations', 'show', 'everybody', '--as', 'streamly');
  const [, fingerprint] = /fingerprint\s+(\S+)/.exec(population)!;
  const honestMajorityShareShuffle = {
    duchies: Object.fromEntries(rooted),
    populations: [fingerprint],
    allowHttp: true,
  };
  await writeFile(path('provider.json'), JSON.stringify({ protocols: { honestMajorityShareShuffle } }));
});
afterAll(() => duchies.close());

const rootOf = (duchy: string) => path(`${duchy.split('/')[1]}.pem`);
const roots = () => duchies.all.flatMap(({ name }) => ['--root', `${name}=${rootOf(name)}`]);
const agent = () =>
  run(
    ...['provider', 'run', '--as', 'streamly', '--config', path('provider.json')],
    ...['--events', path('events.csv'), '--once'],
  );
const ask = () =>
  consumer.create({
    type: 'reach',
    privacy: { epsilon: 0.1, delta: 1e-9 },
    dataProviders: [w.streamly, w.chirper].map(({ name }, i) => ({
      name,
      eventGroups: [{ name: eventGroups[i]!, interval: INTERVAL }],
    })),
  });
const verify = async ({ name }: Measurement, ...options: string[]) => {
  const requisition = await requisitionOf(w.streamly, name!);
  return run('verify', 'measurement', requisition.name!, '--as', 'streamly', ...options);
};

describe('a provider of a computation', () => {
  it('announces itself, waits for the duchies, and sends its share', async () => {
    const { err, error } = await agent();
    expect(error).toBeUndefined();
    expect(err).toContain('Duchies duchies/worker1, duchies/worker2, duchies/aggregator');
    const measurement = await ask();
    const { name } = await requisitionOf(w.streamly, measurement.name!);
    expect((await agent()).out).toContain('waits until its duchies are ready');
    expect(await mex('requisitions', 'show', name!, '--as', 'streamly')).toMatch(
      /computed by\s+duchies\/worker1 and duchies\/worker2, added up by duchies\/aggregator[\s\S]*share taken by\s+nobody yet/,
    );

    await duchies.setParameters(measurement);
    expect(await mex('requisitions', 'show', name!, '--as', 'streamly')).toMatch(
      /share taken by\s+duchies\/worker\d/,
    );
    const { out } = await agent();
    expect(out).toMatch(/10 people are not in the population[\s\S]*fulfilled in/);
    expect((await requisitionOf(w.streamly, measurement.name!)).state).toBe('FULFILLED');
    expect(await mex('provider', 'budget', '--as', 'streamly')).toMatch(
      /spring\s+2026-07-01\s+2026-07-03\s+3\s+0\s+\S+e-\d+\s+0\.0/,
    );
  });
});

it('the agent prints advice when a duchy rejects its upload, and shows it until the duchy accepts the upload', async () => {
  const measurement = await ask();
  await duchies.setParameters(measurement);
  const { fulfillingDuchy } = await requisitionOf(w.streamly, measurement.name!);
  const duchy = duchies.named(fulfillingDuchy!);
  const error = new ExchangeError(
    'CERTIFICATE_IS_INVALID',
    'fulfillment.certificate: it has an unknown root.',
  );
  duchy.next = [replies(400, JSON.stringify(error), { 'content-type': 'application/json' })];
  const rejected = await agent();
  expect(rejected.error).toMatchObject({ exitCode: 1 });
  expect(rejected.out).toMatch(
    /rejected 1 of 8 times, sent again in 1 min: .*\(CERTIFICATE_IS_INVALID\): .*unknown root\. Ask the duchy's operator/,
  );
  const status = () => mex('provider', 'status', '--as', 'streamly');
  expect(await status()).toMatch(
    /Uploads that their duchies reject: 1[\s\S]*rejected 1 times, last at .*unknown root/,
  );
  expect((await agent()).out).toContain('fulfilled in');
  expect(await status()).toContain('No upload is rejected by its duchy.');
});

describe('mex verify, of a computation', () => {
  it('checks the duchies step by step', async () => {
    const measurement = await ask();
    const early = await verify(measurement, ...roots());
    expect(early.error).toMatchObject({ exitCode: 2 });
    expect(early.out).toContain('✗ it has said what a provider needs: not yet');
    await duchies.setParameters(measurement);
    const { out, error } = await verify(measurement, ...roots());
    expect(error).toBeUndefined();
    expect(out).toMatch(/duchies\/worker\d, which takes your share\n✓/);
    expect(out).toMatch(
      /which gets the seed of the other share[\s\S]*✓ the key for the seed is signed with its key/,
    );
    expect(out).toContain(
      '✓ duchies, parameters of the protocol, nonce, result key, limits and event groups are in order',
    );
  });

  it('names the duchy whose certificate does not match the given root', async () => {
    const measurement = await ask();
    await duchies.setParameters(measurement);
    const [first, second, third] = duchies.all;
    const wrong = ['--root', `${first!.name}=${rootOf(second!.name)}`];
    const others = [second!, third!].flatMap(({ name }) => ['--root', `${name}=${rootOf(name)}`]);
    const { out, error } = await verify(measurement, ...wrong, ...others);
    expect(error).toMatchObject({ exitCode: 2 });
    expect(out).toMatch(/duchies\/worker1, which[^\n]*\n✓[^\n]*\n✗ its certificate is valid/);
  });
});
