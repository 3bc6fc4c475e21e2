/** Tests that one trace covers a measurement across an exchange, an agent and three duchies. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { populationFingerprint } from '@measurement-exchange/mpc/shares';
import { createAgent, openEvents, openLedger } from '@measurement-exchange/sdk/provider';
import { inSpan } from '@measurement-exchange/server/telemetry';
import { useCollector } from '@measurement-exchange/testkit/collector';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { makeUpload, people } from './uploads.ts';
import { type DuchyWorld, startDuchyWorld, VID_RANGES } from './world.ts';

const INTERVAL = { start: '2026-07-01T00:00:00Z', end: '2026-07-04T00:00:00Z' };

const collector = useCollector();
let world: DuchyWorld;
let folder: string;
beforeAll(async () => {
  world = await startDuchyWorld();
  folder = await mkdtemp(join(tmpdir(), 'mex-traces-'));
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
  await rm(folder, { recursive: true, force: true });
});

/** Creates the agent of the first provider. The provider's events contain ten people. */
async function agentOf([provider]: DuchyWorld['providers']) {
  const files = join(folder, 'events.csv');
  const rows = Array.from({ length: 10 }, (_, i) => `${i + 1},2026-07-02 12:00:00,spring`);
  await writeFile(files, `vid,timestamp,event_group\n${rows.join('\n')}\n`);
  const events = await openEvents({ files, threads: 1 });
  const ledger = openLedger(join(folder, 'ledger.sqlite'), { epsilon: 100, delta: 1e-2, rho: 100 });
  const roots = world.duchies.map(({ duchy }) => duchy.name);
  const agent = createAgent({
    client: provider!.client,
    credentials: provider!,
    trust: world.trust,
    events,
    ledger,
    references: 'unchecked',
    served: new Set(['spring']),
    shareShuffle: {
      duchies: Object.fromEntries(roots.map((name) => [name, { rootPem: world.root.certificatePem }])),
      populations: [populationFingerprint(VID_RANGES)],
      noiseMechanisms: ['NONE'],
      allowHttp: true,
      folder: join(folder, 'shares'),
    },
    trace: inSpan,
    log: (event) => expect(event.type).not.toBe('refused'),
  });
  const close = async () => {
    ledger.close();
    await events.close();
  };
  return { agent, close };
}

test('one trace shows a measurement at the exchange, the agent and three duchies', async () => {
  const [streamly, chirper] = world.providers;
  const eventGroups = await Promise.all(
    [streamly!, chirper!].map(({ client, name }) =>
      client.createEventGroup({
        parent: name,
        body: { measurementConsumer: world.acme.name, eventGroupReferenceId: 'spring' },
      }),
    ),
  );
  const { agent, close } = await agentOf(world.providers);
  const measurement = await inSpan({ name: 'the consumer' }, () =>
    world.ask({
      dataProviders: [streamly!, chirper!].map(({ name }, i) => ({
        name,
        eventGroups: [{ name: eventGroups[i]!.name!, interval: INTERVAL }],
      })),
    }),
  );
  await world.turn();
  expect(await agent.once()).toEqual({ handled: 1, failed: 0 });
  await close();
  const upload = await makeUpload(chirper!, measurement, people(5, 20));
  expect((await upload.send()).ok).toBe(true);
  expect((await world.finish(measurement)).state).toBe('SUCCEEDED');

  const parts = () => {
    const { traceId } = collector.spans.find(({ name }) => name === 'the consumer') ?? {};
    const spans = collector.spans.filter((span) => span.traceId === traceId);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    // Only the first span has no parent within the trace.
    expect(spans.filter(({ parentId }) => !ids.has(parentId)).map(({ name }) => name)).toEqual([
      'the consumer',
    ]);
    return new Set(
      spans.flatMap(({ name, attributes }) => {
        const party = attributes['mex.party'] ?? attributes['mex.principal'];
        return party === undefined ? [] : [`${party} ${name}`];
      }),
    );
  };
  const [alpha, beta, gamma] = ['duchies/alpha', 'duchies/beta', 'duchies/gamma'];
  await vi.waitFor(() => {
    expect([...parts()]).toEqual(
      expect.arrayContaining([
        `${world.acme.name} createMeasurement`,
        ...[alpha, beta, gamma].map((duchy) => `${duchy} follow computation`),
        `${streamly!.name} requisition`,
        `${streamly!.name} getRequisition`,
        expect.stringMatching(/^duchies.(alpha|beta) fulfill$/),
        `${alpha} stage SETUP_PHASE`,
        `${beta} advance`,
        `${beta} stage SHUFFLE_PHASE`,
        `${gamma} advance`,
        `${gamma} stage AGGREGATION_PHASE`,
        `${gamma} setComputationResult`,
      ]),
    );
    // The database statements of a duchy are children of the stage that runs them.
    const stage = collector.spans.find(({ name }) => name === 'stage SETUP_PHASE')!;
    const below = collector.spans.filter(({ parentId }) => parentId === stage.spanId);
    expect(below.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql')).not.toEqual([]);
  }, 30_000);
});
