/**
 * A hostile exchange that cooperates with a consumer shows one duchy a different order of the ring, or a different
 * specification signed by the consumer. The duchies must not compute a result.
 */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { createSigner } from '@measurement-exchange/consent';
import { type Computation, type Measurement, specs } from '@measurement-exchange/contract';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lyingTo } from '../stages/lyingTo.ts';
import { ALPHA, BETA, GAMMA, REACH_ONLY } from '../stages/ringLies.ts';
import { AUDIENCES, makeSketch, SIZE } from '../stages/sketches.ts';
import { type DuchyWorld, startDuchyWorld } from '../stages/world.ts';

let world: DuchyWorld;
beforeAll(async () => {
  const ring = { workers: [BETA, ALPHA], aggregator: GAMMA, ...SIZE };
  world = await startDuchyWorld({ protocols: { [REACH_ONLY]: ring } });
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
});

/** Signs a second specification of the consumer for the same requisitions, with far less noise. */
async function otherSpec({ measurementSpec }: Measurement) {
  const spec = fromBinary(specs.MeasurementSpecSchema, measurementSpec!.message);
  if (spec.measurementType.case === 'reach') spec.measurementType.value.privacyParams!.epsilon = 100;
  const consumer = await createSigner(world.acme.privateKeyPem);
  return consumer.sign(toBinary(specs.MeasurementSpecSchema, spec));
}

test.each<[string, string, (measurement: Measurement) => Promise<(view: Computation) => unknown>]>([
  [
    'another order of the ring for the aggregator',
    GAMMA,
    async () => (view) => view.protocolConfig[REACH_ONLY]?.workers.reverse(),
  ],
  ...(isStress ? [ALPHA, GAMMA] : [ALPHA]).map((duchy): [string, string, typeof otherSpecFor] => [
    `another signed specification for ${duchy}`,
    duchy,
    otherSpecFor,
  ]),
])(
  '%s gives no result: providers do not encrypt, and workers reject uploads',
  async (_what, liedTo, lieOf) => {
    const measurement = await world.ask();
    await lyingTo(world.named(liedTo), await lieOf(measurement), async () => {
      await world.turn();
      await expect(makeSketch(world.providers[0]!, measurement, AUDIENCES[0]!)).rejects.toMatchObject({
        code: 'TERMS_DIFFER',
      });
      // Upload for providers that skip their own check of the terms, so that only the duchies can detect the lie.
      for (const [i, people] of AUDIENCES.entries()) {
        const upload = await makeSketch(world.providers[i]!, measurement, people, { trusts: true });
        const response = await upload.send();
        const text = await response.text();
        expect([text, response.status]).toEqual([text, 400]);
        expect(text).toMatch(
          /TERMS_MISMATCH at elGamalPublicKey of duchies|COMPUTATION_STATE_ILLEGAL|fulfillment\.(termsSha256|requisitionFingerprint)/,
        );
      }
      // Either a duchy fails the measurement, or all uploads are rejected and the measurement stays open. The
      // measurement may stay open only if the deceived duchy is ALPHA.
      for (let turns = 0; turns < 4; turns++) await world.turn();
      const { state, results, failure } = await world.acme.client.getMeasurement({ name: measurement.name! });
      expect(results ?? []).toEqual([]);
      const open = liedTo === ALPHA ? ['AWAITING_REQUISITION_FULFILLMENT'] : [];
      expect(['FAILED', ...open]).toContain(state);
      if (failure) expect(failure.message).toMatch(/TERMS_MISMATCH at elGamalPublicKey of duchies/);
    });
    if (liedTo !== GAMMA) return;
    // The duchy rejects a late upload permanently, instead of asking the provider to retry.
    const late = await makeSketch(world.providers[0]!, measurement, AUDIENCES[0]!, { trusts: true });
    expect(await (await late.send()).text()).toMatch(/COMPUTATION_STATE_ILLEGAL/);
  },
);

async function otherSpecFor(measurement: Measurement): Promise<(view: Computation) => unknown> {
  const measurementSpec = await otherSpec(measurement);
  return (view) => Object.assign(view, { measurementSpec });
}
