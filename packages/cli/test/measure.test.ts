/**
 * Tests `mex measure` against a running exchange. The test chooses the providers' answers, or an agent computes them.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { createAgent, openEvents, openLedger } from '@measurement-exchange/sdk/provider';
import { eventsCsv, PEOPLE } from '@measurement-exchange/testkit/providerWorld';
import {
  frequency,
  fulfillWith,
  impression,
  population,
  reach,
  readRequisition,
  requisitionOf,
  watchDuration,
} from '@measurement-exchange/testkit/world';
import { describe, expect, it, vi } from 'vitest';
import { bar, barChart } from '../src/terminal/chart.ts';
import { told } from './environment.ts';
import { mex, run } from './mexInProcess.ts';
import { asked, describeTo, path, useWorld, w } from './partyWorld.ts';
import { CHANGES, useProxy } from './proxy.ts';
import { asTerminal, screenOf } from './terminal.ts';

useWorld();
const proxy = useProxy(() => w.exchange);

const JANUARY = ['--from', '2026-01-01', '--to', '2026-02-01'];
const both = ['--as', 'acme', '--provider', 'streamly', '--provider', 'dataProviders/chirper', ...JANUARY];
const one = ['--as', 'acme', '--provider', 'streamly', ...JANUARY];
/** Options that call the exchange through the proxy. */
const there = () => ['--url', proxy.url, '--token', w.exchange.dev.measurementConsumers[0]!.token];
/** Returns everything that the running command has written to standard error so far. */
const written = () => vi.mocked(process.stderr.write).mock.calls.flat().join('');

describe('a bar', () => {
  it('is drawn in eighths of a column, and is visible for every value above 0', () => {
    expect(bar(0.5, 10)).toBe('█████');
    expect(bar(0.55, 10)).toBe('█████▌');
    expect(bar(0, 10)).toBe('');
    expect(bar(1e-9, 10)).toBe('▏');
    expect(bar(7, 3)).toBe('███');
  });

  it('fits the width of the terminal, which the longest bar fills', () => {
    const bars = [
      { label: '1', value: 0.8, text: '80 %' },
      { label: '10+', value: 0.2, text: '20 %' },
    ];
    const [first, second] = barChart(bars, 40);
    expect(first).toBe(`    1  ${'█'.repeat(27)}  80 %`);
    expect(second).toBe(`  10+  ${'██████▊'.padEnd(27)}  20 %`);
    expect(barChart(bars, 10)[0]).toContain('████████  80 %');
    expect(barChart([{ label: '1', value: 0, text: 'none' }], 40)).toEqual([`  1  ${' '.repeat(29)}  none`]);
  });
});

