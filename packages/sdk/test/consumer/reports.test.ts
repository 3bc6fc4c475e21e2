/**
 * Tests reports on a real exchange: planning, measuring only once, resuming, correcting, storing encrypted, and
 * checking.
 */
import { decodeMeasurementSpec } from '@measurement-exchange/contract';
import type { ReportDefinition } from '@measurement-exchange/reports';
import { stored } from '@measurement-exchange/testkit/steps';
import {
  fulfillWith,
  impression,
  type Party,
  reach,
  readRequisition,
  useWorld,
} from '@measurement-exchange/testkit/world';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/client/clock.ts';
import {
  type Consumer,
  createConsumer,
  type ExchangeClient,
  type PlannedReport,
  type ReportAnswer,
  type ReportProgress,
} from '../../src/index.ts';

const w = useWorld();
const groups: string[] = [];
beforeAll(async () => {
  for (const provider of [w.streamly, w.chirper]) {
    const body = { measurementConsumer: w.acme.name, eventGroupReferenceId: 'spring' };
    const { name } = await provider.client.createEventGroup({ parent: provider.name, body });
    groups.push(name!);
  }
});

const TITLE = 'Spring, for the board only';
const FILTER = 'device == "television"';

function definition(changes: Partial<ReportDefinition> = {}): ReportDefinition {
  return {
    title: TITLE,
    interval: { start: '2026-01-05', end: '2026-02-02', timeZone: 'UTC' },
    segments: { tv: { eventGroups: [groups[0]!] }, video: { eventGroups: [groups[1]!] } },
    figures: [
      { metric: 'reach', of: ['tv'], periods: 'weekly(MONDAY)', cumulative: true },
      { metric: 'impressions', of: ['tv', 'video'] },
    ],
    budget: { epsilon: 4 },
    ...changes,
  };
}

/** Creates a consumer whose client has some methods replaced, so that a test can break them. */
function consumerWith(changes: Partial<ExchangeClient>): Consumer {
  const client = { ...w.acme.client, ...changes };
  return createConsumer({ client, credentials: w.acme, trust: w.trust });
}

/** Returns the number of people that a provider has reached by this time. The number grows by 1,000 each week. */
function valueAt(seconds: bigint): bigint {
  const week = 7 * 24 * 3600;
  return BigInt(Math.round((Number(seconds) - Date.parse('2026-01-05T00:00:00Z') / 1000) / week) * 1000);
}

/** Answers every open requisition of the provider with values that are based on `valueAt`. */
async function answerWaiting(provider: Party): Promise<number> {
  const waiting = await Array.fromAsync(
    provider.client.listRequisitions({ parent: provider.name, 'filter.states': ['UNFULFILLED'] }),
  );
  for (const requisition of waiting) {
    const { spec } = await readRequisition(provider, requisition);
    const decoded = decodeMeasurementSpec(requisition.measurementSpec!.message);
    if ('error' in decoded) throw new Error(decoded.error);
    const events = spec.requisitionType.case === 'events' ? spec.requisitionType.value.eventGroups : [];
    const value = valueAt(events[0]!.value!.collectionInterval!.endTime!.seconds);
    const result = decoded.spec.measurementType === 'REACH' ? reach(value) : impression(3n * value);
    await fulfillWith(provider, requisition.measurement!, result);
  }
  return waiting.length;
}

/** Runs a report while the providers answer. */
const run = (consumer: Consumer, name: string): Promise<ReportAnswer> =>
  whileAnswering(() => consumer.reports.run(name));

