/** Tests the settings that locate a provider's events, and `mex provider check` of a table on a server. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { readProviderConfig } from '../src/provider/config.ts';
import { eventsConfig } from '../src/provider/eventsConfig.ts';
import { mexJson, run } from './mexInProcess.ts';
import { path, useWorld } from './partyWorld.ts';

useWorld();
afterEach(() => vi.unstubAllEnvs());

/** The name is random, because other test runs may use the same server. */
const SCHEMA = `warehouse_${randomBytes(6).toString('hex')}`;
const READER = `reader_of_${SCHEMA}`;
const TABLE = `${SCHEMA}.impressions`;
const POSTGRES = {
  kind: 'postgres',
  url: 'postgres://127.0.0.1/ads',
  table: 'ads.impressions',
  user: 'reader',
};
const CLICKHOUSE = { ...POSTGRES, kind: 'clickhouse', url: 'https://clickhouse.internal:8443' };

const REMOTE = { prefixes: ['s3://lakeside/'], extension: { file: 'httpfs', sha256: 'f'.repeat(64) } };

async function configOf(events: object) {
  await writeFile(path('source.json'), JSON.stringify({ events }));
  return readProviderConfig(path('source.json'));
}
const problemOf = (events: object) =>
  configOf(events)
    .then(({ events: read }) => eventsConfig(read!))
    .then(
      () => 'nothing is wrong',
      (error: Error) => error.message,
    );

describe('the settings of a source', () => {
  it.each<[string, object, string | RegExp]>([
    ['neither files nor a source', {}, 'events needs files, or a source that names the table of a server.'],
    [
      'both files and a source',
      { files: 'a.csv', source: POSTGRES },
      'events.files and events.source are both set: keep one',
    ],
    [
      'an unknown kind',
      { source: { ...POSTGRES, kind: 'mysql' } },
      /events\.source\.kind must be .*postgres/,
    ],
    ['no kind', { source: { ...POSTGRES, kind: undefined } }, /events\.source\.kind/],
    ['no table', { source: { ...POSTGRES, table: undefined } }, /events\.source\.table/],
    ['a password', { source: { ...POSTGRES, password: 'hunter2' } }, /events\.source\.password/],
    [
      'two passwords',
      { source: { ...POSTGRES, passwordFile: 'a', passwordVariable: 'B' } },
      'events.source.passwordFile and events.source.passwordVariable are both set: keep one of them.',
    ],
    [
      'a missing password file',
      { source: { ...POSTGRES, passwordFile: 'none' } },
      /passwordFile: .*none cannot be read/,
    ],
    [
      'an empty password file',
      { source: { ...POSTGRES, passwordFile: 'empty' } },
      /passwordFile: .*empty is empty: put the/,
    ],
    [
      'a missing CA file',
      { source: { ...POSTGRES, caFile: 'none' } },
      /caFile: .*none cannot be read \(ENOENT\)/,
    ],
    [
      'the password instead of the name of its variable',
      { source: { ...POSTGRES, passwordVariable: 'hunter2' } },
      'events.source.passwordVariable names no variable of the environment: set the variable',
    ],
    [
      'a ClickHouse setting for PostgreSQL',
      { source: { ...POSTGRES, final: true } },
      'events.source.final is for clickhouse only',
    ],
    [
      'two secrets of a store',
      { files: 'a.csv', remote: { ...REMOTE, secretFile: 'a', secretVariable: 'B' } },
      'events.remote.secretFile and events.remote.secretVariable are both set: keep one of them.',
    ],
    [
      'the secret of a store instead of the name of its variable',
      { files: 'a.csv', remote: { ...REMOTE, secretVariable: 'hunter2' } },
      'events.remote.secretVariable names no variable of the environment',
    ],
    [
      'a store without the extension',
      { files: 'a.csv', remote: { prefixes: ['s3://a/'] } },
      /events\.remote\.extension/,
    ],
    [
      'a setting that is for files only',
      { source: POSTGRES, threads: 2 },
      'events.threads is for files only: remove it.',
    ],
    [
      'vidColumns without a model line',
      { files: 'a.csv', vidColumns: {} },
      'events.vidColumns must name at least one model line.',
    ],
    [
      'both columns.vid and vidColumns',
      { files: 'a.csv', columns: { vid: 'v' }, vidColumns: { 'modelLines/a': 'v' } },
      'events.columns.vid and events.vidColumns are both set: keep one of them.',
    ],
    [
      'an invalid value for an absent attribute',
      { source: { ...CLICKHOUSE, absent: { country: ['x'] } } },
      'events.source.absent.country must be text, a number, true or false.',
    ],
  ])('with %s are rejected', async (_what, events, says) => {
    await writeFile(path('empty'), '\n');
    const problem = await problemOf(events);
    if (typeof says === 'string') expect(problem).toContain(says);
    else expect(problem).toMatch(says);
    expect(problem).not.toContain('hunter2');
  });

  it('read the password from a file for each use, or from an environment variable', async () => {
    await writeFile(path('secret'), 'first\n');
    const ofFile = await configOf({ source: { ...POSTGRES, passwordFile: 'secret' } });
    const { source } = await eventsConfig(ofFile.events!);
    expect(await source!.password!()).toBe('first');
    await writeFile(path('secret'), 'second\n');
    expect(await source!.password!()).toBe('second');
    vi.stubEnv('WAREHOUSE_PASSWORD', 'third');
    const ofVariable = await configOf({ source: { ...POSTGRES, passwordVariable: 'WAREHOUSE_PASSWORD' } });
    expect(await (await eventsConfig(ofVariable.events!)).source!.password!()).toBe('third');
    expect(JSON.stringify(source)).not.toContain('second');
  });

  it('keep s3 addresses unchanged, and read the secret of a store from a file', async () => {
    await writeFile(path('store'), 'secret\n');
    const { events } = await configOf({
      files: 's3://lakeside/*.parquet',
      remote: { ...REMOTE, secretFile: 'store' },
    });
    const { files, remote } = await eventsConfig(events!);
    expect(files).toEqual(['s3://lakeside/*.parquet']);
    expect(remote!.extension.file).toBe(path('httpfs'));
    expect(await remote!.secret!()).toBe('secret');
  });

  it('pass on the options that only ClickHouse has', async () => {
    const only = {
      final: true,
      memoryLimit: '2GB',
      rowLimit: 5000,
      passes: 4,
      absent: { country: '', age: -1 },
    };
    const { events } = await configOf({ source: { ...CLICKHOUSE, ...only } });
    expect((await eventsConfig(events!)).source).toMatchObject(only);
  });
});

