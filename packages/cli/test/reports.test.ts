/**
 * Tests reports on the exchange of `npm start`, with its duchies and publishers, and compares the figures with the
 * truth.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import type { DocumentFigure, ReportDocument } from '@measurement-exchange/reports';
import { lacksChromium, launchChromium } from '@measurement-exchange/testkit/chromium';
import {
  type ExchangeProcess,
  ROOT,
  spawnMex,
  startExchangeProcess,
} from '@measurement-exchange/testkit/process';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type DocumentShell, openDocumentShell } from './documentShell.ts';
import { mex, mexJson, run } from './mexInProcess.ts';

vi.setConfig({ testTimeout: 400_000 });
const PUBLISHERS = ['northlight', 'pinwheel', 'harbor'];

let folder: string;
let exchange: ExchangeProcess;
let shell: DocumentShell;
let query: (sql: string) => Promise<number>;
let close: () => void;
const dataDir = () => join(folder, 'data');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-reports-'));
  vi.stubEnv('MEX_DATA_DIR', dataDir());
  vi.stubEnv('DATABASE_URL', undefined);
  exchange = await startExchangeProcess({
    dataDir: dataDir(),
    env: { MEX_DUCHIES: 'on', MEX_AGENTS: 'on' },
  });
  shell = await openDocumentShell(folder, { MEX_DATA_DIR: dataDir() });
  const instance = await DuckDBInstance.create(':memory:');
  const db = await instance.connect();
  query = async (sql) => Number((await db.runAndReadAll(sql)).getRows()[0]![0]);
  close = () => {
    db.closeSync();
    instance.closeSync();
  };
});
afterAll(async () => {
  shell.close();
  close();
  await exchange.kill();
  await rm(folder, { recursive: true, force: true });
});

const example = (name: string) => `docs/examples/${name}.yaml`;
const fileOf = (publisher: string) => join(dataDir(), 'publishers', `${publisher}.parquet`);
const eventsOf = (publisher: string, where: string) =>
  `(SELECT DISTINCT vid FROM read_parquet('${fileOf(publisher)}') WHERE ${where})`;

/** Uses plain SQL to count the people whom a set expression over publishers selects. */
async function truth(
  expression: string,
  { period, group }: DocumentFigure,
  filter = 'true',
): Promise<number> {
  const columns: Record<string, string> = { sex: 'gender', age: 'age_group' };
  const where = [
    filter,
    `timestamp >= '${period.start}' AND timestamp < '${period.end}'`,
    ...Object.entries(group).map(([attribute, value]) => `${columns[attribute]} = '${value}'`),
  ].join(' AND ');
  const has = PUBLISHERS.map((publisher) => `vid IN ${eventsOf(publisher, where)} AS ${publisher}`).join(
    ', ',
  );
  const all = PUBLISHERS.map((publisher) => `SELECT vid FROM ${eventsOf(publisher, where)}`).join(' UNION ');
  return query(`SELECT count(*) FROM (SELECT ${has} FROM (${all})) WHERE ${expression}`);
}

/** Translates a set expression to SQL. */
function sqlOf(sets: Record<string, string>, of: string): string {
  return (sets[of] ?? of).replaceAll('|', ' OR ').replaceAll('&', ' AND ').replaceAll(/ - /g, ' AND NOT ');
}

async function requireTruth(document: ReportDocument, sets: Record<string, string>, filter?: string) {
  for (const figure of document.figures) {
    if (figure.metric === 'impressions') continue;
    const { value, standardDeviation } = figure.estimate!;
    const wanted = await truth(sqlOf(sets, figure.of), figure, filter);
    expect(Math.abs(value - wanted), JSON.stringify({ ...figure, wanted })).toBeLessThanOrEqual(
      5 * standardDeviation + 1,
    );
  }
}

const setsIn = async (name: string): Promise<Record<string, string>> => {
  const lines = (await readFile(join(ROOT, example(name)), 'utf8')).split('\n');
  const [from, to] = [lines.indexOf('sets:'), lines.findIndex((line) => /^(groups|figures):/.test(line))];
  return Object.fromEntries(
    lines.slice(from + 1, to).map((line) => line.trim().split(': ') as [string, string]),
  );
};