async function whileAnswering<T>(work: () => Promise<T>): Promise<T> {
  const ending = new AbortController();
  const answering = (async () => {
    while (!ending.signal.aborted) {
      for (const provider of [w.streamly, w.chirper]) await answerWaiting(provider);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  try {
    return await work();
  } finally {
    ending.abort();
    await answering;
  }
}

const measurements = () => Array.fromAsync(w.acme.client.listMeasurements({ parent: w.acme.name }));
const valuesOf = ({ document }: ReportAnswer) => document.figures.map(({ estimate }) => estimate?.value);

describe('a report', () => {
  let planned: PlannedReport;
  let first: ReportAnswer;

  it('is planned with its exact charges, without creating a measurement', async () => {
    const before = await measurements();
    planned = await w.consumer.reports.plan(definition());
    const { plan, rehearsal, reused } = planned;
    expect(plan.measurements).toHaveLength(6);
    expect(rehearsal.measurements).toEqual({ direct: 6 });
    expect(rehearsal.charges.length).toBe(56);
    expect(reused.size).toBe(0);
    expect(await measurements()).toEqual(before);
  });

  it('creates each needed measurement once, charges as planned, and returns consistent figures', async () => {
    const { name } = await w.consumer.reports.create(definition());
    first = await run(w.consumer, name);
    expect(first.document.state).toBe('COMPLETE');
    const [one, two, three, four, tv, video] = valuesOf(first) as number[];
    for (const [i, value] of [one, two, three, four].entries()) expect(value).toBeCloseTo((i + 1) * 1000, -1);
    expect([tv, video].every((value) => Math.abs(value! - 12_000) < 200)).toBe(true);
    expect(await measurements()).toHaveLength(6);
    expect((await w.consumer.reports.get(name)).state).toBe('COMPLETE');
    expect(first.charges).toEqual(planned.rehearsal.charges);
  });

  it('creates no measurement when it runs again, or when another report needs the same ones', async () => {
    const same = await w.consumer.reports.create(definition());
    expect(same.name).toBe(first.stored.name);
    const again = await w.consumer.reports.run(same.name);
    expect(valuesOf(again)).toEqual(valuesOf(first));
    expect(again.charges).toEqual(first.charges);
    const other = definition({ title: 'Another', figures: [{ metric: 'reach', of: ['tv'] }] });
    const { rehearsal, reused } = await w.consumer.reports.plan(other);
    expect({ reused: reused.size, charges: rehearsal.charges }).toEqual({ reused: 1, charges: [] });
    const { name } = await w.consumer.reports.create(other);
    const { document, charges } = await w.consumer.reports.run(name);
    expect(document.figures[0]!.estimate!.raw).toBe(4000);
    expect(charges).toEqual([]);
    expect(await measurements()).toHaveLength(6);
  });

  it('is checked against the signed results, and the answer of another report is rejected', async () => {
    const { name } = first.stored;
    const check = await w.consumer.reports.check(name);
    expect(check).toMatchObject({ isStored: true, differences: [], rejected: [] });
    const reports = await Array.fromAsync(w.consumer.reports.list());
    const other = reports.find((report) => report.name !== name)!;
    const swapping = consumerWith({
      getReport: async (args) => ({
        ...(await w.acme.client.getReport(args)),
        sealedAnswer: (await w.acme.client.getReport({ ...args, name: other.name })).sealedAnswer!,
      }),
    } as Partial<ExchangeClient>);
    await expect(swapping.reports.check(name)).rejects.toMatchObject({ code: 'REPORT_FOREIGN' });
  });

  it('is checked for a measurement of another request, even if its signatures are valid', async () => {
    const { name, measurements: named } = first.stored;
    const [one, two] = [...new Set(named.values())];
    const swapping = consumerWith({
      getMeasurement: (args) => w.acme.client.getMeasurement(args.name === one ? { name: two! } : args),
    } as Partial<ExchangeClient>);
    const { rejected, differences } = await swapping.reports.check(name);
    expect(rejected).toHaveLength(1);
    expect(rejected[0]!.reason).toContain('asks something else');
    expect(differences.length).toBeGreaterThan(0);
  });

  it('leaves no title, filter or key in plain text in the database or the logs', async () => {
    const filtered = definition({ segments: { tv: { eventGroups: [groups[0]!], filter: FILTER } } });
    const report = { ...filtered, figures: [{ metric: 'reach' as const, of: ['tv'] }] };
    const { name } = await w.consumer.reports.create(report);
    await run(w.consumer, name);
    const everything = JSON.stringify(await stored(w.exchange)) + (await w.exchange.logs()).join();
    const { needs } = first.plan;
    for (const secret of [TITLE, 'television', ...needs.map(({ key }) => key)]) {
      for (const form of [secret, Buffer.from(secret).toString('hex')])
        expect(everything).not.toContain(form);
    }
    const shown = await w.consumer.reports.get(name);
    expect(shown.definition).toEqual(report);
  });
});

describe('a run of a report', () => {
  const days = { start: '2026-03-02', end: '2026-03-16', timeZone: 'UTC' };
  const weekly = (more: Partial<ReportDefinition> = {}) =>
    definition({
      interval: days,
      figures: [{ metric: 'reach', of: ['tv'], periods: 'weekly(MONDAY)' }],
      ...more,
    });

  it('resumes with the same measurements after an interruption', async () => {
    const before = (await measurements()).length;
    const { name } = await w.consumer.reports.create(weekly());
    const interrupt = new AbortController();
    const onProgress = ({ measurements }: ReportProgress) => {
      if (measurements.every(({ name }) => name !== undefined)) interrupt.abort();
    };
    const { signal } = interrupt;
    await expect(w.consumer.reports.run(name, { onProgress, signal })).rejects.toThrow();
    expect((await w.consumer.reports.get(name)).state).toBe('RUNNING');
    expect((await run(w.consumer, name)).document.state).toBe('COMPLETE');
    expect((await measurements()).length - before).toBe(2);
  });

  it('creates no measurement twice if an earlier run failed before it recorded them', async () => {
    const before = (await measurements()).length;
    const video = weekly({ segments: { tv: { eventGroups: [groups[1]!] } } });
    const { name } = await w.consumer.reports.create(video);
    const crashing = consumerWith({
      updateReport: () => Promise.reject(new Error('the power went out')),
    } as Partial<ExchangeClient>);
    await expect(crashing.reports.run(name)).rejects.toThrow('the power went out');
    expect((await measurements()).length - before).toBe(2);
    expect((await run(w.consumer, name)).document.state).toBe('COMPLETE');
    expect((await measurements()).length - before).toBe(2);
  });

  it('reports which figure is missing after a refusal and why, and requests it again in the next run', async () => {
    const days = { start: '2026-04-06', end: '2026-04-13', timeZone: 'UTC' };
    const report = definition({ interval: days, figures: [{ metric: 'reach', of: ['tv', 'video'] }] });
    const { name } = await w.consumer.reports.create(report);
    const running = w.consumer.reports.run(name);
    const refused = await refuseOne(w.streamly);
    await expect.poll(() => answerWaiting(w.chirper)).toBe(1);
    const answer = await running;
    expect(answer.document.state).toBe('INCOMPLETE');
    const [tv, video] = answer.document.figures;
    expect(tv!.missing).toEqual([
      { measurement: refused, state: 'FAILED', reason: expect.stringContaining('not this one') },
    ]);
    expect(video!.estimate).toBeDefined();
    expect((await run(w.consumer, name)).document.state).toBe('COMPLETE');
  });

  it('creates no measurement of a period that has not ended', async () => {
    const before = (await measurements()).length;
    const year = new Date().getUTCFullYear();
    const days = { start: `${year + 1}-01-05`, end: `${year + 1}-01-12`, timeZone: 'UTC' };
    const report = definition({ interval: days, figures: [{ metric: 'reach', of: ['tv'] }] });
    expect((await w.consumer.reports.plan(report)).notDue.size).toBe(1);
    const { name } = await w.consumer.reports.create(report);
    const { document } = await w.consumer.reports.run(name);
    expect(document.figures[0]!.missing[0]).toMatchObject({ state: 'NOT_DUE' });
    expect((await measurements()).length).toBe(before);
  });

  it('with watch() measures each week once its events are available, and ends after the last week', async () => {
    const provider = w.streamly;
    const [startTime, soon, later] = ['2026-06-01', '2026-06-08', '2026-06-15'].map(
      (day) => `${day}T00:00:00Z`,
    );
    const body = {
      ...{ measurementConsumer: w.acme.name, eventGroupReferenceId: 'growing' },
      dataAvailabilityInterval: { startTime: startTime!, endTime: soon! },
    };
    const group = await provider.client.createEventGroup({ parent: provider.name, body });
    let pauses = 0;
    const clock: Clock = {
      now: Date.now,
      async sleep(ms, signal) {
        if (ms < 60_000) return systemClock.sleep(ms, signal);
        pauses++;
        const dataAvailabilityInterval = { startTime: startTime!, endTime: later! };
        await provider.client.updateEventGroup({
          name: group.name!,
          body: { ...body, dataAvailabilityInterval },
        });
      },
    };
    const days = { start: '2026-06-01', end: '2026-06-15', timeZone: 'UTC' };
    const growing = weekly({ interval: days, segments: { tv: { eventGroups: [group.name!] } } });
    const consumer = createConsumer({ client: w.acme.client, credentials: w.acme, trust: w.trust, clock });
    const { name } = await consumer.reports.create(growing);
    const weeks = await whileAnswering(() => Array.fromAsync(consumer.reports.watch(name)));
    expect(weeks.map(({ document }) => document.state)).toEqual(['INCOMPLETE', 'COMPLETE']);
    expect(weeks.map(({ stored }) => stored.measurements.size)).toEqual([1, 2]);
    expect(valuesOf(weeks[0]!)[0]).toBeGreaterThan(0);
    expect(valuesOf(weeks[0]!)[1]).toBeUndefined();
    expect(valuesOf(weeks[1]!)[0]).toBe(valuesOf(weeks[0]!)[0]);
    expect(pauses).toBe(1);
  });
});

/** Refuses the first open requisition, and returns its measurement. */
async function refuseOne(provider: Party): Promise<string> {
  for (;;) {
    const [requisition] = await Array.fromAsync(
      provider.client.listRequisitions({ parent: provider.name, 'filter.states': ['UNFULFILLED'] }),
    );
    if (requisition === undefined) continue;
    const { name, etag, measurement } = requisition;
    const refusal = { justification: 'DECLINED' as const, message: 'not this one' };
    await provider.client.refuseRequisition({ name: name!, body: { refusal, etag: etag! } });
    return measurement!;
  }
}

it('a report can use measurements that were created without a report', async () => {
  const [start, end] = ['2026-05-04', '2026-05-11'];
  const interval = { start: `${start}T00:00:00Z`, end: `${end}T00:00:00Z` };
  const asked = [w.streamly, w.chirper].map(({ name }, i) => ({
    name,
    eventGroups: [{ name: groups[i]!, interval }],
  }));
  const privacy = { epsilon: 1, delta: 0 };
  const reached = await w.consumer.create({ type: 'reach', dataProviders: [asked[0]!], privacy });
  const counted = await w.consumer.create({
    ...{ type: 'impression' as const, dataProviders: asked, privacy, maximumFrequencyPerUser: 20 },
  });
  for (const provider of [w.streamly, w.chirper]) await answerWaiting(provider);
  const before = (await measurements()).length;
  const report = definition({
    interval: { start, end, timeZone: 'UTC' },
    figures: [
      { metric: 'reach', of: ['tv'] },
      { metric: 'impressions', of: ['video'] },
    ],
  });
  const { name } = await w.consumer.reports.create(report);
  const answer = await w.consumer.reports.run(name, { measurements: [reached.name!, counted.name!] });
  expect(answer.document.state).toBe('COMPLETE');
  expect(answer.needs.map(({ measurement }) => measurement)).toEqual([reached.name, counted.name]);
  expect((await measurements()).length).toBe(before);
});

it('planning rejects a union without duchies, an unknown event group, and an invalid filter', async () => {
  const plan = (changes: Partial<ReportDefinition>) => w.consumer.reports.plan(definition(changes));
  const all = { sets: { all: 'tv | video' }, figures: [{ metric: 'reach' as const, of: ['all'] }] };
  await expect(plan(all)).rejects.toThrow(/No duchies compute the REACH of/);
  const missing = `${w.streamly.name}/eventGroups/none`;
  await expect(plan({ segments: { tv: { eventGroups: [missing] } }, figures: all.figures })).rejects.toThrow(
    `segments[tv].eventGroups[0] is ${missing}, which does not exist or is not for you`,
  );
  const broken = { tv: { eventGroups: [groups[0]!], filter: 'device ==' } };
  const figures = [{ metric: 'reach' as const, of: ['tv'] }];
  await expect(plan({ segments: broken, figures })).rejects.toThrow('cannot be used');
});
