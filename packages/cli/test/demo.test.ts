/** Tests the demo on an exchange that the demo starts with three duchies. */
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { DemoReport } from '../src/demo/figures.ts';
import { reachesTogether } from '../src/demo/figures.ts';
import { type Audience, createAudiences } from '../src/publishers/audience.ts';
import { run } from './mexInProcess.ts';

vi.setConfig({ testTimeout: 120_000 });

let folder: string;
let file: string;
let csv: string;
let steps: string;
let report: DemoReport;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-demo-test-'));
  file = join(folder, 'report.html');
  csv = join(folder, 'figures.csv');
  vi.stubEnv('MEX_DATA_DIR', join(folder, 'data'));
  vi.stubEnv('DATABASE_URL', undefined);
  const { out, err, error } = await demo('--json');
  if (error) throw error;
  report = JSON.parse(out);
  steps = err;
}, 600_000);
afterAll(() => rm(folder, { recursive: true }));

const demo = (...options: string[]) =>
  run('demo', '--population', '20000', '--seed', '7', '--report', file, '--csv', csv, ...options);
const titled = (title: string) => report.measurements.find((m) => m.title.startsWith(title))!;

describe('mex demo', () => {
  it('finds every figure within five standard deviations of the truth', () => {
    const figures = report.measurements.flatMap((m) => m.figures);
    expect(figures.filter(({ within5Sigma }) => !within5Sigma)).toEqual([]);
    expect(new Set(figures.map(({ what }) => what.replace(/ \d.*/, '')))).toEqual(
      new Set(['reach', 'frequency', 'impressions', 'watch seconds', 'people']),
    );
  });

  it('adds noise to every reach, and none to the population', () => {
    const reaches = report.measurements.flatMap((m) => m.figures).filter(({ what }) => what === 'reach');
    expect(reaches).toHaveLength(7);
    for (const { result } of reaches) expect(result.standardDeviation).toBeGreaterThan(1);
    const [people] = titled('Population').figures;
    expect(people!.result.value).toBe(people!.truth);
    expect(people!.result.standardDeviation).toBe(0);
  });

  it('ends with a report of the campaign that creates no measurements of its own', () => {
    const { campaign, measurements } = report;
    expect(campaign.state).toBe('COMPLETE');
    expect(campaign.figures.map(({ metric, of }) => `${metric} ${of}`)).toEqual(
      ['frequency', 'impressions'].flatMap((metric) =>
        ['all', 'streamly', 'chirper', 'dailynews'].map((of) => `${metric} ${of}`),
      ),
    );
    const { truth } = reachesTogether(report)[0]!;
    const { value, standardDeviation } = campaign.figures[0]!.estimate!;
    expect(Math.abs(value - truth)).toBeLessThan(5 * standardDeviation + 1);
    // The report reuses the demo's measurements and creates no measurement of its own.
    expect(measurements).toHaveLength(12);
  });

  it('counts a person reached by several providers once, unlike the sum of their figures', () => {
    const alone = report.measurements.flatMap(({ title, figures }) =>
      title.endsWith(' alone') ? figures : [],
    );
    const reaches = alone.filter(({ what }) => what === 'reach').map(({ result }) => result.value);
    const { truth, result, claimed } = reachesTogether(report)[0]!;
    expect(claimed).toBe(reaches.reduce((sum, reach) => sum + reach, 0));
    expect(claimed - truth).toBeGreaterThan(20 * result.standardDeviation);
    const shares = titled('Reach and frequency, all').figures.filter(({ what }) => what !== 'reach');
    expect(shares).toHaveLength(8);
    for (const whose of ['truth', 'claimed'] as const) {
      expect(shares.reduce((sum, share) => sum + share[whose]!, 0)).toBeCloseTo(1, 1);
    }
    // The sum of the providers' figures counts a person reached by two providers as two people with frequency 1. The
    // claimed share of frequency 1 is therefore too high.
    expect(shares[0]!.claimed! - shares[0]!.truth).toBeGreaterThan(0.1);
  });

  it('measures the same reach with three protocols, with a larger standard deviation for sketches', () => {
    const reaches = reachesTogether(report);
    expect(reaches.map(({ protocol }) => protocol)).toEqual([
      'honestMajorityShareShuffle',
      'reachOnlyLiquidLegionsV2',
      'liquidLegionsV2',
    ]);
    expect(new Set(reaches.map(({ truth }) => truth)).size).toBe(1);
    const [exact, ...sketched] = reaches.map(({ result }) => result.standardDeviation);
    for (const deviation of sketched) expect(deviation).toBeGreaterThan(exact!);
  });

  it('has one question refused for its filter and one for the budget', () => {
    expect(titled('A filter').failure).toMatch(
      /^dataProviders\/chirper: SPEC_INVALID\. FILTER_ATTRIBUTE at events\[0\]\.filter, line 1, column 1$/,
    );
    expect(titled('A question beyond').failure).toMatch(
      /^dataProviders\/dailynews: INSUFFICIENT_PRIVACY_BUDGET\./,
    );
    expect(titled('A filter').state).toBe('FAILED');
  });

  it('prints each step with its time, and the stages of the duchies while they compute', () => {
    for (const { title } of report.measurements) {
      expect(steps).toMatch(
        new RegExp(`^ *\\d+\\.\\d s  (?:measured|refused) +${title}.* \\(\\d+\\.\\d s\\)$`, 'm'),
      );
    }
    expect(steps).toMatch(
      /^Reach and frequency, all providers, with sketches: \w+ (?:did|at) [A-Z_]+.*, since [\d.]+ s$/m,
    );
  });

  it('writes every figure as CSV', async () => {
    const instance = await DuckDBInstance.create(':memory:');
    const db = await instance.connect();
    try {
      const rows = (await db.runAndReadAll(`SELECT * FROM read_csv('${csv}')`)).getRowObjectsJson();
      const figures = report.measurements.flatMap(({ title, protocol = 'direct', figures }) =>
        figures.map(({ of, what, truth }) => ({ title, protocol, provider: of, figure: what, truth })),
      );
      expect(rows).toMatchObject(figures);
    } finally {
      db.closeSync();
      instance.closeSync();
    }
  });

  it('fails at an exchange without duchies, and prints how to start one with duchies', async () => {
    const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      vi.stubEnv('MEX_DATA_DIR', folder);
      await writeFile(join(folder, 'dev.json'), JSON.stringify({ baseUrl, duchies: [] }));
      expect((await demo()).error?.message).toMatch(/without duchies: start it without MEX_DUCHIES=off/);
    } finally {
      vi.stubEnv('MEX_DATA_DIR', join(folder, 'data'));
      server.close();
    }
  });

  it('keeps the VID order in a file for the next run, and removes the files of shares', async () => {
    const kept = await readdir(join(folder, 'data', 'demo'));
    expect(kept.filter((name) => name.endsWith('.vids'))).toHaveLength(1);
    expect(await readdir(join(folder, 'data', 'demo', 'shares'))).toEqual([]);
  });
});

const PROVIDERS = ['dataProviders/a', 'dataProviders/b', 'dataProviders/c'];
it('createAudiences creates the same audiences for the same seed, and different ones for another seed', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const db = await instance.connect();
  const audience = async (seed: number) => {
    const directory = await mkdtemp(join(folder, 'audience-'));
    const options = { dataProviders: PROVIDERS, directory, seed, population: 1000 };
    const [{ file }] = (await createAudiences(db, options)) as [Audience];
    return (await db.runAndReadAll(`SELECT * FROM '${file}' ORDER BY ALL`)).getRowsJson();
  };
  try {
    const first = await audience(1);
    expect(await audience(1)).toEqual(first);
    expect(await audience(2)).not.toEqual(first);
  } finally {
    db.closeSync();
    instance.closeSync();
  }
});
