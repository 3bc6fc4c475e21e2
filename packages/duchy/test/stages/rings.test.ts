/**
 * Tests a ring of two duchies (and in stress runs, a ring of four) with an exchange over real HTTP and without noise.
 * Mills die during the stages, and new mills take over.
 */
import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Mill } from '../../src/mills/mill.ts';
import { dyingAt } from './dying.ts';
import { expectExact, FREQUENCIES, MAXIMUM_FREQUENCY, SIZE, uploadSketches } from './sketches.ts';
import { type DuchyWorld, MILL, startDuchyWorld } from './world.ts';

const [ALPHA, BETA, GAMMA, DELTA] = [
  'duchies/alpha',
  'duchies/beta',
  'duchies/gamma',
  'duchies/delta',
] as const;

/**
 * The maximum number of mills that die in each stage. In stress runs, a mill dies at every call to the database, the
 * exchange or a duchy.
 */
const DEATHS = rounds(100, 1);

let world: DuchyWorld;
beforeAll(async () => {
  const two = { liquidLegionsV2: { workers: [DELTA], aggregator: GAMMA, ...SIZE, ...FREQUENCIES } };
  const four = {
    reachOnlyLiquidLegionsV2: { workers: [DELTA, ALPHA, BETA], aggregator: GAMMA, ...SIZE },
  };
  world = await startDuchyWorld({
    names: isStress ? [ALPHA, BETA, GAMMA, DELTA] : [GAMMA, DELTA],
    protocols: { ...two, ...(isStress && four) },
  });
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
});

/** Does the same as `world.turn`, but mills die at the first calls of each stage. */
async function turn(): Promise<void> {
  for (const at of world.duchies) {
    await at.herald.once();
    for (let n = 1; ; n++) {
      const dying = dyingAt(at.duchy, n <= DEATHS ? n : 0, n % 2 === 0 ? 'before' : 'after');
      const hadWork = await new Mill(dying.duchy, MILL).once().catch(() => true);
      // Make the lease of the dead mill expire.
      if (dying.isDead())
        await at.query(
          `UPDATE computations SET attempt = 0, lease_until = now() WHERE lease_token IS NOT NULL`,
        );
      else if (hadWork) n = 0;
      else break;
    }
  }
}

const RINGS: [what: string, Parameters<DuchyWorld['ask']>[0]][] = [
  [
    'one worker and the aggregator compute frequencies',
    { type: 'reachAndFrequency', maximumFrequency: MAXIMUM_FREQUENCY },
  ],
];
if (isStress) RINGS.push(['three workers and the aggregator compute a reach', { type: 'reach' }]);

test.each(RINGS)('%s exactly, while mills die in each stage', async (_what, request) => {
  const measurement = await world.ask(request);
  await turn();
  await uploadSketches(world, measurement);
  const read = () => world.acme.client.getMeasurement({ name: measurement.name! });
  for (let turns = 0; turns < 20 && (await read()).state !== 'SUCCEEDED'; turns++) await turn();
  await expectExact(world, measurement);
});
