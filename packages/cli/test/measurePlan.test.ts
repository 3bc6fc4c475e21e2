/**
 * Tests the plan that `mex measure` prints, and that the command rejects bad filters and unknown names before it
 * creates a measurement.
 */
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { run } from './mexInProcess.ts';
import { path, useWorld, w } from './partyWorld.ts';
import { useProxy } from './proxy.ts';

useWorld();
const proxy = useProxy(() => w.exchange);

const JANUARY = ['--from', '2026-01-01', '--to', '2026-02-01'];
const ask = (...args: string[]) => run('measure', ...args, '--as', 'acme', ...JANUARY);
const one = ['--provider', 'streamly:spring'];

async function measurements(): Promise<number> {
  return (await Array.fromAsync(w.acme.client.listMeasurements({ parent: w.acme.name }))).length;
}

/** Runs a question that must fail with this message and create no measurement. */
async function refused(message: RegExp | string, ...args: string[]) {
  const before = await measurements();
  // With --no-wait, a measurement that is created by mistake fails the test immediately.
  const ran = await ask(...args, '--no-wait');
  expect(ran.error?.exitCode ?? 1).toBe(1);
  if (typeof message === 'string') expect(ran.error?.message).toBe(message);
  else expect(ran.error?.message).toMatch(message);
  expect(await measurements()).toBe(before);
  return ran;
}

describe('an invalid filter', () => {
  it('is printed with a caret under the column of the error, and creates nothing', async () => {
    const body = {
      measurementConsumer: w.acme.name,
      eventGroupReferenceId: 'summer',
      attributes: [
        { name: 'age', type: 'INT' as const },
        { name: 'country', type: 'STRING' as const },
      ],
    };
    const { name } = await w.streamly.client.createEventGroup({ parent: w.streamly.name, body });
    const summer = ['--provider', 'streamly:summer'];
    await refused(
      [
        `The filter of ${name} cannot be used:`,
        '    age > 30 && contry == "DE"',
        '                ^',
        '  line 1, column 13: There is no attribute contry; there are: age, country. Did you mean country? Nothing was created.',
      ].join('\n'),
      ...['reach', ...summer, '--filter', 'age > 30 && contry == "DE"'],
    );
    await refused(
      /\n {4}age > "x"\n {8}\^\n.*> does not go with int and string/,
      'reach',
      ...summer,
      '--filter',
      'age > "x"',
    );
    const { error } = await ask('reach', ...summer, '--filter', 'age > 30 && country == "DE"', '--dry-run');
    expect(error).toBeUndefined();
  });

  it('is checked only for its syntax if the provider publishes no attributes', async () => {
    await refused(
      /\n {4}age > > 1\n {8}\^\n {2}line 1, column 5: The filter is not valid CEL/,
      'reach',
      ...one,
      '--filter',
      'age > > 1',
    );
    await refused(
      /the population of dataProviders\/streamly[\s\S]*\^/,
      'population',
      '--provider',
      'streamly',
      '--filter',
      'a ==',
    );
    expect((await ask('reach', ...one, '--filter', 'whatever == 1', '--dry-run')).error).toBeUndefined();
  });

  it('is truncated around the column of the error, and printed once for all event groups', async () => {
    const long = `age in [${'1, '.repeat(100)}] && ]`;
    const both = ['--provider', 'streamly:spring', '--provider', 'chirper:spring'];
    const { error } = await refused(
      /streamly\/eventGroups\/\w+, .*chirper\/eventGroups\/\w+ cannot/,
      'reach',
      ...both,
      '--filter',
      long,
    );
    const [, text, caret] = error!.message.split('\n');
    expect(text!.length).toBeLessThan(140);
    expect(text![caret!.indexOf('^')]).toBe('&');
  });
});

