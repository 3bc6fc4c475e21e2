import { ExchangeError } from '@measurement-exchange/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMPUTATION } from '../../../test/provider/boundKeys.ts';
import { NOW, PROVIDER } from '../../../test/provider/requisitions.ts';
import {
  ALPHA,
  BETA,
  createDuchyWorld,
  type DuchyWorld,
  fingerprintOf,
  type SpoiledComputation,
  spoiledComputation,
} from '../../../test/provider/shareShuffleRequisitions.ts';
import { SPOILED_COMPUTATIONS } from '../../../test/provider/spoiledComputations.ts';
import { RefusalError } from '../../refusals/refusalError.ts';
import { verifyRequisition } from '../verify.ts';
import { awaitsDuchies } from './shareShuffle.ts';

let world: DuchyWorld;
beforeAll(async () => {
  world = await createDuchyWorld();
});

async function verify(spoiled: SpoiledComputation = {}) {
  const { draft, context } = await spoiledComputation(world, spoiled);
  return verifyRequisition(await world.requisition(draft), world.context(context));
}

describe('a valid requisition of a share shuffle', () => {
  it('is verified, and returns the inputs of a share', async () => {
    expect(await verify()).toMatchObject({
      name: `${PROVIDER}/requisitions/r1`,
      shareShuffle: {
        config: world.config,
        fingerprint: expect.any(Uint8Array),
        vidRanges: [{ start: 1, end: 10 }],
        computation: COMPUTATION,
        termsSha256: expect.any(Uint8Array),
        fulfillingDuchy: ALPHA,
        fulfillingKeyset: world.workerKeys.publicKeyset,
        peer: BETA,
        peerKeyset: world.peerKeys.publicKeyset,
      },
    });
  });

  it('may have the workers in reverse order', async () => {
    const config = { firstWorker: BETA!, secondWorker: ALPHA! };
    expect((await verify({ config })).shareShuffle).toMatchObject({ fulfillingDuchy: ALPHA, peer: BETA });
  });

  it('may name the other worker for the upload, with the keys of the workers swapped', async () => {
    expect((await verify({ fulfillingDuchy: BETA })).shareShuffle).toMatchObject({
      ...{ fulfillingDuchy: BETA, fulfillingKeyset: world.peerKeys.publicKeyset },
      ...{ peer: ALPHA, peerKeyset: world.workerKeys.publicKeyset },
    });
  });

  it('may have a sampling interval that wraps around 1', async () => {
    const vidSamplingInterval = { start: 0.75, width: 0.5 };
    expect(await verify({ spec: { vidSamplingInterval } })).toMatchObject({
      vidSampling: vidSamplingInterval,
    });
  });

  it('may have a population with the same VIDs in other ranges', async () => {
    const vidRanges = [
      { start: 6, end: 10 },
      { start: 1, end: 5 },
    ];
    const verified = await verify({ vidRanges });
    expect(verified.shareShuffle!.vidRanges).toEqual(vidRanges.toReversed());
  });

  it('may have any population and no noise if the provider accepts both', async () => {
    const vidRanges = [{ start: 5, end: 7 }];
    const config = { noiseMechanism: 'NONE', populationFingerprint: fingerprintOf(vidRanges) } as const;
    const settings = { populations: 'unchecked', noiseMechanisms: ['NONE'] } as const;
    expect((await verify({ vidRanges, config, settings })).shareShuffle).toMatchObject({ vidRanges });
  });

  it('may be of duchies that share a root if their certificates name them', async () => {
    const { rootPem } = world.settings.duchies[ALPHA!]!;
    const duchies = { ...world.settings.duchies, 'duchies/delta': { rootPem } };
    expect((await verify({ settings: { duchies } })).shareShuffle).toMatchObject({ fulfillingDuchy: ALPHA });
  });
});

describe('an invalid requisition of a share shuffle', () => {
  it.each(SPOILED_COMPUTATIONS)('is refused if %s (%s)', async (_what, justification, says, spoil) => {
    const refusal = await verify(await spoil(world)).catch((error) => error);
    expect(refusal).toBeInstanceOf(RefusalError);
    expect(refusal.justification).toBe(justification);
    expect(`${refusal.message} ${refusal.cause?.code}`).toContain(says);
  });

  it.each([
    ['is of an older duchy', 'DUCHY_KEY_UNBOUND', 'BINDING_MISSING'],
    ['was made for another computation', 'DUCHY_TERMS_DIFFER', 'BINDING_MISMATCH'],
    ['was made under other terms', 'DUCHY_TERMS_DIFFER', 'TERMS_DIFFER'],
  ])('is refused with a specific code if a key %s', async (_what, code, says) => {
    const rows = SPOILED_COMPUTATIONS.filter((row) => row[2] === says);
    expect(rows.length).toBeGreaterThan(1);
    for (const [, , , spoil] of rows) {
      await expect(verify(await spoil(world))).rejects.toMatchObject({ code });
    }
  });
});

describe('a requisition of a share shuffle that cannot be verified for now', () => {
  it('waits until its duchies are ready', async () => {
    const { draft } = await spoiledComputation(world, { relayed: { duchies: undefined } as never });
    expect(awaitsDuchies(await world.requisition(draft))).toBe(true);
    expect(awaitsDuchies(await world.requisition((await spoiledComputation(world)).draft))).toBe(false);
    expect(awaitsDuchies(await world.requisition())).toBe(false);
  });

  it('is not refused if the certificate of a duchy is not valid yet', async () => {
    const error = await verify({ now: NOW - 7200_000 }).catch((error) => error);
    expect(error).toMatchObject({ name: 'ConsentError', code: 'CERTIFICATE_NOT_YET_VALID' });
  });

  it.each(['fetchCertificate', 'fetchPopulation'] as const)('is not refused if %s fails', async (fetch) => {
    const { draft, context } = await spoiledComputation(world);
    const error = new ExchangeError('UNAVAILABLE', 'later');
    const fails = () => Promise.reject(error);
    const failing =
      fetch === 'fetchPopulation'
        ? { ...context, shareShuffle: { ...context.shareShuffle!, fetchPopulation: fails } }
        : { ...context, fetchCertificate: fails };
    const outcome = verifyRequisition(await world.requisition(draft), world.context(failing));
    await expect(outcome).rejects.toBe(error);
  });
});