describe('mex provider check of a table', () => {
  const url = () => new URL(inject('serverUrl'));
  beforeAll(() =>
    inServer(`CREATE SCHEMA ${SCHEMA};
      CREATE TABLE ${TABLE} (vid_a int8, vid_b int8, day date, campaign text, n int4, country text);
      INSERT INTO ${TABLE} SELECT k, k % 10, DATE '2026-07-01' + k % 3, 'spring', 2, 'CH' FROM generate_series(1, 40) AS k;
      CREATE ROLE ${READER} LOGIN;
      GRANT USAGE ON SCHEMA ${SCHEMA} TO ${READER};
      GRANT SELECT ON ${TABLE} TO ${READER}`),
  );
  afterAll(() => inServer(`DROP SCHEMA ${SCHEMA} CASCADE; DROP ROLE ${READER}`));

  async function inServer(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: url().href });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }

  /**
   * Writes a settings file for events in this table. The address of the server in the settings must not contain a user
   * or a password.
   */
  async function settingsFor(table: string): Promise<string> {
    const address = url();
    address.username = '';
    address.password = '';
    const settings = {
      ledger: 'warehouse.ledger',
      budget: { epsilon: 1, delta: 1e-6, rho: 0.1 },
      events: {
        source: { kind: 'postgres', url: address.href, table, user: READER },
        columns: { timestamp: 'day', eventGroup: 'campaign', count: 'n', attributes: ['country'] },
        vidColumns: { 'modelLines/a': 'vid_a', 'modelLines/b': 'vid_b' },
      },
      references: { spring: { measurementConsumers: ['measurementConsumers/acme'] } },
      population: 'population.json',
    };
    const population = { subpopulations: [{ vidRanges: [{ start: 1, end: 30 }] }] };
    await writeFile(path('population.json'), JSON.stringify(population));
    await writeFile(path('warehouse.json'), JSON.stringify(settings));
    return path('warehouse.json');
  }

  it('describes the table, its VID columns, and its references, and confirms them', async () => {
    const config = await settingsFor(TABLE);
    const { events, references, confirmed } = await mexJson(
      'provider',
      'check',
      '--config',
      config,
      '--confirm',
    );
    expect(events).toMatchObject({
      rows: 40,
      firstDay: '2026-07-01',
      lastDay: '2026-07-03',
      vids: [
        { column: 'vid_a', people: 40, peopleOutside: 10 },
        { column: 'vid_b', people: 10, peopleOutside: 1 },
      ],
      attributes: [{ name: 'country', type: 'string', distinct: 1 }],
    });
    expect(events.files).toBeUndefined();
    expect(references).toMatchObject([{ reference: 'spring', rows: 40, days: 3 }]);
    expect(confirmed).toEqual(['spring']);
    const { out } = await run('provider', 'check', '--config', config);
    expect(out).toContain(
      `Table ${TABLE}, rows 40, people 40 (vid_a), people 10 (vid_b), 2026-07-01 to 2026-07-03\n`,
    );
    expect(out).toContain('10 of 40 VIDs (25 %) in the column vid_a are outside of the population');
  });

  it('reports a missing table', async () => {
    const config = await settingsFor(`${SCHEMA}.none`);
    const { error } = await run('provider', 'check', '--config', config);
    expect(error!.message).toContain(
      `events.source.table: there is no "${SCHEMA}"."none" that the account may read`,
    );
  });
});