describe('mex measure', () => {
  it('prints the progress and reach of each provider, and bounds instead of a deduplicated total', async () => {
    const running = run(
      'measure',
      'reach',
      ...both,
      '--epsilon',
      '0.5',
      '--filter',
      'age > 30',
      '--reference',
      'q1',
    );
    const name = await asked(w.chirper);
    const { spec } = await readRequisition(w.chirper, await requisitionOf(w.chirper, name));
    await fulfillWith(w.streamly, name, reach(1000n));
    await fulfillWith(w.chirper, name, reach(3000n));
    const { out, err, error } = await running;

    expect(error).toBeUndefined();
    expect(err.split('\n')).toEqual(
      expect.arrayContaining([
        name,
        'dataProviders/streamly: … waiting',
        'dataProviders/chirper: … waiting',
        'dataProviders/streamly: ✓ fulfilled',
        'dataProviders/chirper: ✓ fulfilled',
      ]),
    );
    // Geometric noise at epsilon 0.5 has a variance of 7.8, so 1.96 standard deviations are 5.5.
    expect(out).toMatch(/^dataProviders\/streamly\n {2}reach +1,000 +95 %: 995 to 1,005$/m);
    expect(out).toMatch(/^dataProviders\/chirper\n {2}reach +3,000 +95 %: 2,995 to 3,005$/m);
    expect(out).toMatch(
      /^all 2 providers\n {2}reach +between 3,000 and 4,000\n {2}Each data provider counted its own/m,
    );
    expect(out).toContain('geometric noise (discrete Laplace)');

    expect(await w.acme.client.getMeasurement({ name })).toMatchObject({ measurementReferenceId: 'q1' });
    const { eventGroups } = spec.requisitionType.value as { eventGroups: { key: string; value: unknown }[] };
    expect(eventGroups).toHaveLength(1);
    expect(eventGroups[0]).toMatchObject({
      key: expect.stringMatching(/^dataProviders\/chirper\/eventGroups\/\w+$/),
      value: {
        collectionInterval: { startTime: { seconds: 1767225600n } },
        filter: { expression: 'age > 30' },
      },
    });
  });

  it('draws the frequency distribution of a provider that counts real events', async () => {
    await writeFile(path('events.csv'), eventsCsv());
    const events = await openEvents({ files: path('events.csv') });
    const ledger = openLedger(path('ledger.sqlite'), { epsilon: 1e6, delta: 1e-3, rho: 1e6 });
    const stop = new AbortController();
    const agent = createAgent({
      ...w,
      credentials: w.streamly,
      client: w.streamly.client,
      events,
      ledger,
      references: { spring: { measurementConsumers: [w.acme.name], served: true } },
      pollMs: 50,
    });
    const working = agent.run(stop.signal);
    // Person v watched v times, so 5 of the 100 people watched one to five times, and the others watched more often.
    const { out, error } = await run(
      ...['measure', 'frequency', '--as', 'acme', '--provider', 'streamly:spring', '--from', '2026-07-01'],
      ...['--to', '2026-07-04'],
      // At this epsilon, the noise is practically always zero, so even the bars for a single person are drawn.
      ...['--epsilon', '500', '--max-frequency', '5'],
    );
    stop.abort();
    await working;
    await events.close();
    ledger.close();
    expect(error).toBeUndefined();
    expect(out).toMatch(new RegExp(`reach +${PEOPLE} `));
    const bars = out.split('\n').filter((line) => /^ +\d\+? +[▉-▏█]/.test(line));
    expect(bars.map((line) => line.trim().split(' ')[0])).toEqual(['1', '2', '3', '4', '5+']);
    expect(Math.max(...bars.map((line) => line.length))).toBeLessThanOrEqual(80);
    const lengths = bars.map((line) => (line.match(/█/g) ?? []).length);
    expect(lengths[4]).toBeGreaterThan(20 * lengths[0]!);
  });

  it('adds up impressions and durations, and not populations', async () => {
    const sum = async (type: string, results: [bigint, bigint], ...options: string[]) => {
      const make = { impressions: impression, duration: watchDuration, population }[type]!;
      const running = run('measure', type, ...both, ...options);
      const name = await asked(w.chirper);
      await fulfillWith(w.streamly, name, make(results[0]));
      await fulfillWith(w.chirper, name, make(results[1]));
      const { out, error } = await running;
      expect(error).toBeUndefined();
      return out;
    };
    expect(await sum('impressions', [10_000n, 5_000n], '--max-frequency', '20')).toMatch(
      /^all 2 providers\n {2}impressions +15,000 +95 %: 14,216 to 15,784$/m,
    );
    expect(await sum('duration', [36_000n, 3_600n], '--max-watch-duration', '1m')).toMatch(
      /^dataProviders\/chirper\n {2}watch duration +3,600 s .*\n.*\n\nall 2 providers\n {2}watch duration +11\.0 h /m,
    );
    const people = await sum('population', [500n, 500n]);
    expect(people).toMatch(/population +500 +\(counted, without noise\)/);
    expect(people).not.toContain('all 2 providers');
  });

  it('prints the result as JSON, and nothing else on standard output', async () => {
    const running = run('measure', 'reach', ...one, '--json');
    await fulfillWith(w.streamly, await asked(w.streamly), reach(77n));
    const result = JSON.parse((await running).out);
    expect(result).toMatchObject({
      measurement: expect.stringMatching(/^measurementConsumers\/acme\/measurements\//),
      type: 'reach',
      dataProviders: [{ name: 'dataProviders/streamly', reach: { value: 77 }, noiseMechanism: 'GEOMETRIC' }],
      total: { reach: { bounds: [77, 77] } },
    });
  });

  it('prints which provider refused, its reason and advice, and exits with 2', async () => {
    const running = run('measure', 'reach', ...both, '--json');
    const requisition = await requisitionOf(w.streamly, await asked(w.streamly));
    const message = 'the day is \u001b[2Jused up';
    const refusal = { justification: 'INSUFFICIENT_PRIVACY_BUDGET', message } as const;
    const body = { refusal, etag: requisition.etag! };
    await w.streamly.client.refuseRequisition({ name: requisition.name!, body });
    const { out, err, error } = await running;
    expect(error?.exitCode).toBe(2);
    expect(error?.message.split('\n')).toEqual([
      'dataProviders/streamly refused: INSUFFICIENT_PRIVACY_BUDGET',
      '  its message: the day is �[2Jused up',
      expect.stringContaining('a smaller --epsilon'),
      expect.stringContaining('ask again with a new one'),
    ]);
    expect(err).toMatch(/^dataProviders\/streamly: ✗ refused: INSUFFICIENT_PRIVACY_BUDGET the day/m);
    expect(err).toMatch(/^dataProviders\/chirper: – withdrawn$/m);
    expect(err).not.toContain('\u001b');
    expect(JSON.parse(out)).toMatchObject({ state: 'FAILED', failure: { reason: 'REQUISITION_REFUSED' } });
  });

  it('does not show a result signed with the key of another party, and exits with 3', async () => {
    const running = run('measure', 'reach', ...one);
    await fulfillWith(w.streamly, await asked(w.streamly), reach(1_000_000n), {
      privateKeyPem: w.chirper.privateKeyPem,
    });
    const { out, error } = await running;
    expect(error?.exitCode).toBe(3);
    expect(error?.message).toMatch(/SIGNATURE_INVALID[\s\S]*not shown.*mex verify measurement \S+ --as acme/);
    expect(out).toBe('');
  });

  it('prints how to resume when it is interrupted, and does not cancel the measurement', async () => {
    // Test files share a process, so other code may listen for SIGINT.
    const listeners = process.listenerCount('SIGINT');
    const running = run('measure', 'reach', ...one);
    const name = await asked(w.streamly);
    // Wait until the exchange has replied to the creation. Before that, an interrupt would print another message.
    await vi.waitUntil(() => written().includes('waiting'), 90_000);
    process.emit('SIGINT');
    const { error } = await running;
    expect(error?.exitCode).toBe(130);
    expect(error?.message).toBe(
      `interrupted. It continues. Come back with: MEX_DATA_DIR=${w.exchange.dataDir} mex measurements show ${name} --as acme`,
    );
    expect(process.listenerCount('SIGINT')).toBe(listeners);
    expect((await w.acme.client.getMeasurement({ name })).state).toBe('AWAITING_REQUISITION_FULFILLMENT');
    await w.acme.client.cancelMeasurement({ name });
  });

  it('prints how to resume when the exchange does not respond', async () => {
    proxy.treat((path) => (/\/measurements\/[^/]+$/.test(path) ? 'CUT' : 'PASS'));
    const { error } = await run('measure', 'reach', ...one, ...there());
    const name = await asked(w.streamly);
    expect(error?.exitCode).toBeUndefined();
    const [what, ...advice] = error!.message.split('\n');
    expect(what).toContain(`${proxy.url} does not respond`);
    expect(advice).toEqual([
      expect.stringContaining(
        `  It continues. Come back with: mex measurements show ${name} --as acme --url `,
      ),
    ]);
    await w.acme.client.cancelMeasurement({ name });
    const absent = await run('measurements', 'results', 'absent', '--wait', '--as', 'acme');
    expect(absent.error?.message).toMatch(/^[^\n]*\(MEASUREMENT_NOT_FOUND\)$/);
  });

  it('shows that changes cannot be followed until the connection works again', async () => {
    asTerminal();
    proxy.treat((path) => (CHANGES.test(path) ? 'CUT' : 'PASS'));
    const running = run('measure', 'reach', ...one, ...there());
    const isSaid = () => screenOf(written()).some((line) => /^ {2}changes +cannot be followed; /.test(line));
    await vi.waitUntil(isSaid, 90_000);
    proxy.treat(() => 'PASS');
    await vi.waitUntil(() => !isSaid(), 90_000);
    await fulfillWith(w.streamly, await asked(w.streamly), reach(7n));
    expect((await running).error).toBeUndefined();
  });

  it('exits with 4 after --timeout, and with 2 if the measurement is cancelled', async () => {
    const { error } = await run('measure', 'reach', ...one, '--timeout', '0.2s');
    expect(error?.exitCode).toBe(4);
    const running = run(
      'measurements',
      'results',
      (await asked(w.streamly)).split('/').at(-1)!,
      '--wait',
      '--as',
      'acme',
    );
    await w.acme.client.cancelMeasurement({ name: await asked(w.streamly) });
    expect((await running).error).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('was cancelled'),
    });
  });

  it('returns without a result with --no-wait, and mex measurements results prints the figures later', async () => {
    const { out, error } = await run('measure', 'reach', ...one, '--no-wait', '--request-id', 'once');
    expect(error).toBeUndefined();
    const name = /^(measurementConsumers\/acme\/\S+)\n$/.exec(out)![1]!;
    const again = await run('measure', 'reach', ...one, '--no-wait', '--request-id', 'once', '--json');
    expect(JSON.parse(again.out).name).toBe(name);
    const early = await run('measurements', 'results', name, '--as', 'acme');
    expect(early.error?.message).toContain('there is no result yet. --wait waits for it.');
    await fulfillWith(w.streamly, name, { ...reach(50n), ...frequency({ 1: 1 }) });
    const results = ['measurements', 'results', name, '--as', 'acme'];
    expect((await run(...results)).out).toMatch(/reach +50 /);

    // With --spec, the command accepts a measurement only if exactly the request in the given file created it. The
    // right name is not enough.
    const { out: same } = await run('measure', 'reach', ...one, '--request-id', 'once', '--dry-run');
    await writeFile(path('same.json'), same);
    await writeFile(path('other.json'), same.replace('"interval"', '"filter": "age > 30", "interval"'));
    expect((await run(...results, '--spec', path('same.json'))).out).toMatch(/reach +50 /);
    expect((await run(...results, '--spec', path('other.json'))).error).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('REQUEST_MISMATCH'),
    });
  });

  it('accepts with --spec the JSON request that --dry-run prints', async () => {
    const { out } = await run(
      'measure',
      'impressions',
      ...one,
      '--max-frequency',
      '7',
      '--sampling',
      '0.25,0.5',
      '--dry-run',
    );
    await writeFile(path('request.json'), out);
    const { out: created } = await run(
      'measure',
      '--as',
      'acme',
      '--spec',
      path('request.json'),
      '--no-wait',
      '--json',
    );
    const name = JSON.parse(created).name;
    expect((await run('measurements', 'show', name, '--as', 'acme')).out).toMatch(
      /measures +impressions\n.*epsilon 0.1, delta 1e-9\n +per person +7 impressions at most\n +sampling +50 % of the people, from 0.25/,
    );
    await w.acme.client.cancelMeasurement({ name });
  });

  it.each([
    [
      'no provider, no days and no --max-frequency',
      ['impressions', '--as', 'acme'],
      /--provider is missing[\s\S]*--from and --to[\s\S]*--max-frequency is missing/,
    ],
    ['a duration without --max-watch-duration', ['duration', ...one], /--max-watch-duration is missing/],
    ['a missing type', ['--as', 'acme'], /What is to be measured\? .*reach, frequency/],
    ['an unknown type', ['clicks', '--as', 'acme'], /Allowed choices are reach, frequency/],
    ['an invalid day', ['reach', '--as', 'acme', '--from', '2026-02-30'], /must be a day such as/],
    ['an end before the start', ['reach', ...one, '--to', '2025-01-01'], /start must be before end/],
    ['an epsilon of 0', ['reach', ...one, '--epsilon', '0'], /--epsilon: must be a finite number/],
    ['an incomplete sampling interval', ['reach', ...one, '--sampling', '0.5'], /start,width/],
    [
      'an unknown event group',
      ['reach', '--as', 'acme', '--provider', 'streamly:autumn', ...JANUARY],
      /no event group autumn to you. There are: spring/,
    ],
    [
      'a provider without event groups',
      ['reach', '--as', 'acme', '--provider', 'dailynews', ...JANUARY],
      /dailynews has described no event group/,
    ],
    [
      'an unknown provider',
      ['reach', '--as', 'acme', '--provider', 'nobody', ...JANUARY],
      /There is no dataProviders\/nobody. There are: .*dataProviders\/streamly/,
    ],
    [
      'a duplicate provider',
      ['reach', ...one, '--provider', 'streamly'],
      /dataProviders\/streamly is given twice/,
    ],
    [
      'a caller that is a provider',
      ['reach', '--as', 'streamly', '--provider', 'streamly', ...JANUARY],
      /streamly is not a measurement consumer/,
    ],
    [
      'a caller without an identity',
      ['reach', '--provider', 'streamly', ...JANUARY],
      /Say who you are: --identity .*--as/,
    ],
    [
      'a missing file',
      ['--as', 'acme', '--spec', '/nowhere.json'],
      /cannot be read \(ENOENT\): give a request/,
    ],
    [
      '--spec together with a type',
      ['reach', '--as', 'acme', '--spec', 'x.json'],
      /--spec is the whole request/,
    ],
  ])('rejects %s with an error that names the problem', async (_what, args, message) => {
    const { error, err } = await run('measure', ...args);
    expect(`${err}${error?.message}`).toMatch(message);
    expect(error?.exitCode ?? 1).toBe(1);
  });

  it('reports every error in a --spec file in one message', async () => {
    const request = {
      type: 'reach',
      privacy: { epsilon: -1, delta: 0 },
      dataProviders: [{ name: 'x' }],
      colour: 1,
    };
    await writeFile(path('bad.json'), JSON.stringify(request));
    const { error } = await run('measure', '--as', 'acme', '--spec', path('bad.json'));
    for (const field of [
      'privacy.epsilon',
      'dataProviders[0].name',
      'dataProviders[0].eventGroups',
      'colour',
    ]) {
      expect(error?.message).toContain(`\n  ${field}: `);
    }
  });
});

