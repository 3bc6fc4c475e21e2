/** Tests `mex computations` against a running exchange. */
import { shareMeasurement } from '@measurement-exchange/testkit/shareMeasurement';
import { addCertificate, castOf, createMeasurement, ok, post } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';
import { exchange, token as tokenFor, useExchange } from './adminWorld.ts';
import { lines, mex, mexJson, run } from './mexInProcess.ts';

const DUCHIES = { firstWorker: 'duchies/a', secondWorker: 'duchies/b', aggregator: 'duchies/c' };
useExchange();
let id: string;
let token: string;
let measurement: string;

beforeAll(async () => {
  for (const duchy of Object.values(DUCHIES)) {
    await exchange.database.query(
      'INSERT INTO parties (name, create_time, update_time) VALUES ($1, now(), now())',
      [duchy],
    );
    await addCertificate(exchange, duchy, 'key1');
  }
  await mex('admin', 'populations', 'create', 'everybody', '--range', '1-1000');
  const { acme, streamly, chirper } = castOf(exchange);
  ({ name: measurement } = await createMeasurement(exchange, acme, [streamly, chirper]));
  id = measurement.split('/').at(-1)!;
  await shareMeasurement(exchange.database, id, DUCHIES, 'PENDING_FULFILLMENT');
  token = await tokenFor(DUCHIES.secondWorker);
});

describe('mex computations and mex measurements', () => {
  it('lists the computations of the duchy, with the parties that each waits for', async () => {
    const list = await mex('computations', 'list', '--token', token);
    expect(list).toMatch(
      new RegExp(`^${id} +PENDING_FULFILLMENT +SECOND_WORKER +\\S.*dataProviders/streamly`, 'm'),
    );
    expect(lines(await mex('computations', 'list', '--json', '--token', token))).toMatchObject([
      { name: `duchies/b/computations/${id}`, state: 'PENDING_FULFILLMENT' },
    ]);
    expect(await mex('computations', 'list', '--state', 'COMPUTING', '--token', token)).toContain('no such');
    await expect(mex('computations', 'list', '--as', 'acme')).rejects.toThrow('is for a duchy');
  });

  it('shows a computation with its participants and requisitions', async () => {
    const shown = await mex('computations', 'show', id, '--token', token);
    expect(shown).toContain('duchies/a FIRST_WORKER READY');
    expect(shown).toMatch(/dataProviders\/streamly\/requisitions\/\w+ UNFULFILLED, data at duchies\/a/);
    expect(await mexJson('computations', 'show', id, '--token', token)).toMatchObject({
      role: 'SECOND_WORKER',
    });
  });

  it('shows which duchies of a ring have not confirmed', async () => {
    const { acme, streamly, chirper } = castOf(exchange);
    const { name } = await createMeasurement(exchange, acme, [streamly, chirper]);
    const ring = name.split('/').at(-1)!;
    await shareMeasurement(exchange.database, ring, DUCHIES, 'PENDING_CONFIRMATION');
    const { etag } = await mexJson('computations', 'show', ring, '--token', token);
    await ok(post(exchange, { token } as never, `duchies/b/computations/${ring}:confirm`, { etag }));
    const shown = await mex('computations', 'show', ring, '--token', token);
    expect(shown).toContain('PENDING_CONFIRMATION');
    expect(shown).toMatch(/waits for +duchies\/[ac], duchies\/[ac]\n/);
    expect(shown).toContain('duchies/a WORKER PARAMS_SET');
    expect(shown).toContain('duchies/b WORKER READY');
  });

  it('shows the reports of a duchy in the timeline of the measurement', async () => {
    const report = {
      stage: 'SETUP',
      attempt: 2,
      code: 'WAITS_FOR_PEER',
      position: { duchy: 'duchies/a' },
      progress: 0.25,
    };
    await ok(post(exchange, { token } as never, `duchies/b/computations/${id}:log`, report));
    const timeline = await mex('measurements', 'timeline', measurement, '--as', 'acme');
    expect(timeline).toMatch(/duchies\/b +SETUP +2 +25 %\s+WAITS_FOR_PEER at duchies\/a: The other duchy/);
    expect(timeline).toMatch(new RegExp(`computations/${id} +CREATED → READY`));
  });

  it('shows the stage and progress of a duchy to the consumer during the computation', async () => {
    const { acme, streamly, chirper } = castOf(exchange);
    const { name } = await createMeasurement(exchange, acme, [streamly, chirper]);
    const computation = name.split('/').at(-1)!;
    await shareMeasurement(exchange.database, computation, DUCHIES, 'COMPUTING');
    const report = (stage: string, progress?: number) =>
      ok(
        post(exchange, { token } as never, `duchies/b/computations/${computation}:log`, {
          ...{ stage, attempt: 1, code: 'RUNNING' },
          ...(progress !== undefined && { progress }),
        }),
      );
    await report('SETUP_PHASE', 1);
    await report('SHUFFLE_PHASE', 0.4);
    const shown = await mex('measurements', 'show', name, '--as', 'acme');
    expect(shown).toMatch(/protocol +honestMajorityShareShuffle/);
    expect(shown).toContain('  duchies/b  SHUFFLE_PHASE 40 %\n');
    expect(shown).not.toContain('SETUP_PHASE');
    const waited = await run(
      ...['measurements', 'results', name, '--as', 'acme', '--wait', '--timeout', '0.1s'],
    );
    expect(waited.error).toMatchObject({ exitCode: 4 });
    expect(waited.err).toContain('duchies/b: … SHUFFLE_PHASE 40 %\n');
    expect(waited.err).not.toContain('computing');
  });
});