/** Lists all measurements of the consumer, one line of JSON for each. */
const measurements = async () =>
  (await mex('measurements', 'list', '--as', 'acme', '--limit', 'all', '--json')).trim().split('\n');

const EXAMPLES = ['three-publishers', 'four-weeks', 'groups', 'incremental', 'small-audience'];

it('the example reports need at most 0.6 measurements per figure', async () => {
  let [asked, figures] = [0, 0];
  for (const name of EXAMPLES) {
    const plan = await mexJson('report', 'plan', example(name), '--as', 'acme');
    asked += Object.values<number>(plan.measurements).reduce((sum, number) => sum + number, 0);
    figures += plan.figures.length;
  }
  expect(asked / figures).toBeLessThanOrEqual(0.6);
});

describe('the first report', () => {
  it('is printed by one command, with overlap and intervals', async () => {
    const { out, error } = await run('report', 'run', '--as', 'acme');
    expect(error).toBeUndefined();
    expect(out).toMatch(/^My campaign {2}COMPLETE$/m);
    expect(out).toMatch(/^people of exactly these segments, 2026-10-01 to 2026-10-29$/m);
    expect(out).toMatch(/northlight & pinwheel .* 95 %: [\d,]+ to [\d,]+/);
    expect(out).toContain('The answers agree with each other');
  });

  it('creates no measurements when it is run again, as mex report plan predicts', async () => {
    const before = (await measurements()).length;
    const plan = await mexJson('report', 'plan', '--as', 'acme');
    expect(plan).toMatchObject({ measurements: {}, charges: [] });
    const { out } = await run('report', 'run', '--as', 'acme');
    expect(out).toContain('COMPLETE');
    expect(await measurements()).toHaveLength(before);
  });
});

describe('the example', () => {
  it.each(['campaign', ...EXAMPLES.slice(0, -1)])(
    '%s is within five standard deviations of the truth, and a second run creates no measurements',
    async (name) => {
      const document: ReportDocument = await mexJson('report', 'run', example(name), '--as', 'acme');
      expect(document.state).toBe('COMPLETE');
      await requireTruth(document, await setsIn(name));
      const before = (await measurements()).length;
      const again: ReportDocument = await mexJson('report', 'run', example(name), '--as', 'acme');
      expect(again.figures).toEqual(document.figures);
      expect(await measurements()).toHaveLength(before);
    },
  );

  it('small-audience marks a figure as mostly noise', async () => {
    const { out, error } = await run('report', 'run', example('small-audience'), '--as', 'acme');
    expect(error).toBeUndefined();
    expect(out).toMatch(/overlap .*mostly noise/);
  });

  it('incremental continues in another process after Ctrl-C, and repeats no measurements', async () => {
    const file = join(folder, 'october.yaml');
    const text = await readFile(join(ROOT, example('incremental')), 'utf8');
    await writeFile(file, text.replace('end: 2026-10-29', 'end: 2026-10-14'));
    const child = spawnMex(['report', 'run', file, '--as', 'acme'], { env: { MEX_DATA_DIR: dataDir() } });
    await vi.waitUntil(() => child.output().includes('measuring'), { timeout: 90_000 });
    expect(await child.kill('SIGINT')).toBe(130);
    expect(child.output()).toMatch(/Its measurements continue\. To go on: .*report run \S+ --as acme/);
    const between = await run('report', 'show', '--as', 'acme');
    expect(between.error).toBeUndefined();
    expect(between.out).toMatch(/^Incremental reach by publisher {2}\w+$/m);
    const isWhole = !between.out.includes('missing, see below');
    if (!isWhole)
      expect(between.err).toMatch(/To ask for what is missing, and wait: .*report run \S+ --as acme/);
    const { state } = await mexJson('report', 'run', file, '--as', 'acme');
    expect(state).toBe('COMPLETE');
    // The report has five measurements that end on 2026-10-14. No other report of these tests ends on that day, so a
    // higher number would mean that the second run repeated some of the measurements.
    expect((await measurements()).filter((line) => line.includes('2026-10-14'))).toHaveLength(5);
  });
});

