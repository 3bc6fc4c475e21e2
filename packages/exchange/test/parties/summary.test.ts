/** Tests the counts and lists of `:summary` for each kind of party, now and at other times. */
import type { PartySummary } from '@measurement-exchange/contract';
import { loadMeasurements } from '@measurement-exchange/testkit/bulk';
import { setAllParameters, useComputations } from '@measurement-exchange/testkit/computations';
import { type DevParty, type Reply, UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { useReplica } from '@measurement-exchange/testkit/replica';
import {
  createMeasurement,
  fulfill,
  get,
  ok,
  post,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';
import { LastSeen } from '../../src/database/lastSeen.ts';
import { getPartySummary } from '../../src/operations/parties/summary.ts';

type Json = Reply['json'];
const world = useComputations({ rate: UNLIMITED });
const { exchange } = world;
const replica = useReplica(exchange);

const summaryOf = (party: Pick<DevParty, 'name' | 'token'>): Promise<Json> =>
  get(exchange, party as DevParty, `${party.name}:summary`);
const counts = (states: { state: string; count: number }[]) =>
  Object.fromEntries(states.filter(({ count }) => count > 0).map(({ state, count }) => [state, count]));
const attentionTo = ({ attention }: PartySummary, name: string) =>
  attention.filter((one) => one.name === name);

/** Returns the summary that a party would get this many hours from now if all parties were online then. */
function summaryIn(hours: number, { name: path }: { name: string }): Promise<PartySummary> {
  const { db, clock } = replica(hours);
  const lastSeen = Object.assign(new LastSeen(), { latest: () => clock() });
  const deadlines = { parametersWithinHours: 1e6, fulfillWithinHours: 1e6, confirmWithinHours: 1e6 };
  const store = { db, clock, lastSeen, deadlines: { ...deadlines, computeWithinHours: 1e6 } };
  return getPartySummary(store as never, {} as never, { path } as never);
}

it('the summary of a consumer counts its measurements, and lists refused and deferred ones', async () => {
  const { acme, globex, streamly, chirper } = world;
  const before = await summaryOf(globex);
  expect(before).toMatchObject({
    measurements: { openByAge: { underHour: { count: 0 }, underDay: { count: 0 }, older: { count: 0 } } },
    eventGroups: { count: 0 },
    webhooks: { active: 0, paused: 0, failing: 0 },
    attention: [],
  });
  expect(before).not.toHaveProperty('requisitions');
  expect(before.measurements.states.map((s: { state: string }) => s.state)).toEqual([
    ...['AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING', 'SUCCEEDED', 'FAILED', 'CANCELLED'],
  ]);

  const deferred = await createMeasurement(exchange, globex, [streamly]);
  const requisition = await requisitionOf(exchange, streamly, deferred);
  const until = new Date(Date.now() + 3600_000).toISOString().replace('Z', '000Z');
  await ok(post(exchange, streamly, `${requisition.name}:defer`, { reason: 'Logs come late.', until }));
  const refused = await createMeasurement(exchange, globex, [chirper]);
  const { name, etag } = await requisitionOf(exchange, chirper, refused);
  const refusal = { justification: 'DECLINED', message: 'Not this one.' };
  await ok(post(exchange, chirper, `${name}:refuse`, { etag, refusal }));
  const answered = await createMeasurement(exchange, globex, [streamly]);
  await ok(fulfill(exchange, streamly, await requisitionOf(exchange, streamly, answered), 1n));

  const summary = await summaryOf(globex);
  expect(counts(summary.measurements.states)).toEqual({
    AWAITING_REQUISITION_FULFILLMENT: 1,
    SUCCEEDED: 1,
    FAILED: 1,
  });
  expect(counts(summary.measurements.recentlyEnded)).toEqual({ SUCCEEDED: 1, FAILED: 1 });
  expect(summary.measurements.openByAge.underHour).toEqual({ count: 1 });
  expect(summary.attention.map((a: Json) => [a.code, a.name, a.party, a.until])).toEqual([
    ['REFUSED', refused.name, undefined, undefined],
    ['DEFERRED', deferred.name, streamly.name, until],
  ]);
  expect(summary.attention[0].detail).toContain('DECLINED');
  expect(summary.attention[1].detail).toContain('Logs come late.');
  expect(summary.certificate.name).toBe(globex.certificate);
  // The summary does not show measurements of another consumer.
  expect(JSON.stringify(await summaryOf(acme))).not.toContain(globex.name);
});

it('the summary of a provider counts its requisitions, and that of a duchy its computations', async () => {
  const { acme, dailynews, duchies } = world;
  const measurement = await createMeasurement(exchange, acme, [dailynews]);
  const requisition = await requisitionOf(exchange, dailynews, measurement);
  const ofProvider = await summaryOf(dailynews);
  expect(counts(ofProvider.requisitions.states)).toEqual({ UNFULFILLED: 1 });
  expect(ofProvider.attention).toEqual([]);
  // The provider is online but has not responded for a day.
  const later = await summaryIn(24.5, dailynews);
  expect(later.requisitions!.openByAge).toMatchObject({ underHour: { count: 0 }, older: { count: 1 } });
  expect(attentionTo(later, requisition.name)).toMatchObject([{ code: 'SILENT', party: dailynews.name }]);

  const shared = await world.create();
  await setAllParameters(exchange, duchies, shared);
  const { aggregator } = duchies;
  const ofDuchy = await summaryOf(aggregator);
  expect(counts(ofDuchy.computations.states)).toMatchObject({ PENDING_FULFILLMENT: 1 });
  expect(ofDuchy).not.toHaveProperty('eventGroups');
  const computation = `${aggregator.name}/computations/${shared.name.split('/').at(-1)}`;
  const [waiting] = attentionTo(await summaryIn(1, aggregator), computation);
  expect(waiting).toMatchObject({ code: 'UPLOAD_MISSING', party: expect.stringMatching(/^dataProviders\//) });
});

it('the summary lists a paused webhook, and a certificate that expires soon or has expired', async () => {
  const { chirper } = world;
  const hook = await ok(post(exchange, chirper, `${chirper.name}/webhooks`, { url: 'http://127.0.0.1:9/' }));
  expect((await summaryOf(chirper)).webhooks).toMatchObject({ active: 1, paused: 0 });
  await ok(exchange.call(chirper.token, 'PATCH', `/v2alpha/${hook.name}`, { state: 'PAUSED' }));
  const summary = await summaryOf(chirper);
  expect(summary.webhooks).toMatchObject({ active: 0, paused: 1 });
  expect(attentionTo(summary, hook.name)).toMatchObject([{ code: 'WEBHOOK_PAUSED' }]);

  const { name, notAfter } = summary.certificate;
  const hoursLeft = (Date.parse(notAfter) - Date.now()) / 3600_000;
  const codes = async (hours: number) =>
    attentionTo(await summaryIn(hours, chirper), name).map(({ code, until }) => [code, until]);
  expect(await codes(hoursLeft - 31 * 24)).toEqual([]);
  expect(await codes(hoursLeft - 29 * 24)).toEqual([['CERTIFICATE_EXPIRES', notAfter]]);
  expect(await codes(hoursLeft + 1)).toEqual([['CERTIFICATE_EXPIRED', notAfter]]);
});

it('the summary counts up to 1,000 items and lists up to 10', async () => {
  const { acme, streamly } = world;
  await loadMeasurements(exchange.database, { consumer: acme, providers: [streamly], count: 2200 });
  const { measurements, attention, moreAttention } = await summaryOf(acme);
  const states = Object.fromEntries(measurements.states.map((s: Json) => [s.state, s]));
  expect(states.AWAITING_REQUISITION_FULFILLMENT).toMatchObject({ count: 1000, more: true });
  expect(states.FAILED.count).toBeGreaterThan(200);
  expect(states.FAILED.more).toBeUndefined();
  expect(measurements.openByAge.older).toEqual({ count: 1000, more: true });
  // The summary must not list the refusals in the loaded data, because they happened too long ago to count as recent.
  expect(attention.map((a: Json) => a.code).filter((code: string) => code === 'REFUSED')).toEqual([]);
  expect(attention).toHaveLength(10);
  expect(moreAttention).toBe(true);
});
