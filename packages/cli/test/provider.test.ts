/** Tests `mex provider run --as`, which runs the agent of a demo party. */
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnMex } from '@measurement-exchange/testkit/process';
import { DAYS, eventsCsv } from '@measurement-exchange/testkit/providerWorld';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { describe, expect, it, vi } from 'vitest';
import { lines, mex, mexJson, run } from './mexInProcess.ts';
import { describeTo, path, w } from './partyWorld.ts';
import { ask, askFor, demo, eventGroup, stateOf, useProviderWorld } from './providerWorld.ts';
import { STREAMS, useProxy } from './proxy.ts';

useProviderWorld();
const proxy = useProxy(() => w.exchange);

describe('mex provider run --as', () => {
  it('fulfills open requisitions with only an events file, logs its progress, and charges the ledger', async () => {
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
    expect(budget).toMatch(
      new RegExp(`${measurement.name}\\s+spring\\s+${DAYS[0]}\\s+${DAYS[2]}\\s+1\\s+0\\s+0\n`),
    );
    expect(budget).toContain('About 9 more like the last one fit into the budget.\n');
  });

  it('refuses a requisition that exceeds the budget, and prints one JSON object a line with --json', async () => {
    const measurement = await ask(500);
    const { out } = await run(...demo, path('events.csv'), '--once', '--json');
    expect(lines(out).map(({ type }) => type)).toEqual(['received', 'refused']);
    expect(lines(out)[1]).toMatchObject({
      justification: 'INSUFFICIENT_PRIVACY_BUDGET',
      time: expect.any(String),
    });
    expect(await stateOf(measurement)).toBe('FAILED');
  });

  it('rejects invalid files before it answers any requisition, and names the problem', async () => {
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

  it('publishes the attributes of its events in its event groups, with descriptions from its settings', async () => {
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

  it('serves health and metrics if its settings have operations', async () => {
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
    expect(status).toMatch(
      /^No agent runs: the last one ended \d+ s ago\. Start it with mex provider run\.\n/,
    );
    expect(status).toMatch(/fulfilled 1, refused 0, failed attempts 0\.\nNo requisition is open\.\n/);
    expect(status).toMatch(/measurementConsumers\/acme\/measurements\/\S+\s+result\n/);
  });

  it.each([
    ['as JSON', ['--json'], /^{"time":"[^"]+","type":"warning","message":"http/],
    ['as a line', [], /^\d\d:\d\d:\d\d {2}http/],
  ])('logs %s that changes do not arrive as a stream', async (_how, options, form) => {
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

  it('logs how many events without a VID were left out', async () => {
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

  it('runs until it is stopped, and rejects a second agent on the same ledger', async () => {
    const agent = spawnMex([...demo, path('events.csv')], { env: { MEX_DATA_DIR: w.exchange.dataDir } });
    try {
      await vi.waitUntil(() => agent.output().includes('Ctrl-C stops it'), 90_000);
      const { error } = await run(...demo, path('events.csv'), '--once');
      expect(error!.message).toContain('Another agent works on');
      expect((await mexJson('provider', 'budget', '--as', 'streamly')).faults).toEqual([]);
      const measurement = await ask();
      await vi.waitUntil(async () => (await stateOf(measurement)) === 'SUCCEEDED', 90_000);
      const status = await mex('provider', 'status', '--as', 'streamly');
      expect(status).toMatch(/^The agent has been running since .* It polled the exchange \d+ s ago\.\n/);
      expect(await agent.kill()).toBe(0);
      expect(agent.output()).toContain('fulfilled in');
    } finally {
      await agent.kill('SIGKILL');
    }
  });
});

// Run this only in `npm run stress`, because the agent computes until it is stopped. hostileFilters.test.ts and
// evaluator.test.ts of the SDK test the cost of filters.
describe.runIf(isStress)('mex provider run and a hostile consumer', () => {
  it('answers other questions and stops on SIGTERM despite filters that are expensive to evaluate', async () => {
    // The filter compares each of 60,000 codes with every number of a list.
    const rows = Array.from({ length: 60_000 }, (_, code) => `${code},${DAYS[0]} 12:00:00,spring,${code}`);
    await writeFile(path('codes.csv'), `vid,timestamp,event_group,code\n${rows.join('\n')}\n`);
    const list = Array.from({ length: 400 }, (_, i) => -i - 1);
    // Declare no attributes in the event group, so that the consumer's own check does not reject these filters. A
    // hostile consumer would skip that check.
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
