import { describe, expect, it } from 'vitest';
import { createClient } from '../client/index.ts';
import { MeasurementFailed, WaitTimedOut } from './errors.ts';
import { type Progress, waitForMeasurement } from './wait.ts';

const NAME = 'measurementConsumers/acme/measurements/m';

type State = 'AWAITING_REQUISITION_FULFILLMENT' | 'COMPUTING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
interface Look {
  state: State;
  requisitions?: string[];
  failure?: object;
  /** The reports of the duchies so far, each as `duchy stage progress`. */
  reports?: string[];
}

const HIDING = { epsilon: 0.1, delta: 1e-9 };
const RING = {
  ...{ workers: ['duchies/alpha', 'duchies/beta'], aggregator: 'duchies/gamma', noiseMechanism: 'GEOMETRIC' },
  ...{ decayRate: 12, maxSize: 1000, histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
};

/**
 * Creates an exchange and a clock. Each poll shows the measurement in its next state, and polls after the last state
 * repeat the last state. The clock does not wait.
 */
function scene(looks: Look[]) {
  let look = -1;
  const current = () => looks[Math.min(Math.max(look, 0), looks.length - 1)]!;
  const paths: string[] = [];
  const pauses: number[] = [];
  let now = 0;
  const clock = {
    now: () => now,
    sleep: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      pauses.push(ms);
      now += ms;
    },
  };
  const respond = (body: unknown) =>
    new Response(JSON.stringify(body), {
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
  const fetch: typeof globalThis.fetch = async (input) => {
    const { pathname, searchParams } = new URL(input instanceof Request ? input.url : String(input));
    if (pathname.includes('/changes')) return new Response('nginx', { status: 404 });
    paths.push(pathname.slice('/v2alpha/measurementConsumers/acme/measurements/'.length));
    if (pathname.endsWith(':timeline')) {
      const progress = (current().reports ?? []).map((report) => {
        const [duchy, stage, done] = report.split(' ');
        const time = '2026-01-01T00:00:00Z';
        return { duchy, time, stage, attempt: 1, message: 'at work', progress: Number(done) };
      });
      return respond({ transitions: [], progress });
    }
    if (!pathname.endsWith('/requisitions')) {
      look++;
      const { state, failure } = current();
      const protocolConfig = { reachOnlyLiquidLegionsV2: RING };
      return respond({ name: NAME, state, ...(failure && { failure }), protocolConfig });
    }
    const wanted = searchParams.getAll('filter.states');
    const requisitions = (current().requisitions ?? [])
      .map((state, i) => ({
        name: `${NAME}/requisitions/r${i}`,
        state,
        dataProvider: `dataProviders/p${i}`,
        ...(state === 'REFUSED' && { refusal: { justification: 'DECLINED', message: 'not this quarter' } }),
      }))
      .filter(({ state }) => wanted.length === 0 || wanted.includes(state));
    return respond({ requisitions });
  };
  const client = createClient({ baseUrl: 'http://exchange.test', token: 't', fetch, clock });
  const wait = (options = {}) => waitForMeasurement(client, NAME, options, clock);
  return { wait, paths, pauses };
}

const AWAITING: Look = { state: 'AWAITING_REQUISITION_FULFILLMENT' };
const SUCCEEDED: Look = { state: 'SUCCEEDED' };

describe('waiting for a measurement', () => {
  it('polls with a growing interval, and returns the measurement', async () => {
    const { wait, pauses, paths } = scene([...new Array(12).fill(AWAITING), SUCCEEDED]);
    expect(await wait({ pollMs: 100 })).toMatchObject({ name: NAME, state: 'SUCCEEDED' });
    expect(pauses.slice(0, 3)).toEqual([100, 150, 225]);
    expect(pauses.at(-1)).toBe(2000);
    // Without a callback the client does not read the requisitions.
    expect(new Set(paths)).toEqual(new Set(['m']));
  });

  it('reports each change once, and resets the poll interval after it', async () => {
    const { wait, pauses } = scene([
      { ...AWAITING, requisitions: ['UNFULFILLED', 'UNFULFILLED'] },
      { ...AWAITING, requisitions: ['UNFULFILLED', 'UNFULFILLED'] },
      { ...AWAITING, requisitions: ['FULFILLED', 'UNFULFILLED'] },
      { ...SUCCEEDED, requisitions: ['FULFILLED', 'FULFILLED'] },
    ]);
    const told: string[] = [];
    await wait({
      pollMs: 100,
      onChange: ({ measurement, requisitions }: { measurement: Look; requisitions: Look[] }) =>
        told.push([measurement.state, ...requisitions.map(({ state }) => state)].join(' ')),
    });
    expect(told).toEqual([
      'AWAITING_REQUISITION_FULFILLMENT UNFULFILLED UNFULFILLED',
      'AWAITING_REQUISITION_FULFILLMENT FULFILLED UNFULFILLED',
      'SUCCEEDED FULFILLED FULFILLED',
    ]);
    expect(pauses).toEqual([100, 150, 100]);
  });

  it('reports the progress of each duchy during the computation', async () => {
    const { wait, paths } = scene([
      { ...AWAITING, requisitions: ['UNFULFILLED'], reports: ['duchies/alpha INITIALIZATION_PHASE 1'] },
      { state: 'COMPUTING', reports: ['duchies/alpha SETUP_PHASE 0.5'] },
      { state: 'COMPUTING', reports: ['duchies/alpha SETUP_PHASE 0.5'] },
      {
        state: 'COMPUTING',
        reports: ['duchies/alpha EXECUTION_PHASE 0', 'duchies/beta SETUP_PHASE 1'],
      },
      SUCCEEDED,
    ]);
    const told: string[][] = [];
    const onChange = ({ reports }: Progress) =>
      told.push(reports.map(({ duchy, stage, progress }) => `${duchy} ${stage} ${progress}`));
    await wait({ pollMs: 100, onChange });
    expect(told).toEqual([
      [],
      ['duchies/alpha SETUP_PHASE 0.5'],
      ['duchies/alpha EXECUTION_PHASE 0', 'duchies/beta SETUP_PHASE 1'],
      [],
    ]);
    // The client reads the timeline only while the duchies compute.
    expect(paths.filter((path) => path.includes('timeline'))).toHaveLength(3);
  });

  it('times out after a last poll', async () => {
    const { wait, pauses, paths } = scene([AWAITING]);
    const error = await wait({ pollMs: 100, timeoutMs: 260 }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(WaitTimedOut);
    expect(error).toMatchObject({ measurement: { name: NAME, state: AWAITING.state } });
    expect((error as Error).message).toMatch(/still AWAITING_REQUISITION_FULFILLMENT after 260 ms/);
    expect(pauses).toEqual([100, 150, 10]);
    expect(paths).toHaveLength(4);
  });

  it('rejects with the reason of an aborted signal', async () => {
    const { wait } = scene([AWAITING]);
    const controller = new AbortController();
    const reason = new Error('enough');
    const waiting = wait({ signal: controller.signal, onChange: () => controller.abort(reason) });
    await expect(waiting).rejects.toBe(reason);
  });
});

describe('waiting for a measurement without a result', () => {
  it('throws an error that names the data provider that refused and its reason', async () => {
    const failure = { reason: 'REQUISITION_REFUSED', message: 'DECLINED …' };
    const { wait } = scene([{ state: 'FAILED', failure, requisitions: ['WITHDRAWN', 'REFUSED'] }]);
    const error = await wait().catch((e: unknown) => e);
    expect(error).toBeInstanceOf(MeasurementFailed);
    expect(error).toMatchObject({
      reason: 'REQUISITION_REFUSED',
      refusedBy: { dataProvider: 'dataProviders/p1', justification: 'DECLINED', message: 'not this quarter' },
      measurement: { state: 'FAILED' },
    });
    expect((error as Error).message).toContain('dataProviders/p1 refused: DECLINED not this quarter');
  });

  it('throws the reason of the failure if no data provider refused', async () => {
    const failure = { reason: 'CERTIFICATE_REVOKED', message: 'the certificate … was revoked' };
    const { wait, paths } = scene([{ state: 'FAILED', failure }]);
    const error = await wait().catch((e: unknown) => e);
    expect(error).toMatchObject({ reason: 'CERTIFICATE_REVOKED', refusedBy: undefined });
    expect((error as Error).message).toContain('the certificate … was revoked');
    expect(paths).toEqual(['m']);
  });

  it('throws MeasurementFailed with the reason CANCELLED for a cancelled measurement', async () => {
    const { wait } = scene([AWAITING, { state: 'CANCELLED' }]);
    await expect(wait()).rejects.toMatchObject({ name: 'MeasurementFailed', reason: 'CANCELLED' });
  });
});
