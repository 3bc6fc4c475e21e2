import { Curve, combineKeys } from '@measurement-exchange/mpc/elGamal';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createLegionsWorld,
  FREQUENCY_LEGIONS,
  LEGIONS,
  type LegionsWorld,
  RING,
  type SpoiledLegions,
  spoiledLegions,
} from '../../../test/provider/legionsRequisitions.ts';
import { PROVIDER } from '../../../test/provider/requisitions.ts';
import { ALPHA, BETA } from '../../../test/provider/shareShuffleRequisitions.ts';
import { frequencySpec } from '../../../test/provider/shareWorld.ts';
import { SPOILED_LEGIONS } from '../../../test/provider/spoiledLegions.ts';
import { RefusalError } from '../../refusals/refusalError.ts';
import { verifyRequisition } from '../verify.ts';
import { awaitsDuchies } from './shareShuffle.ts';

let world: LegionsWorld;
beforeAll(async () => {
  world = await createLegionsWorld();
});

async function verify(spoiled: SpoiledLegions = {}) {
  const { draft, context } = await spoiledLegions(world, spoiled);
  return verifyRequisition(await world.requisition(draft), world.context(context));
}

describe('a valid requisition of a computation on sketches', () => {
  it('is verified, and returns the inputs of a sketch', async () => {
    const keys = RING.map((duchy) => world.ring.keys[duchy]!.publicKey);
    expect(await verify()).toMatchObject({
      name: `${PROVIDER}/requisitions/r1`,
      liquidLegions: {
        protocol: 'reachOnlyLiquidLegionsV2',
        config: LEGIONS,
        fingerprint: expect.any(Uint8Array),
        fulfillingDuchy: ALPHA,
        combinedPublicKey: combineKeys(new Curve(4), keys),
      },
    });
  });

  it('may request frequencies up to the maximum of the duchies', async () => {
    const spec = frequencySpec(10) as SpoiledLegions;
    expect(await verify({ ...spec, protocol: 'liquidLegionsV2' })).toMatchObject({
      liquidLegions: { protocol: 'liquidLegionsV2', config: FREQUENCY_LEGIONS },
    });
  });

  it('may name any worker for the upload, and may have only one worker', async () => {
    expect((await verify({ fulfillingDuchy: BETA })).liquidLegions).toMatchObject({ fulfillingDuchy: BETA });
    const { [BETA!]: _, ...signed } = world.ring.signed;
    const alone: SpoiledLegions = { config: { workers: [ALPHA!] } };
    const entries = Object.entries(signed).map(([duchy, elGamalPublicKey]) => [
      duchy,
      { duchyCertificate: `${duchy}/certificates/c1`, reachOnlyLiquidLegionsV2: { elGamalPublicKey } },
    ]);
    expect(await verify({ ...alone, entries: Object.fromEntries(entries) })).toMatchObject({
      liquidLegions: { fulfillingDuchy: ALPHA },
    });
  });

  it('may have no noise or geometric noise if the provider accepts it', async () => {
    for (const noiseMechanism of ['NONE', 'GEOMETRIC'] as const) {
      const settings = { noiseMechanisms: [noiseMechanism] };
      expect(await verify({ config: { noiseMechanism }, settings })).toMatchObject({
        liquidLegions: { config: { noiseMechanism } },
      });
    }
  });

  it('waits until its duchies are ready', async () => {
    const { draft } = await spoiledLegions(world, { relayed: { duchies: undefined } as never });
    expect(awaitsDuchies(await world.requisition(draft))).toBe(true);
    expect(awaitsDuchies(await world.requisition((await spoiledLegions(world)).draft))).toBe(false);
  });
});

describe('an invalid requisition of a computation on sketches', () => {
  it.each(SPOILED_LEGIONS)('is refused if %s (%s)', async (_what, justification, says, spoil) => {
    const refusal = await verify(await spoil(world)).catch((error) => error);
    expect(refusal).toBeInstanceOf(RefusalError);
    expect(refusal.justification).toBe(justification);
    expect(`${refusal.message} ${refusal.cause?.code}`).toContain(says);
  });
});