describe('mex measure with an identity folder', () => {
  it('measures only with providers whose root is given with --root', async () => {
    const consumer = 'measurementConsumers/lakeside';
    await mex('identity', consumer, '--out', path('lakeside'));
    const subject = ['--issuer', `${w.exchange.url}/dev`, '--subject', consumer];
    await mex('admin', 'parties', 'create', consumer);
    await mex('admin', 'roots', 'add', path('lakeside/root.pem'), '--party', consumer);
    await mex('admin', 'onboard', path('lakeside/party.json'), ...subject, ...(await told(path('lakeside'))));
    await describeTo({ ...w.acme, name: consumer }, w.streamly, 'spring');
    const issuer = await createDevIssuer({
      keyFile: devKeyFile(w.exchange.dataDir),
      baseUrl: w.exchange.url,
    });
    vi.stubEnv('MEX_TOKEN', await issuer.mint(consumer));
    const ask = (root: string) =>
      run(
        'measure',
        'reach',
        '--identity',
        path('lakeside'),
        '--root',
        root,
        '--provider',
        'streamly',
        ...JANUARY,
      );

    const { error } = await ask(path('lakeside/root.pem'));
    expect(error?.message).toMatch(
      /streamly cannot be asked: .*CERTIFICATE_UNTRUSTED\)\n {2}Nothing was created.*--root/s,
    );
    const dev = JSON.parse(await readFile(`${w.exchange.dataDir}/dev.json`, 'utf8'));
    await writeFile(path('demo-root.pem'), dev.rootCertificatePem);
    const running = ask(`dataProviders/streamly=${path('demo-root.pem')}`);
    await fulfillWith(w.streamly, await asked(w.streamly), reach(12n));
    expect((await running).out).toMatch(/reach +12 /);
  });
});