describe('an unknown provider or event group', () => {
  it('is reported in one message with all others and the existing names', async () => {
    await refused(
      /^There is no dataProviders\/nobody\. There are: .*dataProviders\/streamly.*\n.*dailynews has described no event group.*\n.*streamly has described no event group autumn, winter to you\. There are: .*spring/,
      ...[
        'reach',
        '--provider',
        'nobody',
        '--provider',
        'dailynews',
        '--provider',
        'streamly:autumn,winter,spring',
      ],
    );
    await refused(
      /^There is no dataProviders\/nobody, dataProviders\/noone\./,
      'population',
      '--provider',
      'nobody',
      '--provider',
      'noone',
    );
  });

  it('is reported for a --spec file too', async () => {
    const { out } = await ask('reach', ...one, '--dry-run');
    const request = JSON.parse(out);
    request.dataProviders[0].eventGroups[0].name = 'dataProviders/streamly/eventGroups/absent';
    request.dataProviders.push({ ...request.dataProviders[0], name: 'dataProviders/nobody' });
    await writeFile(path('absent.json'), JSON.stringify(request));
    const before = await measurements();
    const { error } = await run('measure', '--as', 'acme', '--spec', path('absent.json'));
    expect(error?.message).toMatch(/There is no dataProviders\/nobody\.[\s\S]*no event group absent to you/);
    expect(await measurements()).toBe(before);
  });
});

describe('the plan', () => {
  it('shows the protocol, the expected error and the charge, and needs one more request', async () => {
    const requests: string[] = [];
    proxy.treat((url) => {
      requests.push(url.replace(/^\/v2alpha\//, '').replace(/\?(?:.*&)?(validateOnly=true)?.*$/, '?$1'));
      return 'PASS';
    });
    const there = ['--url', proxy.url, '--token', w.exchange.dev.measurementConsumers[0]!.token];
    const { err, out, error } = await ask(
      'reach',
      ...one,
      '--epsilon',
      '0.5',
      '--delta',
      '0',
      '--no-wait',
      ...there,
    );
    expect(error).toBeUndefined();
    expect(err).toMatch(/^ {2}protocol {2}direct, each provider alone$/m);
    expect(err).toMatch(/^ {2}expected {2}reach ± 5.5 \(95 %\)$/m);
    expect(err).toMatch(
      /^ {2}charge {4}dataProviders\/streamly: epsilon 0.5 for each event group and day, 31 days$/m,
    );
    expect(err).not.toContain('warning');
    const creations = requests.filter((url) => /measurements(\?|$)/.test(url));
    expect(creations).toEqual([
      'measurementConsumers/acme/measurements?validateOnly=true',
      'measurementConsumers/acme/measurements?',
    ]);
    await w.acme.client.cancelMeasurement({ name: out.trim() });
  });

  it('is printed by --dry-run, which creates nothing, and is included in the JSON', async () => {
    const before = await measurements();
    const frequency = [
      'frequency',
      ...one,
      '--epsilon',
      '0.1',
      '--max-frequency',
      '5',
      '--expect',
      '50000',
      '--dry-run',
    ];
    const { err, out } = await ask(...frequency);
    expect(err).toMatch(
      /each share of the frequencies ± 0\.\d\d % \(95 %, if the reach is 50,000; --expect for another\)/,
    );
    expect(err).toMatch(/rho \d\.?\d*e?-?\d* for each event group and day/);
    const { request, plan } = JSON.parse((await ask(...frequency, '--json')).out);
    expect(request).toEqual(JSON.parse(out));
    expect(plan).toMatchObject({
      protocol: 'direct',
      duchies: [],
      findings: [],
      figures: [{ figure: 'reach' }, { figure: 'frequencyShare', assumed: 50_000 }],
      dataProviders: [{ name: 'dataProviders/streamly', days: 31, charge: { rho: expect.any(Number) } }],
      warnings: [],
    });
    expect(await measurements()).toBe(before);
  });

  it('warns about an epsilon that is too small or too large for providers', async () => {
    const warned = async (epsilon: string) =>
      (await ask('reach', ...one, '--epsilon', epsilon, '--dry-run')).err
        .split('\n')
        .filter((line) => line.includes('warning'));
    expect(await warned('0.1')).toEqual([]);
    expect(await warned('0.00001')).toEqual([
      expect.stringContaining('is below 0.0001: data providers refuse it'),
    ]);
    expect(await warned('50')).toEqual([
      expect.stringContaining('more than its whole budget usually is (rho '),
    ]);
  });
});

it('mex measure assumes a reach of half of the default population without --expect', async () => {
  const assumed = async () => {
    const { err } = await ask('frequency', ...one, '--epsilon', '0.1', '--max-frequency', '5', '--dry-run');
    return /if the reach is ([\d,]+);/.exec(err)?.[1];
  };
  expect(await assumed()).toBe('1,000,000');
  await run('admin', 'populations', 'create', 'everybody', '--range', '1-80000', '--default');
  expect(await assumed()).toBe('40,000');
});