describe('a complete report', () => {
  it('is checked, listed, and exported as CSV and JSON', async () => {
    expect(await mex('report', 'check', '--as', 'acme')).toMatch(/✓ \d+ figures recomputed, 0 differ/);
    expect(await mex('report', 'list', '--as', 'acme')).toContain('Three publishers');
    const csv = await mex('report', 'export', '--as', 'acme');
    expect(csv.split('\r\n')[0]).toBe(
      'figure,of,start,end,group,frequency,value,low,high,raw,standardDeviation,state,reason',
    );
    expect(csv).toMatch(/^overlap,pinwheel & harbor,/m);
    const { title } = JSON.parse(await mex('report', 'export', '--format', 'json', '--as', 'acme'));
    expect(title).toBe('Incremental reach by publisher');
    // Every command has --json. For this command, the option selects the export format.
    expect(JSON.parse(await mex('report', 'export', '--json', '--as', 'acme')).title).toBe(title);
  });

  it.skipIf(lacksChromium)(
    'is exported as an HTML page that fits a phone and has every section',
    async () => {
      const file = join(folder, 'report.html');
      const reports = (await mex('report', 'list', '--as', 'acme', '--json')).trim().split('\n');
      const { name } = reports.map((line) => JSON.parse(line)).find(({ title }) => title === 'Autumn');
      await mex('report', 'export', name, '--format', 'html', '--output', file, '--as', 'acme');
      const browser = await launchChromium();
      try {
        const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
        await page.goto(pathToFileURL(file).href);
        const titles = await page.locator('h2').allTextContents();
        expect(titles.map((title) => title.split(':')[0])).toEqual([
          ...[
            'Reach',
            'Overlap',
            'What each segment adds',
            'Reach over time',
            'Groups of people',
            'Every figure',
          ],
        ]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
        await page.setViewportSize({ width: 760, height: 900 });
        for (const [heading, picture] of Object.entries({ Overlap: 'overlap', 'Reach over time': 'weeks' })) {
          const chart = page.locator('section', { has: page.locator('h2', { hasText: heading }) });
          const image = await chart.screenshot();
          expect(image.length).toBeGreaterThan(5000);
          // This command makes the pictures of docs/reports.md: MEX_PICTURES=1 npm run stress --
          // packages/cli/test/reports.test.ts
          if (process.env.MEX_PICTURES)
            await writeFile(join(ROOT, `docs/images/report-${picture}.png`), image);
        }
      } finally {
        await browser.close();
      }
    },
  );
});

it('the commands in docs/reports.md print the documented results', async () => {
  const shown = await shell.typed('docs/reports.md');
  expect(shown).toHaveLength(7);
  expect(shown[0]).toContain('My campaign  COMPLETE');
  expect(shown[2]).toContain('# yaml-language-server: $schema=report.schema.json');
  expect(shown[3]).toMatch(/^Three publishers\n {2}\d+ measurements to ask/);
  expect(shown[4]).toContain('Three publishers  COMPLETE');
  expect(shown[5]).toContain('mostly noise');
  expect(shown[6]).toMatch(/0 differ from the stored ones[\s\S]*One day, on phones/);
});

it('mex report run --watch waits for a campaign that is not over until Ctrl-C', async () => {
  const file = join(folder, 'next-year.yaml');
  const year = new Date().getUTCFullYear() + 1;
  const text = await readFile(join(ROOT, example('three-publishers')), 'utf8');
  await writeFile(
    file,
    text.replace(/^interval:.*/m, `interval: { start: ${year}-01-01, end: ${year}-01-15, timeZone: UTC }`),
  );
  const args = ['report', 'run', file, '--watch', '--as', 'acme'];
  const child = spawnMex(args, { env: { MEX_DATA_DIR: dataDir() } });
  await vi.waitUntil(() => child.output().includes('Waiting for the rest'), { timeout: 90_000 });
  expect(await child.kill('SIGINT')).toBe(130);
  expect(child.output()).toContain(`cannot be asked yet: its period ends at ${year}-01-15`);
  expect(child.output()).toMatch(/To go on: .*report run \S+ --watch --as acme/);
});
