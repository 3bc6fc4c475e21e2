/**
 * A hostile exchange that cooperates with a consumer lies to one duchy. It shows that duchy a different signed
 * specification, a different protocolConfig, or a key from another computation. The duchies must not compute a result.
 */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { createSigner } from '@measurement-exchange/consent';
import { type Computation, type Measurement, specs } from '@measurement-exchange/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AUDIENCES } from '../stages/audiences.ts';
import { lyingTo } from '../stages/lyingTo.ts';
import { makeUpload, readyRequisition, toldTerms } from '../stages/uploads.ts';
import { type DuchyWorld, startDuchyWorld } from '../stages/world.ts';

let world: DuchyWorld;
beforeAll(async () => {
  world = await startDuchyWorld();
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

/** Returns whether both workers bound their keys to the terms that the provider received. */
async function agrees(measurement: Measurement): Promise<boolean> {
  const requisition = await readyRequisition(world.providers[0]!, measurement);
  const { termsSha256 } = await toldTerms(requisition);
  return Object.values(requisition.duchies!).every((entry) => {
    const { message } = entry.honestMajorityShareShuffle!.publicKey!;
    const { binding } = fromBinary(specs.EncryptionPublicKeySchema, message);
    return Buffer.from(binding!.termsSha256).equals(termsSha256);
  });
}

/**
 * Sends the uploads of providers that do not check the terms. Expects no result, because the first duchy that receives
 * terms different from its own rejects the upload or ends the computation.
 */
async function expectNothing(measurement: Measurement): Promise<void> {
  for (const [i, people] of AUDIENCES.entries()) {
    const response = await (await makeUpload(world.providers[i]!, measurement, people)).send();
    if (response.ok) continue;
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/fulfillment\.(termsSha256|requisitionFingerprint)/);
  }
  for (let turns = 0; turns < 4; turns++) await world.turn();
  const { state, results, failure } = await world.acme.client.getMeasurement({ name: measurement.name! });
  expect(results ?? []).toEqual([]);
  expect(['FAILED', 'AWAITING_REQUISITION_FULFILLMENT']).toContain(state);
  if (failure) expect(failure.message).toMatch(/TERMS_MISMATCH|PEER_REJECTED/);
}

test.each(['SECOND_WORKER', 'AGGREGATOR'] as const)(
  'another specification for the %s gives no result',
  async (role) => {
    const measurement = await world.ask();
    const measurementSpec = await otherSpec(measurement);
    const lie = (view: Computation) => void Object.assign(view, { measurementSpec });
    await lyingTo(world.of(role), lie, async () => {
      await world.turn();
      // An honest provider refuses to upload, because one of the keys is bound to other terms.
      if (role === 'SECOND_WORKER') expect(await agrees(measurement)).toBe(false);
      await expectNothing(measurement);
    });
  },
);

test('another protocolConfig for the first worker gives no result', async () => {
  const measurement = await world.ask();
  const lie = ({ protocolConfig }: Computation) =>
    void Object.assign(protocolConfig.honestMajorityShareShuffle!, { ringModulus: 113 });
  await lyingTo(world.of('FIRST_WORKER'), lie, async () => {
    await world.turn();
    expect(await agrees(measurement)).toBe(false);
    await expectNothing(measurement);
  });
});

test('honest computations have the same terms everywhere, and fail with a key of another computation', async () => {
  const [one, other] = [await world.ask(), await world.ask()];
  await world.turn();
  expect([await agrees(one), await agrees(other)]).toEqual([true, true]);
  const keysOf = async (measurement: Measurement) =>
    Object.entries((await readyRequisition(world.providers[0]!, measurement)).duchies!).map(
      ([duchy, { honestMajorityShareShuffle }]) => [duchy, honestMajorityShareShuffle!.publicKey!] as const,
    );
  // Let the exchange show the second worker the key that the first worker made for the other computation.
  const [first] = (await keysOf(other)).filter(([duchy]) => duchy === 'duchies/alpha');
  const id = one.name!.split('/').at(-1)!;
  const lie = (view: Computation) => {
    const own = view.participants['duchies/alpha']!.parameters?.honestMajorityShareShuffle;
    if (view.name!.endsWith(`/${id}`) && own) own.publicKey = first![1];
  };
  await lyingTo(world.of('SECOND_WORKER'), lie, async () => {
    for (const [i, people] of AUDIENCES.entries()) {
      // Ignore the responses. After the second worker has checked the keys, it accepts no more uploads.
      await (await makeUpload(world.providers[i]!, one, people)).send();
    }
    expect(await world.finish(one)).toMatchObject({
      state: 'FAILED',
      failure: { message: expect.stringMatching(/COMPUTATION_CHANGED|TERMS_MISMATCH/) },
    });
  });
});
