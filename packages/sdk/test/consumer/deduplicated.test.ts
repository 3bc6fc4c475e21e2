/**
 * Tests deduplicated figures of several providers on a running exchange, from the request to the standard deviation.
 */
import { deduplicatedReach, useDeduplicatedWorld } from '@measurement-exchange/testkit/deduplicatedWorld';
import { INTERVAL, PRIVACY } from '@measurement-exchange/testkit/world';
import { expect, it } from 'vitest';
import { type Consumer, createConsumer, createTrustStore, type MeasurementRequest } from '../../src/index.ts';

const w = useDeduplicatedWorld();

const accepting = (duchies: string[]): Consumer =>
  createConsumer({ client: w.acme.client, credentials: w.acme, trust: createTrustStore(w.roots), duchies });
const request = (): MeasurementRequest => ({
  type: 'reach',
  dataProviders: w.providers.map(({ name }) => ({
    name,
    eventGroups: [{ name: `${name}/eventGroups/tv`, interval: INTERVAL }],
  })),
  privacy: PRIVACY,
});

it('a deduplicated reach is computed by three accepted duchies, and names its aggregator and workers', async () => {
  const consumer = accepting(w.duchyNames);
  const { name } = await consumer.create(request());
  await w.compute(name!, deduplicatedReach(640n));
  const { total, dataProviders } = await consumer.open(await consumer.wait(name!), { request: request() });
  expect(dataProviders).toEqual(w.providers.map(({ name }) => ({ name })));
  const { firstWorker, secondWorker, aggregator } = w.duchies;
  expect(total.deduplicated).toMatchObject({
    reach: { value: 640, standardDeviation: expect.closeTo(18.607, 3) },
    methodology: 'honestMajorityShareShuffle',
    aggregator: aggregator.name,
    workers: [firstWorker.name, secondWorker.name],
  });
});

it('a deduplicated reach can be of a VID sample that wraps around from 1 to 0', async () => {
  const consumer = accepting(w.duchyNames);
  const asked = { ...request(), vidSampling: { start: 0.75, width: 0.5 } };
  const { name } = await consumer.create(asked);
  await w.compute(name!, deduplicatedReach(640n, 500n));
  const { total } = await consumer.open(await consumer.wait(name!), { request: asked });
  const { reach } = total.deduplicated!;
  // The reach is twice the noised count in a sample of half of the 1,000 people. Its variance is 360 · 640 / 999 for
  // the sampling, plus four times the variance of the noise.
  expect(reach!.value).toBe(640);
  expect(reach!.variance).toBeCloseTo((640 * 360) / 999 + 4 * 18.607 ** 2, 0);
});

it('measure() rejects a deduplicated reach with DUCHY_UNKNOWN if one of the duchies is not accepted', async () => {
  const { firstWorker, secondWorker, aggregator } = w.duchies;
  await expect(accepting([firstWorker.name, secondWorker.name]).measure(request())).rejects.toMatchObject({
    name: 'ProtocolRejected',
    code: 'DUCHY_UNKNOWN',
    message: expect.stringContaining(aggregator.name),
  });
});

it('a rejected measurement is accepted later with the same requestId once its duchies are accepted', async () => {
  const asked = { ...request(), requestId: 'weekly' };
  const error = await accepting([])
    .create(asked)
    .catch((e: unknown) => e);
  const { name } = await accepting(w.duchyNames).create(asked);
  expect(error).toMatchObject({ name: 'ProtocolRejected', measurement: { name } });
});
