/** Rings of four duchies and of two, at an exchange over real HTTP, without noise. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectExact, FREQUENCIES, MAXIMUM_FREQUENCY, SIZE, uploadSketches } from './sketches.ts';
import { type DuchyWorld, startDuchyWorld } from './world.ts';

const [ALPHA, BETA, GAMMA, DELTA] = [
  'duchies/alpha',
  'duchies/beta',
  'duchies/gamma',
  'duchies/delta',
] as const;

let world: DuchyWorld;
beforeAll(async () => {
  world = await startDuchyWorld({
    names: [ALPHA, BETA, GAMMA, DELTA],
    protocols: {
      reachOnlyLiquidLegionsV2: { workers: [DELTA, ALPHA, BETA], aggregator: GAMMA, ...SIZE },
      liquidLegionsV2: { workers: [DELTA], aggregator: GAMMA, ...SIZE, ...FREQUENCIES },
    },
  });
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
});

test.each([
  ['three workers and the aggregator count people', { type: 'reach' }],
  [
    'one worker and the aggregator count frequencies',
    { type: 'reachAndFrequency', maximumFrequency: MAXIMUM_FREQUENCY },
  ],
] as const)('%s as the union of the sketches has them', async (_what, request) => {
  const measurement = await world.ask(request);
  await world.turn();
  await uploadSketches(world, measurement);
  await expectExact(world, measurement);
});
